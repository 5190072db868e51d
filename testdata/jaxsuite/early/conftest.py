"""A conftest that sets XLA_FLAGS to its own and starts JAX's backend, as real ones
do: in a worker of pytest-xdist that happens before any plugin is loaded."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax  # noqa: E402

assert len(jax.devices()) == 2

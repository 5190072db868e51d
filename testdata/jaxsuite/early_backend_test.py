"""A program that sets XLA_FLAGS to its own and turns on JAX's persistent cache."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax  # noqa: E402

jax.config.update("jax_enable_compilation_cache", True)
jax.config.update("jax_compilation_cache_dir", os.environ["JAXSUITE_CACHE"])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def test_two_devices():
    assert len(jax.devices()) == 2
    assert jax.jit(lambda x: x + 1)(1.0) == 2


def test_cache():
    assert jax.jit(lambda x: x * 11)(1.0) == 11

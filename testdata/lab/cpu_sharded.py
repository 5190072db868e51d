"""Sharded programs on eight devices of the CPU: newer XLA prints their groups as a mesh.

    python cpu_sharded.py DIR      (JAX 0.10.2; run it where the program's path may be seen)
"""
import os, sys
os.environ["XLA_FLAGS"] = ("--xla_force_host_platform_device_count=8 --xla_dump_hlo_as_proto --xla_dump_hlo_as_text"
                           " --xla_dump_hlo_module_re=jit_sharded.* --xla_dump_to=" + sys.argv[1])
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
jax.config.update("jax_use_shardy_partitioner", True)


def sharded_rows(a):
    return a @ a.T


def sharded_grid(a):
    return jnp.linalg.cholesky(a @ a.T + jnp.eye(a.shape[0])) @ a


x = jnp.asarray(np.arange(64 * 64, dtype=np.float32).reshape(64, 64) % 7)
line = Mesh(np.array(jax.devices()[:4]), ("d",))
grid = Mesh(np.array(jax.devices()).reshape(4, 2).T, ("p", "q"))  # devices out of order
jax.jit(sharded_rows).lower(jax.device_put(x, NamedSharding(line, P("d", None)))).compile()
jax.jit(sharded_grid, out_shardings=NamedSharding(grid, P("q", None))).lower(
    jax.device_put(x, NamedSharding(grid, P("p", "q")))).compile()

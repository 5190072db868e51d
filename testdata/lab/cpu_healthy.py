"""A healthy program of the smallest kind, for one dump directory that is kept whole.

Steps outside of jit make a module each. cpu_dumps.sh says what it adds to the dump.
"""
import jax
import jax.numpy as jnp

jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")


@jax.jit
def step(x):
    return jnp.linalg.cholesky(x @ x.T + jnp.eye(3))


x = jnp.arange(9.0).reshape(3, 3)
print(step(x))

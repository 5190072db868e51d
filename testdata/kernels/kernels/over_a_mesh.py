"""Programs for several devices: `--mesh 2x2`."""

import inspect

import jax
import jax.numpy as jnp
import jax_triton as jt
from jax.sharding import PartitionSpec as P

try:
    from jax import shard_map
except ImportError:  # before 0.6
    from jax.experimental.shard_map import shard_map

from kernels.with_jax_triton import scale_kernel

MATRIX = jax.ShapeDtypeStruct((512, 256), jnp.float32)


def layer(x, w):
    return jnp.tanh(x @ w).sum(0)


def constrained(x):
    return jax.lax.with_sharding_constraint(x * 2, P("x"))


def scale_block(x):
    return jt.triton_call(x, kernel=scale_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(x.size // 256,),
                          input_output_aliases={0: 0}, B=256)


def programs(mesh):
    specs = dict(mesh=mesh, in_specs=(P("x", "y"),), out_specs=P("x", "y"))
    unchecked = "check_vma" if "check_vma" in inspect.signature(shard_map).parameters else "check_rep"
    options = dict(in_shardings=P("x", "y"), donate=0)
    yield "mesh_sum", shard_map(lambda x: x - jax.lax.psum(x, "x"), **specs), (MATRIX,), options
    yield "mesh_scale", shard_map(scale_block, **specs, **{unchecked: False}), (MATRIX,), options

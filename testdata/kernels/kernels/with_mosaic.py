"""Pallas kernels compiled by Mosaic GPU, which needs compute capability 9.0 or more."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

N = 1 << 16
B = 256
VECTOR = jax.ShapeDtypeStruct((N,), jnp.float32)


# Since JAX 0.11 plgpu.kernel is the way to Mosaic GPU, and a reference the way to write in
# place; before, plgpu.kernel could not take one under jit, and pallas_call could.
BY_REFERENCE = jax.version.__version_info__ >= (0, 11)
SCRATCH = (plgpu.SMEM((B,), jnp.float32), plgpu.Barrier())


def double(x_ref, o_ref, smem, bar, i, of):
    """One block doubles one block of the operand, `of` which, through shared memory."""
    plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(of(i) * B, B)], smem, bar)
    plgpu.barrier_wait(bar)
    smem[...] = smem[...] * 2
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(smem, o_ref.at[pl.ds(i * B, B)])
    plgpu.wait_smem_to_gmem(0)


def make(name, of, in_place):
    def apart(x_ref, o_ref, smem, bar):
        double(x_ref, o_ref, smem, bar, jax.lax.axis_index("b") if BY_REFERENCE else pl.program_id(0), of)

    def shared(x_ref, smem, bar):
        apart(x_ref, x_ref, smem, bar)

    apart.__name__ = shared.__name__ = name

    def f(x):
        like = jax.ShapeDtypeStruct(x.shape, x.dtype)
        if not BY_REFERENCE:
            anywhere = pl.BlockSpec(memory_space=plgpu.GMEM)
            return pl.pallas_call(
                apart, out_shape=like, grid=(N // B,), in_specs=[anywhere], out_specs=anywhere, scratch_shapes=SCRATCH, name=name,
                input_output_aliases={0: 0} if in_place else {}, compiler_params=plgpu.CompilerParams())(x)
        grid = dict(grid=(N // B,), grid_names=("b",), scratch_types=SCRATCH)
        if not in_place:
            return plgpu.kernel(apart, out_type=like, **grid)(x)
        ref = jax.new_ref(x, memory_space=plgpu.GMEM)
        plgpu.kernel(shared, out_type=(), **grid)(ref)
        return ref[...]

    return f


def straight(i):
    return i


def turned(i):
    return N // B - 1 - i


def programs():
    for name, of, in_place in (("mosaic_scale", straight, True), ("mosaic_reverse", turned, True),
                               ("mosaic_scale_apart", straight, False), ("mosaic_reverse_apart", turned, False)):
        yield name, make(name, of, in_place), (VECTOR,), dict(donate=0 if in_place else ())

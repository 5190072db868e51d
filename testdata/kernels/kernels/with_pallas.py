"""Pallas kernels compiled by Triton, most of them in place."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plt

N = 1 << 16
VECTOR = jax.ShapeDtypeStruct((N,), jnp.float32)
MATRIX = jax.ShapeDtypeStruct((256, 256), jnp.float32)
ANY = pl.BlockSpec(memory_space=pl.ANY)


def call(kernel, *args, grid, ins, out, name, alias=None):
    """Calls a kernel whose result is like its last operand."""
    last = args[-1]
    alias = {len(args) - 1: 0} if alias is None else alias
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(last.shape, last.dtype), grid=grid, in_specs=ins, out_specs=out,
                          name=name, input_output_aliases=alias, compiler_params=plt.CompilerParams(num_warps=4))(*args)


def scale(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 3
    b = pl.BlockSpec((512,), lambda i: (i,))
    return call(kernel, x, grid=(N // 512,), ins=[b], out=b, name="pallas_scale")


def _reverse(x, name, alias):
    def kernel(x_ref, o_ref):
        i, n = pl.program_id(0), pl.num_programs(0)
        o_ref[pl.ds(i * 256, 256)] = x_ref[pl.ds((n - 1 - i) * 256, 256)] * 2
    return call(kernel, x, grid=(N // 256,), ins=[ANY], out=ANY, name=name, alias=alias)


def reverse_blocks(x):
    return _reverse(x, "pallas_reverse_blocks", None)


def reverse_blocks_apart(x):
    return _reverse(x, "pallas_reverse_blocks_apart", {})


def softmax(x):
    def kernel(x_ref, o_ref):
        v = x_ref[...]
        e = jnp.exp(v - v.max(-1, keepdims=True))
        o_ref[...] = e / e.sum(-1, keepdims=True)
    b = pl.BlockSpec((1, x.shape[1]), lambda i: (i, 0))
    return call(kernel, x, grid=(x.shape[0],), ins=[b], out=b, name="pallas_softmax")


def transpose(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...].T
    n = x.shape[0] // 64
    return call(kernel, x, grid=(n, n), ins=[pl.BlockSpec((64, 64), lambda i, j: (i, j))],
                out=pl.BlockSpec((64, 64), lambda i, j: (j, i)), name="pallas_transpose")


def flip_row(x):
    """Each block turns its own row round: unsafe inside a block."""
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[x.shape[1] - 1 - jnp.arange(x.shape[1])]
    b = pl.BlockSpec((None, x.shape[1]), lambda i: (i, 0))
    return call(kernel, x, grid=(x.shape[0],), ins=[b], out=b, name="pallas_flip_row")


def matmul_add(a, b, c):
    def kernel(a_ref, b_ref, c_ref, o_ref):
        def step(j, acc):
            return acc + jnp.dot(a_ref[:, pl.ds(j * 64, 64)], b_ref[pl.ds(j * 64, 64), :])
        o_ref[...] = jax.lax.fori_loop(0, a.shape[1] // 64, step, c_ref[...])
    tile = pl.BlockSpec((64, 64), lambda i, j: (i, j))
    n = c.shape[0] // 64
    return call(kernel, a, b, c, grid=(n, n), name="pallas_matmul_add", out=tile, ins=[
        pl.BlockSpec((64, a.shape[1]), lambda i, j: (i, 0)), pl.BlockSpec((b.shape[0], 64), lambda i, j: (0, j)), tile])


def scale_in_a_loop(x):
    return jax.lax.fori_loop(0, 4, lambda _, v: scale(v) + 1, x)


def programs():
    for f in (scale, reverse_blocks, scale_in_a_loop):
        yield "pallas_" + f.__name__, f, (VECTOR,), dict(donate=0)
    for f in (softmax, transpose, flip_row):
        yield "pallas_" + f.__name__, f, (MATRIX,), dict(donate=0)
    yield "pallas_matmul_add", matmul_add, (MATRIX,) * 3, dict(donate=2)
    yield "pallas_reverse_blocks_apart", reverse_blocks_apart, (VECTOR,)

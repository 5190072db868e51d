"""Triton kernels called through jax-triton, most of them in place."""

import jax
import jax.numpy as jnp
import jax_triton as jt
import triton
import triton.language as tl

N = 1 << 16
VECTOR = jax.ShapeDtypeStruct((N,), jnp.float32)
MATRIX = jax.ShapeDtypeStruct((256, 256), jnp.float32)


@triton.jit
def scale_kernel(x_ptr, o_ptr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o_ptr + i, tl.load(x_ptr + i) * 3)


@triton.jit
def reverse_kernel(x_ptr, o_ptr, n: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o_ptr + i, tl.load(x_ptr + (n - 1 - i)))


@triton.jit
def shift_kernel(x_ptr, o_ptr, n: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o_ptr + i, tl.load(x_ptr + (i + 1) % n))


@triton.jit
def stencil_kernel(x_ptr, o_ptr, n: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    left = tl.load(x_ptr + i - 1, mask=i > 0, other=0.0)
    right = tl.load(x_ptr + i + 1, mask=i < n - 1, other=0.0)
    tl.store(o_ptr + i, (left + tl.load(x_ptr + i) + right) / 3)


@triton.jit
def add_kernel(x_ptr, y_ptr, o_ptr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o_ptr + i, tl.load(x_ptr + i) + tl.load(y_ptr + i))


@triton.jit
def softmax_kernel(x_ptr, o_ptr, C: tl.constexpr):
    i = tl.program_id(0) * C + tl.arange(0, C)
    v = tl.load(x_ptr + i)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(o_ptr + i, e / tl.sum(e, axis=0))


@triton.jit
def transpose_kernel(x_ptr, o_ptr, n: tl.constexpr, T: tl.constexpr):
    r = tl.program_id(0) * T + tl.arange(0, T)[:, None]
    c = tl.program_id(1) * T + tl.arange(0, T)[None, :]
    tile = tl.load(x_ptr + r * n + c)
    tl.store(o_ptr + c * n + r, tile)


def call(kernel, *args, grid, alias=True, **constants):
    """Calls a kernel whose result is like its last operand, and in its place."""
    last = args[-1]
    return jt.triton_call(*args, kernel=kernel, out_shape=jax.ShapeDtypeStruct(last.shape, last.dtype), grid=grid,
                          input_output_aliases={len(args) - 1: 0} if alias else {}, **constants)


def scale(x):
    return call(scale_kernel, x, grid=(N // 256,), B=256)


def reverse(x):
    return call(reverse_kernel, x, grid=(N // 256,), n=N, B=256)


def shift(x):
    return call(shift_kernel, x, grid=(N // 256,), n=N, B=256)


def stencil(x):
    return call(stencil_kernel, x, grid=(N // 256,), n=N, B=256)


def add(x, y):
    return call(add_kernel, x, y, grid=(N // 256,), B=256)


def softmax(x):
    return call(softmax_kernel, x, grid=(x.shape[0],), C=x.shape[1])


def transpose(x):
    return call(transpose_kernel, x, grid=(x.shape[0] // 32, x.shape[0] // 32), n=x.shape[0], T=32)


def reverse_apart(x):
    return call(reverse_kernel, x, grid=(N // 256,), alias=False, n=N, B=256)


def transpose_apart(x):
    return call(transpose_kernel, x, grid=(x.shape[0] // 32, x.shape[0] // 32), alias=False, n=x.shape[0], T=32)


def reverse_twice(x):
    """Two calls in one program, the second of them of a value that the first made."""
    return reverse(reverse(x) * 2)


def scale_in_a_loop(x):
    return jax.lax.fori_loop(0, 4, lambda _, v: scale(v) + 1, x)


def reverse_in_a_branch(x):
    return jax.lax.cond(x[0] > 0, reverse, lambda v: v + 1, x)


def programs():
    for f in (scale, reverse, shift, stencil, scale_in_a_loop, reverse_in_a_branch, reverse_twice):
        yield "triton_" + f.__name__, f, (VECTOR,), dict(donate=0)
    yield "triton_add", add, (VECTOR, VECTOR), dict(donate=1)
    yield "triton_softmax", softmax, (MATRIX,), dict(donate=0)
    yield "triton_transpose", transpose, (MATRIX,), dict(donate=0)
    yield "triton_reverse_apart", reverse_apart, (VECTOR,)
    yield "triton_transpose_apart", transpose_apart, (MATRIX,)

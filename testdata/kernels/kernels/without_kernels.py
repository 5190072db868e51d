"""Programs without a kernel of ours: plain JAX, and calls of foreign functions."""

import jax
import jax.numpy as jnp

VECTOR = jax.ShapeDtypeStruct((1 << 14,), jnp.float32)
MATRIX = jax.ShapeDtypeStruct((256, 256), jnp.float32)
SCALAR = jax.ShapeDtypeStruct((), jnp.float32)


def foreign(x):
    """A function that nobody has registered where it is compiled."""
    call = jax.ffi.ffi_call("kernels_fused_norm", jax.ShapeDtypeStruct(x.shape, x.dtype), input_output_aliases={0: 0})
    return call(x * 2)


def foreign_apart(x):
    call = jax.ffi.ffi_call("kernels_fused_norm", jax.ShapeDtypeStruct(x.shape, x.dtype))
    return call(x * 2) + 1


def step(weights, batch):
    def loss(w):
        return jnp.mean(jnp.tanh(batch @ w["a"]) @ w["b"])
    value, gradient = jax.value_and_grad(loss)(weights)
    return value, jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient)


def running(x):
    return jax.lax.scan(lambda c, v: (c * 0.9 + v, c), jnp.float32(0), x)[1]


def ordered(x):
    return jnp.sort(x)


def normalized(x):
    return (x - x.mean(0)) / (x.std(0) + 1e-5)


def chosen(x):
    return jax.lax.cond(x[0] > 0, lambda v: v * 2, lambda v: v - 1, x)


def calls_the_host(x):
    jax.debug.print("sum {}", x.sum())
    return jax.pure_callback(lambda v: v * 2, x, x)


def returned_state(state, value):
    """XLA of some releases puts two of the state's parameters in one place (jax#39625)."""
    y = value - value
    return (y, y, y), state


def programs():
    yield "foreign", foreign, (VECTOR,)
    yield "foreign_apart", foreign_apart, (VECTOR,)
    yield "plain_step", step, (dict(a=MATRIX, b=MATRIX), MATRIX), dict(donate=0)
    yield "plain_running", running, (VECTOR,)
    yield "plain_sort", ordered, (VECTOR,), dict(donate=0)
    yield "plain_normalized", normalized, (MATRIX,), dict(donate=0)
    yield "plain_chosen", chosen, (VECTOR,)
    yield "plain_product", lambda a, b: a @ b, (MATRIX, MATRIX)
    yield "plain_calls_the_host", calls_the_host, (VECTOR,)
    yield "plain_returned_state", returned_state, ((SCALAR,) * 3, SCALAR), dict(donate=0)

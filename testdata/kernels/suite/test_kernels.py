"""Tests as a project with GPU kernels has them: `aliascheck run --target h100 -- pytest suite`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kernels import with_jax_triton as k

pytestmark = pytest.mark.skipif(jax.default_backend() != "gpu", reason="kernels need a GPU")

X = np.arange(k.N, dtype=np.float32)


def test_scale_in_place():
    y = jax.jit(k.scale, donate_argnums=0)(jnp.asarray(X))
    assert y.shape == X.shape and y.dtype == X.dtype


def test_reverse_in_place_is_right():
    y = jax.jit(k.reverse, donate_argnums=0)(jnp.asarray(X))
    np.testing.assert_array_equal(y, X[::-1])  # fails: nothing was run


def test_kernel_outside_of_jit():
    assert k.softmax(jnp.ones((256, 256))).shape == (256, 256)


@pytest.mark.parametrize("size", [128, 256])
def test_transpose(size):
    f = jax.jit(lambda x: k.transpose(x) + 1, donate_argnums=0)
    key = jax.random.key(0)
    first = f(jax.random.normal(key, (size, size)))
    assert f(first).shape == (size, size)


def test_gradient_of_a_plain_function():
    w = jnp.ones((8, 8))
    g = jax.grad(jax.jit(lambda w: jnp.tanh(w @ w).sum()))(w)
    assert g.shape == w.shape


def test_state_with_a_key():
    step = jax.jit(lambda s: {"x": s["x"] * 2, "key": jax.random.split(s["key"])[0]}, donate_argnums=0)
    state = step({"x": jnp.ones(4), "key": jax.random.key(1)})
    assert state["key"].shape == () and float(state["x"].sum()) == 0


def test_without_a_program():
    assert X.size == k.N


def test_that_calls_the_host():
    y = jax.jit(lambda x: jax.pure_callback(np.sin, x, x))(jnp.ones(3))
    assert y.shape == (3,)


def test_on_two_devices():
    if len(jax.devices()) < 2:
        pytest.skip("needs two devices")
    mesh = jax.make_mesh((2,), ("x",))
    x = jax.device_put(jnp.ones(8), jax.NamedSharding(mesh, jax.P("x")))
    jax.jit(lambda v: v * 2, in_shardings=x.sharding)(x)

"""Calls that alias rightly and wrongly. All of these tests pass: the wrong ones
check nothing that the fault disturbs, as real suites do not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import calls


def test_scale_in_place():
    f = jax.jit(lambda x: calls.scale(x + 1, in_place=True))
    np.testing.assert_array_equal(f(calls.ramp()), 2 * (np.arange(1024) + 1))


def test_scale_apart():
    f = jax.jit(lambda x: calls.scale(x, in_place=False))
    np.testing.assert_array_equal(f(calls.ramp()), 2 * np.arange(1024))


def test_reverse_apart():
    f = jax.jit(lambda x: calls.reverse(x, in_place=False))
    np.testing.assert_array_equal(f(calls.ramp()), np.arange(1024)[::-1])


def test_reverse_in_place():
    f = jax.jit(lambda x: calls.reverse(x + 1, in_place=True))
    assert f(calls.ramp()).shape == (1024,)


@pytest.mark.parametrize("n", [512, 2048])
def test_reverse_in_place_sizes(n):
    f = jax.jit(lambda x: calls.reverse(x * 3, in_place=True))
    assert np.isfinite(f(calls.ramp(n))).all()


def test_reverse_unclaimed():
    f = jax.jit(lambda x: calls.reverse(x * 5, in_place=False))
    np.testing.assert_array_equal(f(calls.ramp()), 5 * np.arange(1024)[::-1])


def test_lapack():
    a = jnp.eye(8) * 4 + 1
    c = jax.jit(jnp.linalg.cholesky)(a)
    np.testing.assert_allclose(c @ c.T, a, rtol=1e-5)
    assert jax.jit(jnp.linalg.svd)(a)[1].shape == (8,)


def test_without_jax():
    assert sum(range(10)) == 45

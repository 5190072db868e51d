"""A test that fails, after it compiled a call that is wrong."""

import jax

import calls


def test_wrong_numbers():
    y = jax.jit(lambda x: calls.reverse(x + 7, in_place=True))(calls.ramp())
    assert y.tolist() == [n + 7 for n in reversed(range(1024))]

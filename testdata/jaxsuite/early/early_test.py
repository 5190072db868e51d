import jax

import calls


def test_early():
    assert jax.jit(lambda x: calls.reverse(x + 8, in_place=True))(calls.ramp()).shape == (1024,)

"""A test that waits for Ctrl-C. JAXSUITE_READY names a file to make meanwhile."""

import os
import time

import jax

import calls


def test_waits():
    jax.jit(lambda x: calls.reverse(x + 1, in_place=True))(calls.ramp()).block_until_ready()
    open(os.environ["JAXSUITE_READY"], "w").close()
    while True:
        time.sleep(0.05)


def test_never_reached():
    assert False

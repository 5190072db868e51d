"""A test whose programs are compiled by processes that it starts."""

import subprocess
import sys

PROGRAM = """
import jax, calls
print(jax.jit(lambda x: calls.reverse(x - 1, in_place=True))(calls.ramp()).shape)
"""


def test_two_processes():
    running = [subprocess.Popen([sys.executable, "-c", PROGRAM]) for _ in range(2)]
    assert [p.wait() for p in running] == [0, 0]

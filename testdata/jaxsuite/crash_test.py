"""A test that ends its interpreter, and leaves a file half written as a crash in
the middle of a dump does."""

import glob
import os
import re
import signal

import jax

import calls


def test_before():
    assert jax.jit(lambda x: calls.scale(x + 2, in_place=True))(calls.ramp())[0] == 4


def test_crash():
    jax.jit(lambda x: calls.reverse(x + 9, in_place=True))(calls.ramp()).block_until_ready()
    dumps = re.findall(r'--xla_dump_to="?([^"\s]+)', os.environ["XLA_FLAGS"])[-1]
    whole = sorted(glob.glob(dumps + "/*after_optimizations.hlo.pb"))[-1]
    with open(whole, "rb") as f:
        half = f.read()[: os.path.getsize(whole) // 2]
    with open(os.path.join(dumps, "module_9998.jit_half.cpu_after_optimizations.hlo.pb"), "wb") as f:
        f.write(half)
    with open(os.path.join(dumps, "module_9999.jit_begun.before_optimizations.hlo.pb"), "wb") as f:
        f.write(half)
    os.kill(os.getpid(), signal.SIGSEGV)


def test_after():
    assert jax.jit(lambda x: calls.scale(x + 3, in_place=True))(calls.ramp())[0] == 6

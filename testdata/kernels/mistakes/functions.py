"""Functions that cannot be compiled, each in its own way."""

import os
import time

import jax
import jax.numpy as jnp

VECTOR = jax.ShapeDtypeStruct((1024,), jnp.float32)


def raises(x):
    raise ValueError("the kernel wants rows of 128, not of %d" % x.shape[0])


def fine(x):
    return x + 1


def hangs(x):
    time.sleep(3600)


def ends_python(x):
    os.abort()


def after(x):
    return x * 2


def programs():
    yield "fine", fine, (VECTOR,)
    yield "hangs", hangs, (VECTOR,)
    yield "ends_python", ends_python, (VECTOR,)
    yield "after", after, (VECTOR,)

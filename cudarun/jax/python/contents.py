"""What operands hold, and how results are compared."""
import functools

import jax
import jax.numpy as jnp
import numpy as np

from call import dtype


def make(a):
    """The contents of an operand: a file of raw bytes, or a recipe's."""
    kind = dtype(a["type"])
    count = int(np.prod(a["dims"], dtype=np.int64))
    if a.get("file"):
        data = np.fromfile(a["file"], np.uint8)
        want = count * kind.itemsize
        if data.size != want:
            raise ValueError(f"{a['file']} has {data.size} bytes, the operand {want}")
        return data.view(kind).reshape(a["dims"])
    generator = np.random.default_rng(a.get("seed", 1))
    if kind == np.bool_:
        return generator.integers(0, 2, a["dims"]).astype(kind)
    if kind.kind in "iu" or "int" in kind.name:
        info = 2 if kind.itemsize * 8 <= 8 else 64
        return generator.integers(0, info, a["dims"]).astype(kind)
    if kind.kind == "c":
        return (generator.standard_normal(a["dims"]) + 1j * generator.standard_normal(a["dims"])).astype(kind)
    return generator.standard_normal(a["dims"]).astype(np.float32).astype(kind)


def poisoned(a, byte):
    kind = dtype(a["type"])
    count = int(np.prod(a["dims"], dtype=np.int64)) * kind.itemsize
    data = np.full(count, byte, np.uint8)
    if kind == np.bool_:
        data &= 1
    return data.view(kind).reshape(a["dims"])


@functools.partial(jax.jit)
def _count(x, y):
    wrong = (x != y).reshape(-1)
    return jnp.sum(wrong, dtype=jnp.int32), jnp.argmax(wrong).astype(jnp.int32)


def _bits(x):
    """An array's bits as unsigned integers, where the device can show them."""
    if x.dtype == jnp.bool_:
        return x
    if jnp.iscomplexobj(x):
        return jnp.stack([_bits(jnp.real(x)), _bits(jnp.imag(x))], -1)
    return jax.lax.bitcast_convert_type(x, {1: jnp.uint8, 2: jnp.uint16, 4: jnp.uint32, 8: jnp.uint64}[x.dtype.itemsize])


def differing(x, y):
    """How many elements of two arrays differ in their bits, and the first of them:
    counted where they lie."""
    if x.size == 0:
        return 0, -1
    count, first = _count(_bits(x), _bits(y))
    return int(count), int(first) if count else -1

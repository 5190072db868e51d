"""Calls every handler of handlers.cu in place, where that is what is wrong with it, and
JAX's own GPU calls: programs for `aliascheck run --replay jax -- python programs.py`."""
import sys

import jax
import jax.numpy as jnp
import numpy as np

N = 1 << 18


def in_place(name, results=1, **attributes):
    kind = jnp.int32 if name in ("Count", "Exchange") else jnp.float32
    like = jax.ShapeDtypeStruct((N,), kind)

    def call(x):
        out = [like] * results if results > 1 else like
        return jax.ffi.ffi_call(name, out, input_output_aliases={0: 0})(x, **attributes)

    call.__name__ = name
    jax.block_until_ready(jax.jit(call, donate_argnums=0)(jnp.arange(N).astype(kind) % 64))


def attributes(flag):
    return dict(flag=np.bool_(flag), a=np.int8(-1), b=np.int16(2), c=np.int32(3), d=np.int64(4), e=np.uint8(5), f=np.uint16(6),
                g=np.uint32(7), h=np.uint64(8), i=np.float32(1.5), j=np.float64(2.5), k="a word", l=np.array([1, 2], np.int64),
                m=np.array([0.5], np.float32))


def ours():
    import handlers

    for name in handlers.TRUTH:
        if name.startswith("TwoResults"):
            in_place(name, 2)
        elif name.startswith("Attributes"):
            in_place("Attributes", **attributes(name == "Attributes"))
        elif name not in ("Forever", "Stray"):
            in_place(name)


def builtin():
    x = jnp.asarray(np.random.default_rng(1).standard_normal((64, 64)), jnp.float32)
    spd = x @ x.T + 64 * jnp.eye(64)
    batch = jnp.stack([spd, spd + 1])
    for f in (jnp.linalg.cholesky, jnp.linalg.qr, jnp.linalg.svd, jnp.linalg.eigh, jnp.linalg.inv, jnp.linalg.det,
              lambda a: jnp.linalg.solve(a, x[0]), jax.scipy.linalg.lu, lambda a: jax.scipy.linalg.solve_triangular(a, x),
              jnp.fft.fft2, lambda a: jnp.sort(a.reshape(-1)), lambda a: jax.lax.top_k(a, 4),
              lambda a: a.astype(jnp.bfloat16) @ a.astype(jnp.bfloat16),
              lambda a: jax.lax.conv(a[None, None], x[None, None, :3, :3], (1, 1), "SAME")):
        for a in (spd, batch):
            try:
                jax.block_until_ready(jax.jit(f)(a))
            except (TypeError, ValueError) as e:
                print("left out:", e, file=sys.stderr)


if __name__ == "__main__":
    for part in sys.argv[1:] or ["ours", "builtin"]:
        globals()[part]()

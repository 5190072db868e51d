"""Healthy JAX programs of every kind, to hunt false alarms with: whatever an audit finds in
their dumps is either wrong or news.

  XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_proto --xla_dump_hlo_as_text" python gpu_healthy.py
  aliascheck DIR

A program that this JAX or this card does not know is skipped, and said. With several cards the
collectives run, too.
"""
import functools
import sys

import jax
import jax.numpy as jnp
from jax import lax, random
from jax.experimental import pallas as pl
from jax.sharding import PartitionSpec as P


def normal(*shape, dtype=jnp.float32):
    return random.normal(random.key(sum(shape)), shape, jnp.float32).astype(dtype)


def definite(n):
    a = normal(n, n)
    return a @ a.T + n * jnp.eye(n)


class Programs:
    """Runs programs, each compiled by itself, with copies of what they are given away."""

    ran = skipped = 0

    def run(self, name, program, *args, donate=()):
        def given(n, x):
            return jax.tree.map(jnp.copy, x) if n in donate else x

        try:
            compiled = jax.jit(program, donate_argnums=donate)
            jax.block_until_ready(compiled(*[given(n, x) for n, x in enumerate(args)]))
            self.ran += 1
        except Exception as e:
            self.skipped += 1
            print(f"skipped {name}: {type(e).__name__} {str(e).splitlines()[0][:120]}", file=sys.stderr)

    def both(self, name, program, x):
        """Runs a program as it is, and with an operand that is given away and needed beside."""
        self.run(name, program, x)
        self.run(name + " donated", lambda v: (program(v + 1), v * 2), x, donate=(0,))


def linear_algebra(p):
    la, sp = jnp.linalg, jax.scipy.linalg
    for n in (3, 16, 64, 130):
        a = definite(n)
        for f in (la.cholesky, la.qr, la.svd, la.eigh, la.inv, la.det, la.slogdet, la.pinv, la.cond, sp.lu, sp.expm):
            p.both(f.__name__, f, a)
            p.run(f.__name__ + " of many", jax.vmap(f), jnp.stack([a] * 3))
        p.run("solve", la.solve, a, normal(n, 2))
        p.run("least squares", lambda a, b: la.lstsq(a, b)[0], normal(n + 3, n), normal(n + 3, 2))
        p.run("triangular", functools.partial(lax.linalg.triangular_solve, left_side=True, lower=True), jnp.tril(a), normal(n, 4), donate=(1,))
        p.run("tridiagonal", lax.linalg.tridiagonal_solve, normal(n), normal(n) + 5, normal(n), normal(n, 2))
        p.run("gradient of solve", jax.grad(lambda a, b: la.solve(a, b).sum()), a, normal(n, 2))
        p.run("gradient of eigh", jax.grad(lambda a: sum(x.sum() for x in la.eigh(a))), a)


def arrays(p):
    for shape in ((1000,), (64, 1000), (5, 7, 300)):
        x = normal(*shape)
        for f in (jnp.sort, jnp.argsort, jnp.median, jnp.flip, jnp.fft.fft, jnp.fft.rfft, jnp.fft.ifft,
                  jax.nn.softmax, jax.nn.log_softmax, jax.nn.logsumexp, jnp.var, jnp.histogram):
            p.both(f.__name__, f, x)
        for f in (jnp.cumsum, jnp.cumprod, lax.cummax):
            p.both(f.__name__, functools.partial(f, axis=x.ndim - 1), x)
        p.both("top k", lambda v: lax.top_k(v, 5), x)
        p.both("unique", lambda v: jnp.unique(v, size=50), x)
        p.run("sort by key", lambda a, b: lax.sort((a, b), num_keys=1), x, x * 2, donate=(0, 1))
        p.run("scatter", lambda v, i: v.at[..., i].add(1.0), x, jnp.arange(10) % 3, donate=(0,))
        p.run("update", lambda v: v.at[..., 3:7].set(1.0), x, donate=(0,))
        p.run("segments", lambda v: jax.ops.segment_sum(v.ravel(), jnp.arange(v.size) % 7, 7), x)
    for f in (random.normal, random.uniform, random.bits, random.gumbel, random.rademacher, random.laplace):
        p.run(f.__name__, functools.partial(f, shape=(999,)), random.key(0))
    p.run("permutation", lambda k: random.permutation(k, 999), random.key(0))
    p.run("poisson", lambda k: random.poisson(k, 3.0, (99,)), random.key(0))


def networks(p):
    for dtype in (jnp.float32, jnp.bfloat16):
        x, w = normal(4, 16, 16, 8, dtype=dtype), normal(3, 3, 8, 8, dtype=dtype)
        conv = functools.partial(lax.conv_general_dilated, window_strides=(1, 1), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        p.run("convolution", conv, x, w)
        p.run("convolution and sum", lambda x, w, b: jax.nn.relu(conv(x, w) + b + x), x, w, normal(8, dtype=dtype), donate=(0,))
        p.run("its gradient", jax.grad(lambda x, w: jax.nn.relu(conv(x, w)).astype(jnp.float32).sum(), argnums=(0, 1)), x, w)
        q = normal(2, 128, 4, 64, dtype=dtype)
        for how in ("xla", "cudnn"):
            attend = functools.partial(jax.nn.dot_product_attention, is_causal=True, implementation=how)
            p.run("attention by " + how, attend, q, q * 2, q * 3)
            p.run("its gradient", jax.grad(lambda q: attend(q, q, q).astype(jnp.float32).sum()), q)
        for m in (16, 128, 1024):
            a, b = normal(m, m, dtype=dtype), normal(m, m, dtype=dtype)
            p.run("product", lambda a, b: (a @ b, a + 1), a, b, donate=(0, 1))
            p.run("product added", lambda a, b, c: a @ b + c, a, b, a + 1, donate=(2,))
            p.run("products in a loop", lambda a, b: lax.scan(lambda c, _: (jnp.tanh(c @ b), c.sum()), a, None, length=5), a, b, donate=(0,))
            p.run("products in branches", lambda q, a, b: lax.cond(q, lambda: a @ b, lambda: b @ a + a), True, a, b, donate=(1,))
    training(p)


def training(p):
    def model(layers, x):
        for w, b in layers:
            x = jax.nn.gelu(x @ w + b)
        return x

    def adam(layers, m, v, x):
        loss, g = jax.value_and_grad(lambda l: (model(l, x) ** 2).mean())(layers)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
        return jax.tree.map(lambda l, m, v: l - 0.1 * m / (jnp.sqrt(v) + 1e-6), layers, m, v), m, v, loss

    layers = [(normal(64, 64), normal(64)) for _ in range(4)]
    zero, x = jax.tree.map(jnp.zeros_like, layers), normal(32, 64)
    p.run("step", adam, layers, zero, zero, x, donate=(0, 1, 2))
    p.run("steps", lambda l, m, v, x: lax.fori_loop(0, 5, lambda _, s: adam(*s, x)[:3], (l, m, v)), layers, zero, zero, x)
    p.run("recomputed", jax.grad(lambda l, x: jax.checkpoint(model)(l, x).sum()), layers, x)


def kernels(p):
    def add(x, y, out):
        out[...] = x[...] + y[...]

    block = pl.BlockSpec((128,), lambda i: (i,))
    for aliases in ({}, {0: 0}):
        call = pl.pallas_call(add, out_shape=jax.ShapeDtypeStruct((1024,), jnp.float32), grid=(8,), in_specs=[block] * 2,
                              out_specs=block, input_output_aliases=aliases)
        p.run("pallas", lambda x, y: call(x, y) * 2, normal(1024), normal(1024), donate=(0,))


def collectives(p):
    n = len(jax.devices())
    mesh = jax.make_mesh((n,), ("x",))
    ring = [(i, (i + 1) % n) for i in range(n)]
    programs = {
        "sum": (lambda v: lax.psum(v, "x"), P()),
        "sum of products": (lambda v: lax.pmean(v @ v.T, "x"), P()),
        "gather": (lambda v: lax.all_gather(v, "x"), P()),
        "scattered sum": (lambda v: lax.psum_scatter(v, "x", tiled=True), P("x")),
        "all to all": (lambda v: lax.all_to_all(v.reshape(n, -1, 128), "x", 0, 0), P("x")),
        "ring": (lambda v: lax.ppermute(v, "x", ring), P("x")),
        "ring in a loop": (lambda v: lax.fori_loop(0, 4, lambda _, c: lax.ppermute(c, "x", ring) + c, v), P("x")),
        "sums in a loop": (lambda v: lax.fori_loop(0, 4, lambda _, c: lax.psum(c, "x") * 0.5 + c, v), P("x")),
    }
    x = jax.device_put(normal(64 * n, 128), jax.NamedSharding(mesh, P("x")))
    for name, (program, out) in programs.items():
        shared = jax.shard_map(program, mesh=mesh, in_specs=P("x"), out_specs=out, check_vma=False)
        p.run(name, shared, x)
        p.run(name + " donated", shared, x, donate=(0,))


def main():
    p = Programs()
    for group in (linear_algebra, arrays, networks, kernels):
        group(p)
    if len(jax.devices()) > 1:
        collectives(p)
    print(f"{p.ran} programs ran, {p.skipped} were skipped")


main()

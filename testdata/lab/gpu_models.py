"""Training steps of models that need no weights, compiled for GPUs that need not be there, to
hunt false alarms with: whatever an audit finds in their dumps is either wrong or news.

  python gpu_models.py TARGET_CONFIG DUMP_DIR DEVICES [PART]

TARGET_CONFIG is a GpuTargetConfigProto as text, as it lies in any GPU dump. PART, like 0/2,
takes every second program. Needs flax, equinox, optax and the plugin for CUDA.
"""
import os
import sys

config, out, devices = sys.argv[1], sys.argv[2], int(sys.argv[3])
part, parts = (int(n) for n in sys.argv[4].split("/")) if len(sys.argv) > 4 else (0, 1)
os.makedirs(out, exist_ok=True)
os.environ["XLA_FLAGS"] = f"--xla_dump_to={out} --xla_dump_hlo_as_proto --xla_dump_hlo_as_text"
os.environ["JAX_PLATFORMS"] = "cpu"

import functools
import itertools

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax import lax
from jax.experimental import topologies
from jax.sharding import NamedSharding, PartitionSpec as P

topology = topologies.get_topology_desc(platform="cuda", target_config=open(config).read(), topology=f"1x1x{devices}")
mesh = topologies.make_mesh(topo=topology, mesh_shape=(devices,), axis_names=("x",))
WHOLE = NamedSharding(mesh, P())


class Transformer(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            h = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(num_heads=2)(h, h, mask=nn.make_causal_mask(x[..., 0]))
            x = x + nn.Dense(32)(nn.gelu(nn.Dense(64)(nn.LayerNorm()(x))))
        return nn.Dense(8)(x)


class Convolutional(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = x.reshape(x.shape[0], 16, 16, -1)
        for n in (8, 16):
            x = nn.relu(nn.GroupNorm(4)(nn.Conv(n, (3, 3))(x)))
            x = nn.avg_pool(x, (2, 2), (2, 2))
        return nn.Dense(8)(x.reshape(x.shape[0], -1))[:, None]


class Recurrent(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(8)(nn.RNN(nn.LSTMCell(32))(x))


class Gated(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(8)(nn.RNN(nn.GRUCell(16))(nn.RNN(nn.GRUCell(32), reverse=True, keep_order=True)(x)))


class Experts(nn.Module):
    @nn.compact
    def __call__(self, x):
        gates = nn.softmax(nn.Dense(4)(x))
        top, which = lax.top_k(gates, 2)
        w1 = self.param("w1", nn.initializers.normal(), (4, 32, 64))
        w2 = self.param("w2", nn.initializers.normal(), (4, 64, 32))
        mask = (jax.nn.one_hot(which, 4) * top[..., None]).sum(-2)
        h = nn.gelu(jnp.einsum("btd,edh->bteh", x, w1))
        return nn.Dense(8)(jnp.einsum("bteh,ehd,bte->btd", h, w2, mask))


class Sorted(nn.Module):
    """A mixture whose tokens are sorted by expert, and scattered back."""

    @nn.compact
    def __call__(self, x):
        flat = x.reshape(-1, 32)
        which = jnp.argmax(nn.Dense(4)(flat), -1)
        order = jnp.argsort(which)
        w = self.param("w", nn.initializers.normal(), (4, 32, 32))
        rows = jnp.einsum("nd,ndh->nh", flat[order], w[which[order]])
        back = jnp.zeros_like(rows).at[order].set(rows)
        return nn.Dense(8)(back.reshape(x.shape))


class StateSpace(nn.Module):
    @nn.compact
    def __call__(self, x):
        a = self.param("a", nn.initializers.uniform(0.9), (32,))
        b = nn.Dense(32)(x)

        def combine(l, r):
            return l[0] * r[0], r[0] * l[1] + r[1]

        _, h = lax.associative_scan(combine, (jnp.broadcast_to(a, b.shape), b), axis=1)
        return nn.Dense(8)(h * nn.sigmoid(nn.Dense(32)(x)))


class Rematerialized(nn.Module):
    @nn.compact
    def __call__(self, x):
        def layer(m, c, _):
            return c + nn.Dense(32)(nn.tanh(nn.Dense(32)(c))), None

        x, _ = nn.scan(nn.remat(layer), variable_axes={"params": 0}, split_rngs={"params": True}, length=3)(self, x, None)
        return nn.Dense(8)(x)


class EquinoxMLP:
    def init(self, key, x):
        return eqx.filter(eqx.nn.MLP(32, 8, 64, 2, key=jax.random.key(0)), eqx.is_array)

    def apply(self, params, x):
        _, static = eqx.partition(eqx.nn.MLP(32, 8, 64, 2, key=jax.random.key(0)), eqx.is_array)
        return jax.vmap(jax.vmap(eqx.combine(params, static)))(x)


class EquinoxGRU:
    def init(self, key, x):
        return eqx.filter(eqx.nn.GRUCell(32, 8, key=jax.random.key(0)), eqx.is_array)

    def apply(self, params, x):
        _, static = eqx.partition(eqx.nn.GRUCell(32, 8, key=jax.random.key(0)), eqx.is_array)
        cell = eqx.combine(params, static)

        def row(xs):
            return lax.scan(lambda h, v: (cell(v, h),) * 2, jnp.zeros(8), xs)[1]

        return jax.vmap(row)(x)


MODELS = dict(transformer=Transformer(), convolutional=Convolutional(), recurrent=Recurrent(), gated=Gated(), experts=Experts(),
              sorted=Sorted(), state_space=StateSpace(), rematerialized=Rematerialized(), equinox_mlp=EquinoxMLP(), equinox_gru=EquinoxGRU())

OPTIMIZERS = dict(
    sgd=lambda: optax.sgd(1e-2, momentum=0.9),
    adamw=lambda: optax.adamw(optax.cosine_decay_schedule(1e-3, 100)),
    hyper=lambda: optax.inject_hyperparams(optax.adamw)(learning_rate=1e-3, b1=0.9, b2=0.99, weight_decay=0.01),
    clipped=lambda: optax.chain(optax.clip_by_global_norm(1.0), optax.lion(1e-3)),
    every=lambda: optax.MultiSteps(optax.adam(1e-3), 4),
    lamb=lambda: optax.lamb(1e-3),
    finite=lambda: optax.apply_if_finite(optax.adafactor(1e-3), 3),
)

INPUT = jax.ShapeDtypeStruct((8, 16, 32), jnp.float32)
TARGET = jax.ShapeDtypeStruct((8, 16, 8), jnp.float32)


def placed(tree, sharding):
    """Shapes on the mesh: whole, or split along the first axis that the devices divide."""

    def one(x):
        axis = next((n for n, d in enumerate(x.shape) if d % devices == 0), None)
        split = sharding == "split" and axis is not None and devices > 1
        return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=NamedSharding(mesh, P(*[None] * axis, "x")) if split else WHOLE)

    return jax.tree.map(one, tree)


def loss_of(model, params, x, y):
    out = model.apply(params, x)
    return jnp.mean((out - y[:, : out.shape[1]]) ** 2)


def programs():
    """Yields (name, function, arguments' shapes, donated, how parameters and data lie)."""
    for (name, model), (named, optimizer) in itertools.product(MODELS.items(), OPTIMIZERS.items()):
        opt = optimizer()
        params = jax.eval_shape(model.init, jax.random.key(0), INPUT)
        state = dict(params=params, opt=jax.eval_shape(opt.init, params), step=jax.ShapeDtypeStruct((), jnp.int32),
                     scale=jax.ShapeDtypeStruct((), jnp.float32), decay=jax.ShapeDtypeStruct((), jnp.float32))

        def step(state, x, y, model=model, opt=opt, first=False):
            l, g = jax.value_and_grad(functools.partial(loss_of, model))(state["params"], x, y)
            u, o = opt.update(g, state["opt"], state["params"])
            new = dict(state, params=optax.apply_updates(state["params"], u), opt=o, step=state["step"] + 1)
            metrics = dict(loss=l, total=l, norm=optax.global_norm(g))
            return (new, metrics) if first else (metrics, new)

        kinds = [("whole", "whole"), ("whole", "split"), ("split", "split")] if devices > 1 else [("whole", "whole")]
        for n, kind in enumerate(kinds):
            donate = (0,) if (n + len(name) + len(named)) % 3 else ((0, 1) if n % 2 else ())
            yield f"{name}_{named}_{n}", functools.partial(step, first=len(named) % 2 == 0), (state, INPUT, TARGET), donate, kind
        if named == "sgd":
            yield name + "_forward", model.apply, (params, INPUT), (), kinds[-1]
            yield name + "_evaluate", lambda s, x, y, m=model: ((lambda l: (dict(a=l, b=l, c=l, d=l), s))(loss_of(m, s["params"], x, y))), (state, INPUT, TARGET), (0,), kinds[0]
            many = jax.tree.map(lambda v: jax.ShapeDtypeStruct((4, *v.shape), v.dtype), (INPUT, TARGET))
            yield name + "_scanned", lambda s, b, f=step: lax.scan(lambda s, v: f(s, *v)[::-1], s, b), (state, many), (0,), kinds[0]
            yield name + "_while", lambda s, x, y, f=step: lax.while_loop(lambda s: s["step"] < 5, lambda s: f(s, x, y)[1], s), (state, INPUT, TARGET), (0,), kinds[0]
            yield name + "_branch", lambda s, x, y, f=step: lax.cond(s["scale"] > 0, lambda s: f(s, x, y)[1], lambda s: s, s), (state, INPUT, TARGET), (0,), kinds[0]


done = failed = 0
for n, (name, f, shapes, donate, (params, data)) in enumerate(programs()):
    if n % parts != part:
        continue
    args = [placed(shapes[0], params), *[placed(s, data) for s in shapes[1:]]]

    def program(*args, f=f):
        return f(*args)

    program.__name__ = name
    try:
        jax.jit(program, donate_argnums=donate).lower(*args).compile()
        done += 1
    except Exception as e:
        failed += 1
        print(f"skipped {name}: {type(e).__name__} {str(e).splitlines()[0][:200]}", file=sys.stderr, flush=True)
    jax.clear_caches()
    for path in os.listdir(out):  # the optimized module and its assignment alone are looked at
        if "after_optimizations" not in path or "live-range" in path or "memory-usage" in path:
            try:
                os.remove(os.path.join(out, path))
            except (IsADirectoryError, PermissionError):
                pass
print(f"{done} compiled, {failed} skipped", flush=True)

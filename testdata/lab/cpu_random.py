"""Random programs of nested loops and branches whose state changes places, donated or not, to
hunt false alarms with: whatever an audit finds in their dumps is either wrong or news.

  XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_proto --xla_dump_hlo_as_text \
             --xla_force_host_platform_device_count=4" python cpu_random.py FIRST LAST

compiles the programs of the seeds from FIRST up to LAST and runs nothing; with TARGET_CONFIG and
DEVICES behind, for as many GPUs that need not be there (see gpu_models.py), JAX_PLATFORMS=cpu.
"""
import random
import sys

import jax
import jax.numpy as jnp
from jax import lax

SHAPES = [(), (4,), (3, 8), (8, 3), (16,)]


class Program:
    def __init__(self, seed):
        self.rnd = random.Random(seed)
        self.budget = 24
        self.shapes = [self.rnd.choice(SHAPES) for _ in range(self.rnd.randint(2, 6))]
        self.plan = self.body(0)
        order = list(range(len(self.shapes)))
        self.outputs = [self.rnd.choice(order) for _ in range(self.rnd.randint(1, 4))] + self.rnd.sample(order, len(order))
        self.rnd.shuffle(self.outputs)
        self.donate = tuple(n for n in order if self.rnd.random() < 0.5)

    def body(self, depth):
        """A list of steps on the state, each a tuple of what it is and what it takes."""
        steps = []
        for _ in range(self.rnd.randint(1, 5)):
            self.budget -= 1
            if self.budget < 0:
                break
            kind = self.rnd.choice(["mix", "mix", "swap", "update", "sort", "scan", "while", "cond", "switch", "fori", "matrix", "gather"])
            if kind in ("scan", "while", "cond", "switch", "fori"):
                if depth > 2:
                    continue
                bodies = [self.body(depth + 1) for _ in range({"cond": 2, "switch": 3}.get(kind, 1))]
                steps.append((kind, bodies, self.rnd.randint(1, 4)))
            else:
                steps.append((kind, [self.rnd.randrange(len(self.shapes)) for _ in range(3)], self.rnd.randint(0, 3)))
        return steps

    def like(self, x, shape):
        """x in another shape."""
        size = 1
        for d in shape:
            size *= d
        flat = jnp.ravel(x)
        return jnp.resize(flat, (size,)).reshape(shape)

    def run(self, steps, state):
        state = list(state)
        for kind, what, n in steps:
            if kind in ("scan", "while", "cond", "switch", "fori"):
                state = list(self.nested(kind, what, n, tuple(state)))
                continue
            a, b, c = what
            x, y, shape = state[a], state[b], self.shapes[c]
            if kind == "mix":
                state[c] = self.like(x, shape) * 0.5 + self.like(y, shape)
            elif kind == "swap":
                if self.shapes[a] == self.shapes[b]:
                    state[a], state[b] = state[b], state[a]
            elif kind == "update" and shape:
                state[c] = lax.dynamic_update_slice(state[c], jnp.ones((1,) * len(shape)) * jnp.sum(x), [jnp.int32(n)] * len(shape))
            elif kind == "sort" and shape:
                keys, values = lax.sort((state[c], self.like(x, shape)), num_keys=1)
                state[c] = keys + jnp.flip(values)
            elif kind == "matrix":
                m = self.like(x, (4, 4)) @ self.like(y, (4, 4))
                state[c] = self.like(m, shape)
            elif kind == "gather" and shape:
                index = jnp.argsort(jnp.ravel(self.like(x, shape)))
                state[c] = jnp.ravel(state[c]).at[index].add(1.0).reshape(shape)
        return tuple(state)

    def nested(self, kind, bodies, n, state):
        runs = [lambda s, b=b: self.run(b, s) for b in bodies]
        where = jnp.sum(state[0])
        if kind == "scan":
            def step(s, v):
                s = runs[0](s)
                return (s[0] + v if not self.shapes[0] else s[0], *s[1:]), jnp.sum(s[-1])
            s, ys = lax.scan(step, state, jnp.arange(float(n + 1)))
            return (s[0] + jnp.sum(ys), *s[1:])
        if kind == "fori":
            return lax.fori_loop(0, n, lambda i, s: runs[0](s), state)
        if kind == "while":
            return lax.while_loop(lambda c: (c[0] < n) & (jnp.sum(c[1][-1]) < 1e9), lambda c: (c[0] + 1, runs[0](c[1])), (0, state))[1]
        if kind == "cond":
            return lax.cond(where > n, runs[0], runs[1], state)
        return lax.switch(jnp.int32(where) % 3, runs, state)

    def __call__(self, *state):
        out = self.run(self.plan, state)
        return tuple(out[n] for n in self.outputs)


lies = [None]
if len(sys.argv) > 3:
    from jax.experimental import topologies
    from jax.sharding import NamedSharding, PartitionSpec as P

    devices = int(sys.argv[4])
    topology = topologies.get_topology_desc(platform="cuda", target_config=open(sys.argv[3]).read(), topology=f"1x1x{devices}")
    mesh = topologies.make_mesh(topo=topology, mesh_shape=(devices,), axis_names=("x",))
    lies = [NamedSharding(mesh, P()), NamedSharding(mesh, P("x"))]

for seed in range(int(sys.argv[1]), int(sys.argv[2])):
    p = Program(seed)

    def program(*state):
        return p(*state)

    program.__name__ = f"random_{seed}"
    split = lambda n, s: len(lies) > 1 and s and s[0] % devices == 0 and (seed + n) % 3 == 0
    args = [jax.ShapeDtypeStruct(s, jnp.float32, sharding=lies[1 if split(n, s) else 0]) for n, s in enumerate(p.shapes)]
    try:
        jax.jit(program, donate_argnums=p.donate).lower(*args).compile()
    except Exception as e:
        print(f"skipped {seed}: {type(e).__name__} {str(e).splitlines()[0][:160]}", file=sys.stderr)

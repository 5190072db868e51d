"""What `aliascheck compile` adds to JAX's own compile time: cost.py TARGET_CONFIG SCRIPTS.

Compiles fifty programs for one target in this process, each alternately as JAX would and
with the dumps that aliascheck reads, and prints the seconds of both and their ratio. The
order changes from one program to the next; caches are cleared before each compilation.
SCRIPTS is the folder cmd/aliascheck/compile/python.
"""

import sys
import tempfile
import time

sys.path.insert(0, sys.argv[2])
import aliascheck_target  # noqa: E402

aliascheck_target.prepare_environment()


def programs():
    import jax
    import jax.numpy as jnp

    from kernels import with_jax_triton, without_kernels

    yield from with_jax_triton.programs()
    for program in without_kernels.programs():
        if not program[0].startswith("foreign"):
            yield program
    for n in range(1, 32):
        shape = jax.ShapeDtypeStruct((64, 16 * n), jnp.float32)
        yield "layer_%d" % n, lambda x: jnp.tanh(x @ x.T).sum(0) / x.shape[0], (shape,)


def main():
    import jax

    with open(sys.argv[1]) as f, tempfile.TemporaryDirectory() as dump:
        target = aliascheck_target.Target(dict(target="cost", config=f.read(), dump=dump))
        dumping = dict(target.options)
        import aliascheck_programs

        seconds, count = {False: 0.0, True: 0.0}, 0
        for program in programs():
            name, function, args, options = (tuple(program) + ({},))[:4]
            jit = aliascheck_programs._jit_options(dict(options), name)
            for dumped in (False, True) if count % 2 else (True, False):
                jax.clear_caches()
                start = time.perf_counter()
                compile = aliascheck_programs.Program(name, function, args, {}, jit, None).lower(target)
                compile(dumping if dumped else {})
                seconds[dumped] += time.perf_counter() - start
            count += 1
    print("%d programs: %.2f s by JAX alone, %.2f s with dumps: %.2f times" % (count, seconds[False], seconds[True], seconds[True] / seconds[False]))


main()

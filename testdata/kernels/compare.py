"""Compiles this package's programs for the card that is here: compare.py OUT.

Every program is compiled and none is run. OUT gets the dumps, as a GPU's own, and
target.pbtxt, the card as XLA describes it. Prints "compiled NAME" or "left out NAME: WHY"
for each program. The rest of the comparison is TestGPUCompileAgrees of aliascheck.
"""

import importlib
import os
import shutil
import sys

out = os.path.abspath(sys.argv[1])
os.makedirs(os.path.join(out, "mosaic"), exist_ok=True)
os.environ["MOSAIC_GPU_DUMP_TO"] = os.path.join(out, "mosaic")
os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

import jax

OPTIONS = {"xla_dump_to": out, "xla_dump_hlo_as_proto": True, "xla_dump_hlo_as_text": True, "xla_dump_emitter_re": "ptx"}


def main():
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    print("device", jax.devices("gpu")[0].device_kind, "JAX", jax.__version__)
    for module in ("with_jax_triton", "with_pallas", "with_mosaic", "without_kernels"):
        try:
            programs = importlib.import_module("kernels." + module).programs()
        except ImportError as error:
            print("left out %s: %s" % (module, error))
            continue
        for program in programs:
            one(*program)
    configs = [name for name in sorted(os.listdir(out)) if name.endswith(".gpu_target_config.pbtxt")]
    shutil.copy(os.path.join(out, configs[0]), os.path.join(out, "target.pbtxt"))


def one(name, function, args, options=None):
    def program(*args):
        return function(*args)

    program.__name__ = name
    try:
        jax.jit(program, donate_argnums=(options or {}).get("donate", ())).lower(*args).compile(compiler_options=OPTIONS)
        print("compiled", name)
    except Exception as error:
        for file in os.listdir(out):
            if ".jit_%s." % name in file:
                os.remove(os.path.join(out, file))
        print("left out %s: %s" % (name, str(error).splitlines()[0][:200]))


main()

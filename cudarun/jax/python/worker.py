"""The worker of aliascheck's JAX engine: one process of the user's Python.

It reads one JSON object a line from its standard input and answers with JSON objects
on what was its standard output; whatever else prints there goes to standard error.
The first line says how to start; then comes a call a line, and the last answer to
each has the key "outcome" or "refused".
"""
import importlib
import json
import os
import sys
import traceback

answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)


def say(**message):
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def bring(names, paths):
    """Imports modules of the user's; what fails is told, with its error."""
    for directory in paths or []:
        if directory not in sys.path:
            sys.path.append(directory)
    failed = []
    for name in names or []:
        try:
            importlib.import_module(name)
        except Exception as e:  # the user's own code: anything may come
            failed.append({"import": name, "error": f"{type(e).__name__}: {e}"[:400]})
    return failed


def prepare_cpu():
    """jaxlib's own handlers for the CPU look SciPy's routines up when JAX first lowers
    one; called before that, they jump to nowhere."""
    try:
        from jaxlib.cpu import _lapack
        _lapack.initialize()
    except (ImportError, AttributeError):
        pass


def start(hello):
    """Starts JAX as it is told, and says what there is."""
    os.environ["JAX_PLATFORMS"] = hello["platform"]
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    # Graphs would hide launches from the trace; autotuning would time every call.
    os.environ["XLA_FLAGS"] = "--xla_gpu_enable_command_buffer= --xla_gpu_autotune_level=0"
    os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"
    os.environ["JAX_ENABLE_X64"] = "true"  # else 64-bit arrays are silently made of 32 bits
    sys.path.append("")  # last: a script of the user's must not hide a library
    tracer, without = None, "not asked for"
    if hello.get("trace"):
        import trace
        try:
            tracer, without = trace.Tracer(**hello["trace"]), ""
        except (OSError, trace.Untraced) as e:
            without = str(e)
    import jax
    device = jax.devices()[0]
    if device.platform == "cpu":
        prepare_cpu()
    failed = bring(hello.get("imports"), hello.get("paths"))
    if tracer:
        jax.block_until_ready(jax.numpy.ones(4) + 1)  # a context, and a stream
        without = tracer.ready()
        if without:
            tracer = None
    say(ready={
        "jax": jax.__version__, "device": device.device_kind, "platform": device.platform,
        "trace": tracer is not None, "without_trace": without, "failed_imports": failed,
    })
    return tracer


def main():
    hello = json.loads(sys.stdin.readline())
    try:
        tracer = start(hello)
    except Exception as e:
        say(refused=f"{type(e).__name__}: {e}"[:1000])
        return 1
    import replay
    replayer = replay.Replayer(tracer, stage=lambda name: say(stage=name))
    for line in sys.stdin:
        request = json.loads(line)
        failed = bring(request.get("imports"), request.get("paths"))
        try:
            say(outcome=replayer.run(request))
        except Exception as e:
            reason = replay.reason_of(e)
            if not reason:
                traceback.print_exc()
                reason = f"{type(e).__name__}: {e}"[:1000]
            reason += "".join(f"; importing {f['import']} failed: {f['error']}" for f in failed)
            say(refused=reason)
        if replayer.lost:
            return 3  # after a fault nothing of this process can be believed
    return 0


if __name__ == "__main__":
    code = main()
    answers.flush()
    sys.stderr.flush()
    os._exit(code)  # destructors of CUDA and of the sanitizer's library do not get along

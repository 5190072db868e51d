"""Runs one call with its buffers apart and shared, and has it traced."""
import contextlib
import time

import jax
import numpy as np

import contents
from call import Call, Refused, aliased, form, untouched

POISONS = (0xFF, 0x5A, 0xA5)
SHARED_RUNS = 5


def reason_of(e):
    """Why a call could not be made here; empty where that is news to us."""
    text = str(e)
    if isinstance(e, Refused):
        return text
    if "No registered implementation for" in text or "No FFI handler registered" in text or "NOT_FOUND" in text and "handler" in text:
        return "its handler is not registered in this process: name the module that does it (--import MODULE)"
    if "RESOURCE_EXHAUSTED" in text:
        return "the device's memory is not enough"
    return ""


def fatal(e):
    text = str(e)
    return "CUDA_ERROR" in text and "OUT_OF_MEMORY" not in text or "INTERNAL" in text and "illegal" in text.lower()


class Replayer:
    def __init__(self, tracer, stage):
        self.tracer, self.stage = tracer, stage
        self.device = jax.devices()[0]
        self.lost = False
        self.confiner = None

    def run(self, request):
        call = Call(request["call"])
        out = {"modes": {}, "times": {}}
        inputs = [contents.make(call.operands[n]) for n in call.arrays]
        apart = Apart(self, call, request.get("claims") or {})
        if request.get("trace"):
            self.mode(out, "trace", lambda: self.trace(call, apart, inputs, request))
            return out
        self.mode(out, "apart", lambda: self.apart(call, apart, inputs, out))
        if self.lost:
            return out
        reference = out.pop("reference", None)
        if reference is None:
            return out
        for pair in request.get("pairs") or []:
            pair = tuple(pair)
            key = f"{pair[0]}:{pair[1]}"
            self.mode(out, "shared " + key, lambda: self.shared(call, pair, inputs, reference, None))
            if self.lost:
                return out
            if self.device.platform != "cpu" and request.get("confine", True):
                self.mode(out, "confined " + key, lambda: self.shared(call, pair, inputs, reference, self.confined()))
                if self.lost:
                    return out
        return out

    def mode(self, out, name, run):
        """Runs one mode; a fault there ends the call's replay and the process."""
        self.stage(name)
        begin = time.perf_counter()
        try:
            out["modes"][name] = run()
        except Exception as e:
            if fatal(e):
                self.lost = True
                out["fault"] = {"mode": name, "error": str(e)[:400]}
                return
            if name in ("apart", "trace"):
                raise
            out["modes"][name] = {"reason": reason_of(e) or f"{type(e).__name__}: {e}"[:400]}
        out["times"][name] = time.perf_counter() - begin

    def confined(self):
        if self.confiner is None:
            import confine
            self.confiner = confine.Confiner()
        return self.confiner

    def operands(self, call, inputs):
        return [fresh(x, call.operands[n], self.device) for x, n in zip(inputs, call.arrays)]

    def apart(self, call, apart, inputs, out):
        runs, results = [], []
        for byte in POISONS:
            result, places = apart.run(inputs, byte)
            runs.append(result)
            results.append(places)
        again, _ = apart.run(inputs, POISONS[0])
        leaves = []
        for n in range(len(runs[0])):
            control, first = contents.differing(runs[0][n], again[n])
            poison = max(contents.differing(runs[0][n], runs[k][n])[0] for k in (1, 2))
            leaves.append({"of": int(runs[0][n].size), "control": control, "poison": poison, "first": first})
        out["reference"] = runs[0]
        written = apart.changed(inputs)
        return {"results": leaves, "placed": results[0], "operands_written": written, "seconds": apart.seconds}

    def otherwise(self, call, p, inputs):
        """Some handlers look whether two buffers are one, and then do something else: what
        is not safe apart must show with the pair in one place, too."""
        import trace
        try:
            args, compiled, donated, _ = self.in_place(call, (p["operand"], p["result"]), inputs)
        except Refused:
            return  # XLA would not put them in one place either
        jax.block_until_ready(args)
        at = args[donated]
        ranges = [trace.Range(at.unsafe_buffer_pointer(), at.nbytes, at.dtype.itemsize, result) for result in (False, True)]
        place = ranges[0].base
        got = []
        seen = self.tracer.record(ranges, lambda: got.extend(wait(compiled(*args))))
        if got[0].unsafe_buffer_pointer() != place:
            return
        again = seen.judge(0, 1)
        if again["verdict"] == "unsafe":
            return
        p["reason"] = "with its buffers apart " + p["reason"] + "; with the pair in one place "
        p["reason"] += "not: the handler does something else then" if again["verdict"] == "safe" else "it is not known: " + again["reason"]
        p["verdict"] = "unknown"

    def in_place(self, call, pair, inputs):
        """The call with a pair in one place, as a declaration and donation make it."""
        operand, result = pair
        a, b = call.operands[operand], call.results[result]
        if (a["type"], a["dims"], a["layout"]) != (b["type"], b["dims"], b["layout"]):
            raise Refused("JAX gives one place to arrays of one type only")
        donated = call.arrays.index(operand)
        f = call.function([pair])
        # JAX gives a donated operand's memory to the first result of its type: the pair's.
        n = call.leaves.index(result)
        turn = [n, *(k for k in range(len(call.leaves)) if k != n)]
        compiled = compile_call(call, lambda *args: (lambda got: [got[k] for k in turn])(f(*args)), [call.operands[k] for k in call.arrays], [donated], self.device, turn)
        return self.operands(call, inputs), compiled, donated, turn

    def shared(self, call, pair, inputs, reference, around):
        """Runs with one pair in one place, as a declaration and donation make it."""
        _, compiled, donated, turn = self.in_place(call, pair, inputs)
        n = turn[0]
        if around:  # kernels are loaded with their first launch, which waits for the whole card
            args = self.operands(call, inputs)
            wait(compiled(*args))
        out, runs = {"runs": 0, "differing": 0, "most": 0, "first": -1, "in_place": True}, SHARED_RUNS
        for _ in range(runs):
            args = self.operands(call, inputs)
            jax.block_until_ready(args)
            at = args[donated].unsafe_buffer_pointer()
            with around or contextlib.nullcontext():
                got = wait(compiled(*args))
            got = [got[turn.index(k)] for k in range(len(turn))]
            if got[n].unsafe_buffer_pointer() != at:
                return {"reason": "JAX did not put the result where the donated operand lay"}
            out["runs"] += 1
            wrong = [contents.differing(reference[k], leaf) for k, leaf in enumerate(got)]
            out["most"] = max(out["most"], *(count for count, _ in wrong))
            out["differing"] += any(count for count, _ in wrong)
            out["first"] = max(out["first"], wrong[n][1])
        return out

    def trace(self, call, apart, inputs, request):
        import trace
        # Once before: kernels are loaded, and patched, with their first launch.
        apart.run(inputs, POISONS[0])
        args, spares = apart.arguments(inputs, POISONS[0])
        jax.block_until_ready((args, spares))
        places = [a.unsafe_buffer_pointer() for a in args]
        spots = [s.unsafe_buffer_pointer() for s in spares]
        ranges = [trace.Range(p, a.nbytes, a.dtype.itemsize, False) for p, a in zip(places, args)]
        ranges += [trace.Range(spots[apart.spare_of[n]], s.nbytes, s.dtype.itemsize, True) for n, s in enumerate(spares)]
        if not spaced(ranges):
            return {"reason": "an operand and a result lie in one place although they were to be apart"}
        begin = time.perf_counter()
        recorded = self.tracer.record(ranges, lambda: wait(apart.compiled(*args, *spares)))
        seconds, took = self.tracer.seconds, time.perf_counter() - begin
        pairs = []
        for operand, result in request.get("trace_pairs") or []:
            o, r = call.arrays.index(operand), len(call.arrays) + call.leaves.index(result)
            pairs.append({"operand": operand, "result": result, **recorded.judge(o, r)})
        for p in pairs:
            if p["verdict"] == "unsafe":
                self.otherwise(call, p, inputs)
        unsafe = [p for p in pairs if p["verdict"] == "unsafe"]
        for p in unsafe[:4]:  # a second run tells who met at the byte
            args, spares = apart.arguments(inputs, POISONS[0])
            jax.block_until_ready((args, spares))
            o, r = call.arrays.index(p["operand"]), len(call.arrays) + call.leaves.index(p["result"])
            again = [trace.Range(a.unsafe_buffer_pointer(), a.nbytes, a.dtype.itemsize, False) for a in args]
            spots = [s.unsafe_buffer_pointer() for s in spares]
            again += [trace.Range(spots[apart.spare_of[n]], s.nbytes, s.dtype.itemsize, True) for n, s in enumerate(spares)]
            seen = self.tracer.record(again, lambda: wait(apart.compiled(*args, *spares)), watch=(o, r, p["byte"]))
            p["witness"] = seen.witness(o, r, p["byte"])
        out = {"pairs": pairs, "seconds": seconds, "record_seconds": took, **recorded.summary(len(call.arrays))}
        return out


def spaced(ranges):
    at = sorted((r.base, r.size) for r in ranges if r.size)
    return all(a[0] + a[1] <= b[0] for a, b in zip(at, at[1:]))


def compile_call(call, f, arrays, donate, device, turn=None):
    """The function for arrays of these types and layouts, and nothing beside the call."""
    shapes = [call.shape(a) for a in arrays]
    forms = [form(a, device) for a in arrays]
    results = [form(call.results[call.leaves[k]], device) for k in turn or range(len(call.leaves))]
    options = {}
    if any(forms):
        options["in_shardings"] = forms
    if any(results):
        options["out_shardings"] = results
    compiled = jax.jit(f, donate_argnums=donate, keep_unused=True, **options).lower(*shapes).compile()
    untouched(compiled)
    return compiled


def wait(arrays):
    """Waits without a lock on what a hanging kernel holds."""
    jax.block_until_ready(arrays)
    return arrays


class Apart:
    """The call with every result in a place of its own: the memory of a donated
    parameter that nothing reads."""

    def __init__(self, replayer, call, claims):
        self.call, self.device = call, replayer.device
        self.claims = {int(r): o for r, o in claims.items()}
        f = call.function([])
        n = len(call.arrays)
        arrays = [call.operands[k] for k in call.arrays] + [call.results[k] for k in call.leaves]
        donate = list(range(n, len(arrays)))
        self.compiled = compile_call(call, lambda *args: f(*args[:n]), arrays, donate, self.device)
        where = aliased(self.compiled)
        # Result k lies in the spare that XLA gave it; without one, in its own.
        self.spare_of = [where.get(k, n + k) - n for k in range(len(call.leaves))]
        self.last, self.seconds = None, float("inf")

    def arguments(self, inputs, byte):
        args = [fresh(x, self.call.operands[n], self.device) for x, n in zip(inputs, self.call.arrays)]
        spares = [None] * len(self.call.leaves)
        for k, n in enumerate(self.call.leaves):
            claimant = self.claims.get(n)
            if claimant is not None and claimant in self.call.arrays:
                held = inputs[self.call.arrays.index(claimant)]
                if held.nbytes == contents.poisoned(self.call.results[n], byte).nbytes:
                    held = held.reshape(-1).view(np.uint8).view(contents.dtype(self.call.results[n]["type"]))
                    spares[self.spare_of[k]] = held.reshape(self.call.results[n]["dims"])
                    continue
            spares[self.spare_of[k]] = contents.poisoned(self.call.results[n], byte)
        of = {self.spare_of[k]: self.call.results[n] for k, n in enumerate(self.call.leaves)}
        return args, [fresh(s, of[k], self.device) for k, s in enumerate(spares)]

    def run(self, inputs, byte):
        args, spares = self.arguments(inputs, byte)
        jax.block_until_ready((args, spares))
        places = [s.unsafe_buffer_pointer() for s in spares]
        begin = time.perf_counter()
        out = wait(self.compiled(*args, *spares))
        self.seconds = min(self.seconds, time.perf_counter() - begin)
        self.last = args
        return out, [o.unsafe_buffer_pointer() == places[self.spare_of[k]] for k, o in enumerate(out)]

    def changed(self, inputs):
        """Operands whose bytes the last run changed."""
        found = []
        for k, (was, now) in enumerate(zip(inputs, self.last)):
            wrong, first = contents.differing(fresh(was, self.call.operands[self.call.arrays[k]], self.device), now)
            if wrong:
                found.append({"operand": self.call.arrays[k], "elements": wrong, "first": first})
        return found


def fresh(x, a, device):
    """An array in memory of its own: one that shares numpy's cannot be donated."""
    layout = form(a, device)
    x = jax.numpy.array(x, copy=True)
    return jax.device_put(x, layout) if layout else x

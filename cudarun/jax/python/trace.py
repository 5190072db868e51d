"""Traces kernels on the card: NVIDIA's Compute Sanitizer API calls the functions of
patches.cu before each access, and the record tells what each byte's readers and
writers were. Structs and numbers are those of patches.cu and of sanitizer_*.h.

The subscription must stand before CUDA starts.
"""
import ctypes as C
import time
from collections import namedtuple

import numpy as np

Range = namedtuple("Range", "base size width result")  # bytes; width of an element

RANGES, LAUNCHES, EVENTS, MAPS, RUNS = 64, 4000, 4096, 64, 4096
BLOCK, BLOCK_TURNED, THREAD, THREAD_TURNED, WARP, TIME, OTHER, WORDS = range(8)
NOTHING = (1 << 64) - 1  # of a word that the least is kept of

FLAGS = {
    1: "barriers that not all threads of a block take part in", 2: "mbarriers", 4: "reads that wait on memory",
    8: "atomic operations that return a value", 16: "asynchronous copies", 32: "cluster barriers",
    64: "more barriers than are counted", 128: "a tensor map that nobody saw encoded",
    256: "accesses of parts of elements", 512: "more multiprocessors than were counted",
    1024: "warp barriers of some lanes", 2048: "tensor copies that are not tiled", 4096: "tensor stores, whose places the library does not say",
}
PARTIAL_BARRIER, MBARRIER, STRONG_READ, FETCH, ASYNC, CLUSTER, OVERFLOW, UNKNOWN_MAP = (1 << n for n in range(8))
PARTIAL_GRANULE, NO_SLOT, PARTIAL_WARP, IM2COL, TENSOR_STORE = (1 << n for n in range(8, 13))

# Sanitizer_InstructionId, and the patch for each; without the first an API cannot be used.
PATCHES = {
    3: b"ac_memory", 1: b"ac_enter", 6: b"ac_barrier", 7: b"ac_syncwarp", 8: b"ac_shuffle", 13: b"ac_mbarrier",
    14: b"ac_copy", 21: b"ac_cluster", 22: b"ac_cluster", 30: b"ac_bulk_load", 35: b"ac_bulk_store",
    37: b"ac_bulk_reduce", 43: b"ac_tensor_load", 44: b"ac_tensor_store", 45: b"ac_fence",
}
TENSOR_COPIES = (43, 44)

DRIVER, RESOURCE, LAUNCH, MEMCPY, MEMSET = 1, 3, 5, 6, 7
MODULE_LOADED, LAUNCH_BEGIN, STARTING, ENCODE_TILED = 9, 1, 1, 697
ELEMENT_BYTES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 0, 0, 0)  # of CUtensorMapDataType


class Untraced(Exception):
    """Tracing cannot start; the text says why."""


class _Range(C.Structure):
    _fields_ = [("base", C.c_uint64), ("size", C.c_uint64), ("shift", C.c_uint64), ("result", C.c_uint64), ("words", C.c_uint64), ("granules", C.c_uint64)]


class _Map(C.Structure):
    _fields_ = [("bytes", C.c_uint64 * 16), ("base", C.c_uint64), ("rank", C.c_uint64), ("element", C.c_uint64),
                ("dims", C.c_uint64 * 5), ("strides", C.c_uint64 * 5), ("box", C.c_uint64 * 5), ("steps", C.c_uint64 * 5)]


class _Trace(C.Structure):
    _fields_ = [("ranges", C.c_uint64), ("maps", C.c_uint64), ("slots", C.c_uint64), ("flags", C.c_uint64),
                ("outside", C.c_uint64 * 2), ("first", C.c_uint64 * 4), ("accesses", C.c_uint64),
                ("watch_range", C.c_uint64 * 2), ("watch_at", C.c_uint64 * 2), ("events", C.c_uint64),
                ("room", C.c_uint64), ("event", C.c_uint64), ("epoch", C.c_uint64), ("map", C.c_uint64),
                ("range", _Range * RANGES)]


class _Launch(C.Structure):
    _fields_ = [("trace", C.c_uint64), ("number", C.c_uint64), ("cluster", C.c_uint64)]


EVENT = np.dtype([("pc", "u8"), ("where", "u8"), ("block", "u8"), ("thread", "u8"), ("launch", "u8"), ("time", "u8")])
CALLBACK = C.CFUNCTYPE(None, C.c_void_p, C.c_int, C.c_uint32, C.c_void_p)

ARGUMENTS = {
    "sanitizerSubscribe": [C.c_void_p, CALLBACK, C.c_void_p],
    "sanitizerEnableDomain": [C.c_uint32, C.c_void_p, C.c_int],
    "sanitizerEnableCallback": [C.c_uint32, C.c_void_p, C.c_int, C.c_uint32],
    "sanitizerAddPatchesFromFile": [C.c_char_p, C.c_void_p],
    "sanitizerPatchInstructions": [C.c_int, C.c_void_p, C.c_char_p],
    "sanitizerPatchModule": [C.c_void_p],
    "sanitizerSetLaunchCallbackData": [C.c_void_p] * 4,
    "sanitizerAlloc": [C.c_void_p, C.c_void_p, C.c_size_t],
    "sanitizerFree": [C.c_void_p, C.c_void_p],
    "sanitizerMemset": [C.c_void_p, C.c_int, C.c_size_t, C.c_void_p],
    "sanitizerMemcpyDeviceToHost": [C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p],
    "sanitizerMemcpyHostToDeviceAsync": [C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p],
    "sanitizerStreamSynchronize": [C.c_void_p],
    "sanitizerGetFunctionPcAndSize": [C.c_void_p, C.c_char_p, C.c_void_p, C.c_void_p],
}


class Tracer:
    """The subscription of this process, and the memory of its records."""

    def __init__(self, library, patches):
        self.api = C.CDLL(library, mode=C.RTLD_GLOBAL)
        for name, types in ARGUMENTS.items():
            try:
                getattr(self.api, name).argtypes = types
            except AttributeError:
                raise Untraced(f"{library} has no {name}") from None
        self.patches = patches.encode()
        self.contexts, self.refused, self.failed = set(), {}, ""
        self.context = self.stream = None
        self.armed = False
        self.launches, self.streams, self.copies, self.maps, self.encoded_now = {}, set(), [], {}, []
        self.functions = {}  # modules that were seen, by function name
        self.kept = CALLBACK(self.called)
        subscriber = C.c_void_p()
        if code := self.api.sanitizerSubscribe(C.byref(subscriber), self.kept, None):
            raise Untraced(f"sanitizerSubscribe gave {code}: another tool may be attached")
        for domain in (RESOURCE, LAUNCH, MEMCPY, MEMSET):
            self.check("sanitizerEnableDomain", 1, subscriber, domain)
        self.check("sanitizerEnableCallback", 1, subscriber, DRIVER, ENCODE_TILED)

    def check(self, name, *arguments):
        if code := getattr(self.api, name)(*arguments):
            raise Untraced(f"{name} gave {code}")

    def called(self, _, domain, which, data):
        """The one callback; an exception here would be lost in C."""
        try:
            words = C.cast(data, C.POINTER(C.c_uint64))
            if domain == RESOURCE and which == MODULE_LOADED:
                self.loaded(words[0], words[1])
            elif domain == LAUNCH and which == LAUNCH_BEGIN:
                self.launched(data, words)
            elif domain == MEMCPY and which == STARTING and self.armed:
                self.copies.append((self.number(words[4] or words[2]), words[6], words[7], words[8]))
            elif domain == MEMSET and which == STARTING and self.armed:
                sizes = C.cast(data + 56, C.POINTER(C.c_uint32))
                self.copies.append((self.number(words[1]), 0, words[3], words[4] * max(words[5], 1) * max(sizes[0], 1)))
            elif domain == DRIVER and which == ENCODE_TILED:
                self.encoded(data, words)
        except BaseException as e:  # noqa: BLE001
            self.failed = self.failed or f"{type(e).__name__}: {e}"

    def loaded(self, context, module):
        if context not in self.contexts:
            self.check("sanitizerAddPatchesFromFile", self.patches, context)
            self.contexts.add(context)
        for instruction, name in PATCHES.items():
            if code := self.api.sanitizerPatchInstructions(instruction, module, name):
                self.refused[instruction] = code
        self.check("sanitizerPatchModule", module)

    def launched(self, data, words):
        self.context, self.stream = words[0], words[2]
        at = None
        if self.armed:
            sizes = tuple(C.cast(data + 48, C.POINTER(C.c_uint32))[:9])
            name = C.cast(words[5], C.c_char_p).value.decode(errors="replace")
            number = self.number(words[1])
            self.send_maps()
            self.launches[number] = ({"name": name, "grid": sizes[:3], "block": sizes[3:6], "cluster": sizes[6:9], "module": words[3]})
            if number < LAUNCHES:
                # Launch numbers and clusters were laid out beforehand: without and with.
                at = self.infos + ((number * 2 + (max(sizes[6:9]) > 1)) * C.sizeof(_Launch))
        self.check("sanitizerSetLaunchCallbackData", words[12], words[4], words[2], at)

    def send_maps(self):
        """Handlers encode tensor maps just before they launch."""
        if self.maps_sent == len(self.encoded_now) or not self.maps:
            return
        self.maps_sent = len(self.encoded_now)
        last = list(self.maps.values())[-MAPS:]
        self.table, self.table_size = (_Map * len(last))(*last), C.c_uint64(len(last))
        self.upload(self.map_table, self.table)
        self.upload(self.trace + 8, self.table_size)

    def number(self, stream):
        """What happens on the card is numbered in the order of its launches."""
        self.streams.add(stream)
        self.count += 1
        return self.count

    def encoded(self, data, words):
        """cuTensorMapEncodeTiled, on its way out: what the 128 bytes mean."""
        if C.cast(data, C.POINTER(C.c_uint32))[0] != 1 or len(self.maps) >= 4096:
            return
        params = C.cast(words[2], C.POINTER(C.c_uint64))
        kinds = C.cast(words[2] + 8, C.POINTER(C.c_uint32))
        rank, element = kinds[1], ELEMENT_BYTES[kinds[0]] if kinds[0] < len(ELEMENT_BYTES) else 0
        if not element or not 1 <= rank <= 5:
            return
        m = _Map(base=params[2], rank=rank, element=element)
        m.bytes[:] = C.cast(params[0], C.POINTER(C.c_uint64))[:16]
        m.dims[:rank] = C.cast(params[3], C.POINTER(C.c_uint64))[:rank]
        m.strides[0] = element
        if rank > 1:
            m.strides[1:rank] = C.cast(params[4], C.POINTER(C.c_uint64))[: rank - 1]
        m.box[:rank] = C.cast(params[5], C.POINTER(C.c_uint32))[:rank]
        m.steps[:rank] = C.cast(params[6], C.POINTER(C.c_uint32))[:rank]
        if any(s != 1 for s in m.steps[1:rank]):
            return
        if self.armed:
            self.encoded_now.append(m)
        self.maps.pop(bytes(m.bytes), None)
        self.maps[bytes(m.bytes)] = m

    def ready(self):
        """Takes what every record needs; says what is missing, empty for nothing."""
        if self.failed:
            return self.failed
        if self.context is None:
            return "no launch was seen"
        if 3 in self.refused:
            return f"sanitizerPatchInstructions gave {self.refused[3]}: the patches are not for this card"
        cu, count = C.CDLL("libcuda.so.1"), C.c_int()
        cu.cuDeviceGetAttribute(C.byref(count), 16, 0)
        self.slots = max(count.value, 1) * 64 * 32
        self.epochs = self.alloc(self.slots * 8)
        self.trace = self.alloc(C.sizeof(_Trace))
        self.events = self.alloc(EVENTS * EVENT.itemsize)
        self.map_table = self.alloc(MAPS * C.sizeof(_Map))
        self.infos = self.alloc(LAUNCHES * 2 * C.sizeof(_Launch))
        infos = (_Launch * (LAUNCHES * 2))()
        for n in range(LAUNCHES):
            for k in range(2):
                infos[n * 2 + k] = _Launch(self.trace, n, 1 + k)
        self.upload(self.infos, infos)
        return ""

    def alloc(self, size):
        at = C.c_void_p()
        self.check("sanitizerAlloc", self.context, C.byref(at), max(size, 16))
        return at.value

    def upload(self, to, structure):
        self.check("sanitizerMemcpyHostToDeviceAsync", to, C.byref(structure), C.sizeof(structure), self.stream)
        self.check("sanitizerStreamSynchronize", self.stream)

    def download(self, array, at):
        self.check("sanitizerMemcpyDeviceToHost", array.ctypes.data, at, array.nbytes, self.stream)
        return array

    def record(self, ranges, run, watch=None):
        """Runs with these ranges watched. watch names an operand's and a result's range
        and a byte: every access there becomes an event."""
        if len(ranges) > RANGES:
            raise Untraced(f"{len(ranges)} buffers, more than {RANGES}")
        t = _Trace(ranges=len(ranges), slots=self.slots, room=EVENTS, event=self.events, epoch=self.epochs, map=self.map_table)
        t.watch_range[:] = (NOTHING, NOTHING)
        words = []
        try:
            for k, r in enumerate(ranges):
                shift = max(min(r.width, 8).bit_length() - 1, 0)
                granules = (r.size + (1 << shift) - 1) >> shift
                at = self.alloc(granules * WORDS * 8)
                words.append((at, granules))
                # Of reads the greatest words count, of writes the least; OTHER is a least.
                self.check("sanitizerMemset", at, 255 if r.result else 0, max(granules, 1) * WORDS * 8, self.stream)
                t.range[k] = _Range(r.base, r.size, shift, r.result, at, granules)
            if watch:
                operand, result, byte = watch
                t.watch_range[:] = (operand, result)
                t.watch_at[:] = (byte >> t.range[operand].shift, byte >> t.range[result].shift)
            self.upload(self.trace, t)
            self.maps_sent = None
            self.check("sanitizerMemset", self.epochs, 0, self.slots * 8, self.stream)
            self.launches, self.streams, self.copies, self.count, self.failed = {}, set(), [], 0, ""
            self.encoded_now = []
            self.armed = True
            begin = time.perf_counter()
            try:
                run()
            finally:
                self.armed = False
            self.seconds = time.perf_counter() - begin
            if self.failed:
                raise Untraced(self.failed)
            return Record(self, t, ranges, words)
        finally:
            for at, _ in words:
                self.api.sanitizerFree(self.context, at)


class Record:
    """What one traced run left, on the host."""

    def __init__(self, tracer, sent, ranges, words):
        self.api = tracer.api
        got = _Trace()
        tracer.check("sanitizerMemcpyDeviceToHost", C.byref(got), tracer.trace, C.sizeof(got), tracer.stream)
        self.flags, self.outside = got.flags, list(got.outside)
        self.ranges, self.launches, self.copies = ranges, tracer.launches, tracer.copies
        self.streams, self.refused = len(tracer.streams), dict(tracer.refused)
        self.shifts = [sent.range[k].shift for k in range(len(ranges))]
        self.words = [tracer.download(np.empty((WORDS, n), np.uint64), at).T for at, n in words]
        self.events = tracer.download(np.empty(min(got.events, EVENTS), EVENT), tracer.events) if got.events else []
        self.many = tracer.count >= LAUNCHES
        # Instruction 44 (TMA_STORE) is accepted and never reported: seen with 13.5 on an
        # H100. Maps that were encoded before count where a kernel copies asynchronously.
        maps = tracer.maps.values() if self.flags & ASYNC else tracer.encoded_now
        self.mapped = {k for k, r in enumerate(ranges) if r.result and any(r.base <= m.base < r.base + r.size for m in maps)}
        for number, source, target, size in self.copies:
            self.copied(number, source, size, True)
            self.copied(number, target, size, False)

    def copied(self, number, at, size, reads):
        """A copy or fill that the handler asked for: one thread of a launch of its own."""
        for k, r in enumerate(self.ranges):
            first, last = max(at, r.base), min(at + size, r.base + r.size)
            if at == 0 or first >= last:
                continue
            w = self.words[k][(first - r.base) >> self.shifts[k]: ((last - 1 - r.base) >> self.shifts[k]) + 1]
            launch = np.uint64(number << 52)
            keys = [launch, launch | np.uint64(0xffffffff)] * 2 + [launch, launch | np.uint64(0 if reads else 1)]
            if reads == (not r.result):
                for n, key in enumerate(keys):
                    w[:, n] = np.maximum(w[:, n], key) if reads else np.minimum(w[:, n], key)
            else:
                w[:, OTHER] = (np.minimum if r.result else np.maximum)(w[:, OTHER], keys[TIME])

    def doubts(self):
        """What the words cannot follow, whatever they say."""
        out = [name for bit, name in FLAGS.items() if self.flags & bit and bit in (OVERFLOW, UNKNOWN_MAP, NO_SLOT, IM2COL, TENSOR_STORE)]
        if self.many:
            out.append(f"more than {LAUNCHES} launches")
        if self.flags & ASYNC and any(n in self.refused for n in TENSOR_COPIES):
            out.append("tensor copies, which the installed library cannot report")
        return out

    def judge(self, operand, result):
        """The verdict on an operand's and a result's range, byte k on byte k."""
        if doubts := self.doubts():
            return {"verdict": "unknown", "reason": "; ".join(doubts)}
        if result in self.mapped:
            return {"verdict": "unknown", "reason": "a tensor map of the result was encoded, and the library does not report tensor stores on this card"}
        if self.shifts[operand] != self.shifts[result]:
            return {"verdict": "unknown", "reason": "elements of different sizes"}
        if self.flags & PARTIAL_GRANULE:
            return {"verdict": "unknown", "reason": FLAGS[PARTIAL_GRANULE]}
        n = min(len(self.words[operand]), len(self.words[result]))
        r, w = self.words[operand][:n], self.words[result][:n]
        both = (r[:, BLOCK] != 0) & (w[:, BLOCK] != NOTHING)
        last, first = r[:, BLOCK] >> np.uint64(52), w[:, BLOCK] >> np.uint64(52)
        later = both & (last > first)
        same = both & (last == first)
        low = np.uint64(0xffffffff)
        groups = [r[:, BLOCK] & low, low - (r[:, BLOCK_TURNED] & low), w[:, BLOCK] & low, low - (w[:, BLOCK_TURNED] & low)]
        one = same & (groups[0] == groups[1]) & (groups[0] == groups[2]) & (groups[0] == groups[3])
        across = same & ~one
        if later.any():
            if self.streams > 1:
                return {"verdict": "unknown", "reason": "ordered between several streams"}
            return self.unsafe(later, operand, "a later launch reads a byte that an earlier one wrote")
        if across.any():
            if self.flags & (STRONG_READ | FETCH):
                return {"verdict": "unknown", "reason": "blocks may be ordered by waiting on memory: the kernel has " + self.named(STRONG_READ | FETCH)}
            return self.unsafe(across, operand, "one block reads a byte that another block writes, and nothing orders them")
        if self.streams > 1 and (both & (last < first)).any():
            return {"verdict": "unknown", "reason": "ordered between several streams"}
        return self.inside(r, w, one, operand)

    def inside(self, r, w, one, operand):
        """Bytes that one block alone reads and writes, in one launch."""
        low = np.uint64(0xffffffff)
        epoch = [(x[:, THREAD] >> np.uint64(32)) & np.uint64(0xfffff) for x in (r, w)]
        threads = [r[:, THREAD] & low, low - (r[:, THREAD_TURNED] & low), w[:, THREAD] & low, low - (w[:, THREAD_TURNED] & low)]
        after = one & (epoch[0] > epoch[1])
        level = one & (epoch[0] == epoch[1])
        single = level & (threads[0] == threads[1]) & (threads[0] == threads[2]) & (threads[0] == threads[3])
        wrong = single & (r[:, TIME] > w[:, TIME])
        if (after | wrong).any() and not self.flags & ASYNC:
            return self.unsafe(after | wrong, operand, "a thread reads a byte that was written before it, with nothing that could order them the other way")
        mixed = level & ~single
        warps = [t >> np.uint64(5) for t in threads]
        warp = mixed & (warps[0] == warps[1]) & (warps[0] == warps[2]) & (warps[0] == warps[3])
        ordered = warp & ((r[:, WARP] & low) < (w[:, WARP] & low))
        # A warp barrier where the lanes run together anyway leaves no instruction behind.
        hidden = warp & ~ordered & (r[:, TIME] < w[:, TIME])
        loose = mixed & ~ordered & ~hidden
        if self.flags & ASYNC and one.any():
            return {"verdict": "unknown", "reason": "inside a block, asynchronous copies are not followed to their waits"}
        if self.flags & CLUSTER and mixed.any():
            return {"verdict": "unknown", "reason": "cluster barriers are not followed"}
        if loose.any():
            if others := self.flags & (PARTIAL_BARRIER | MBARRIER | PARTIAL_WARP | STRONG_READ | FETCH):
                return {"verdict": "unknown", "reason": "threads of a block may be ordered by " + self.named(others)}
            return self.unsafe(loose, operand, "one thread of a block reads a byte that another writes, with no barrier between")
        if hidden.any():
            return {"verdict": "unknown", "reason": "lanes of a warp read before others write, ordered by no barrier that the machine code shows"}
        return {"verdict": "safe", "reason": "every traced read comes before the writes of the same bytes"}

    def named(self, flags):
        return ", ".join(name for bit, name in FLAGS.items() if flags & bit)

    def unsafe(self, where, operand, reason):
        at = np.flatnonzero(where)
        return {"verdict": "unsafe", "reason": reason, "granules": int(len(at)), "of": int(len(where)),
                "byte": int(at[len(at) // 2]) << self.shifts[operand]}

    def summary(self, operands):
        """What each buffer saw: operands that were written, results that were not, or
        that were read before anything was written there."""
        out = {"launches": [l["name"] for l in self.launches.values()][:64], "launched": len(self.launches), "copies": len(self.copies),
               "outside": self.outside, "features": [name for bit, name in FLAGS.items() if self.flags & bit], "buffers": []}
        for k, (r, w) in enumerate(zip(self.ranges, self.words)):
            main = w[:, BLOCK] != NOTHING if r.result else w[:, BLOCK] != 0
            other = w[:, OTHER] != (NOTHING if r.result else 0)
            b = {"granule": 1 << self.shifts[k], "granules": len(w),
                 "read_bytes": self.runs(k, other if r.result else main), "written_bytes": self.runs(k, main if r.result else other)}
            if r.result:
                first = other & (~main | (w[:, OTHER] < w[:, TIME]) & (w[:, BLOCK] & np.uint64(0xffffffff) == np.uint64(0xffffffff) - (w[:, BLOCK_TURNED] & np.uint64(0xffffffff))))
                b |= {"written": int(main.sum()), "read": int(other.sum()), "read_first": int(first.sum()),
                      "read_first_bytes": self.runs(k, first)}
            else:
                b |= {"read": int(main.sum()), "written": int(other.sum())}
            out["buffers"].append(b)
        return out

    def runs(self, k, mask):
        """The bytes of these granules as half-open intervals; None for too many."""
        edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
        if len(edges) > 2 * RUNS:
            return None
        bytes_ = np.minimum(edges << self.shifts[k], self.ranges[k].size)
        return bytes_.reshape(-1, 2).tolist()

    def witness(self, operand, result, byte):
        """A read of the operand and a write of the result at the watched byte: the last
        that reads and the first that writes, of different threads where there are such."""
        reads = self.accesses(operand, byte, 1)
        writes = self.accesses(result, byte, 2)
        for a in reads:
            for b in writes:
                if a["launch"] > b["launch"]:
                    return {"reader": a, "writer": b}
        for a in reads:
            for b in writes:
                if a["launch"] == b["launch"] and (a["block"], a["thread"]) != (b["block"], b["thread"]):
                    return {"reader": a, "writer": b}
        return {"reader": reads[-1], "writer": writes[0]} if reads and writes else None

    def accesses(self, which, byte, kind):
        out = [self.access(e) for e in self.events if e["where"] >> 56 == which and e["where"] >> 48 & kind]
        place = self.ranges[which].base + byte
        for number, source, target, size in self.copies:
            at = source if kind == 1 else target
            if at and at <= place < at + size:
                out.append({"copy": True, "launch": number, "block": [0, 0, 0], "thread": [0, 0, 0], "offset": -1})
        return out

    def access(self, e):
        number = int(e["launch"]) & 0xffffffff
        launch = self.launches.get(number)
        b, t = int(e["block"]), int(e["thread"])
        out = {"launch": number, "block": [b, 0, 0], "thread": [t, 0, 0], "offset": -1}
        if launch:
            (gx, gy, _), (bx, by, _) = launch["grid"], launch["block"]
            out |= {"kernel": launch["name"], "block": [b % gx, b // gx % gy, b // gx // gy],
                    "thread": [t % bx, t // bx % by, t // bx // by], "offset": self.offset(launch, int(e["pc"]))}
        return out

    def offset(self, launch, pc):
        """Where in its function an instruction stands, in bytes."""
        start, size = C.c_uint64(), C.c_uint64()
        if self.api.sanitizerGetFunctionPcAndSize(launch["module"], launch["name"].encode(), C.byref(start), C.byref(size)):
            return -1
        return pc - start.value if start.value <= pc < start.value + size.value else -1

"""More small JAX programs whose dumps the auditor reads; the form is that of `programs.py`.

    nvcc -ptx -arch=sm_90a warpkernels.cu; nvcc -ptx -arch=sm_90a bulkkernels.cu
    XLA_FLAGS="--xla_dump_to=..." python3 more.py all
"""
import os, sys, json, zlib
import numpy as np
import jax, jax.numpy as jnp
import triton
from triton.compiler import compiler as tc
from triton.backends.nvidia import compiler as cb
from triton.backends.nvidia import driver as nvidia
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/src/")
import tcall as T
from tcall import tcall
import kernels as K
import more_kernels as M

CD = triton.cdiv
T.DT["int8"] = "i8"
rng = np.random.default_rng(11)
X = jnp.asarray(rng.standard_normal((1024, 1024), dtype=np.float32))
V = jnp.asarray(rng.standard_normal((1 << 18,), dtype=np.float32))
W = jnp.asarray(rng.standard_normal((1 << 18,), dtype=np.float32))
G = jnp.asarray(rng.standard_normal((1 << 20,), dtype=np.float32))
AT = jnp.asarray(rng.integers(0, 1 << 20, (1 << 20,), dtype=np.int32))
I = jnp.asarray(rng.integers(-(1 << 31), 1 << 31, (1 << 18,), dtype=np.int64).astype(np.int32))
J = jnp.asarray(rng.integers(-(1 << 31), 1 << 31, (1 << 18,), dtype=np.int64).astype(np.int32))
SMALL = jnp.asarray(rng.integers(0, 512, (1 << 18,), dtype=np.int32))
D3 = jnp.asarray(rng.standard_normal((16, 128, 256), dtype=np.float32))
H = X[:512, :512].astype(jnp.float16)
B = X[:512, :512].astype(jnp.bfloat16)
PROG = {}


def prog(*args, ref=None, expect="", compile_only=False):
    def deco(f):
        PROG[f.__name__] = (f, args, ref, expect, compile_only)
        return f
    return deco


def each(k, args, outs, aliases=None, block=1024, const=None, **kw):
    """A kernel of one program a block of elements."""
    n = args[0].size
    return tcall(k, args, outs, (CD(n, block),), scalars={"n": n}, constexprs={"BLOCK": block, **(const or {})},
                 aliases=aliases, **kw)


def tma(x, stride, aliases=None, factor=2.0):
    r, c = x.shape
    return tcall(M.tma_scale_kernel, (x,), [(x.shape, x.dtype)], (r // 64, c // 64),
                 scalars={"rows": r, "cols": c, "stride": stride}, constexprs={"B": 64, "FACTOR": factor}, aliases=aliases)[0]


@prog(H, ref=lambda x: x * 2, expect="device-built descriptors of f16, strides known at run time only")
def tma_f16(x):
    return tma(x, x.shape[1])

@prog(B, ref=lambda x: (x + 1) * 2, expect="device-built descriptors of bf16, in place: safe")
def tma_bf16_inplace(x):
    return tma(x + 1, x.shape[1], {0: 0})

@prog(H, expect="rows 8 bytes apart: the driver refuses such a descriptor", compile_only=True)
def tma_f16_stride8(x):
    return tma(x, 4)


def tma3(x, stride):
    d, r, c = x.shape
    return tcall(M.tma_copy_3d_kernel, (x,), [(x.shape, x.dtype)], (d // 2, r // 32, c // 64),
                 scalars={"D": d, "R": r, "C": c, "row_stride": stride}, constexprs={"BR": 32, "BC": 64})[0]

@prog(D3, ref=lambda x: x, expect="device-built descriptors of a 3-D f32 tensor")
def tma_f32_3d(x):
    return tma3(x, x.shape[2])

@prog(D3, expect="the same with rows 8 bytes apart", compile_only=True)
def tma_f32_3d_stride8(x):
    return tma3(x, 2)


@triton.jit
def tma_host_kernel(x, y, B: triton.language.constexpr):
    r = triton.language.program_id(0) * B
    c = triton.language.program_id(1) * B
    y.store([r, c], x.load([r, c]))

def host_descriptors(x, stride):
    """A kernel whose descriptors jaxlib encodes: each takes one parameter of 128 bytes, then
    the shape and the strides that Triton passes beside it."""
    r, c = x.shape
    sig = {"x": "tensordesc<fp16[64,64]>", "y": "tensordesc<fp16[64,64]>", "B": "constexpr"}
    src = tc.ASTSource(fn=tma_host_kernel, constexprs={"B": 64}, signature=sig, attrs={})
    k = tc.compile(src, target=tc.GPUTarget("cuda", 90, 32), options=cb.CUDAOptions(num_warps=4).__dict__)
    params = []
    for meta, row in zip(k.metadata.tensordesc_meta, (stride, c)):
        kind = nvidia.TMA_DTYPE_DEVICE_TO_HOST[meta["elem_type"]]
        params.append(T.gpu_triton.create_tma_descriptor_parameter(kind, meta["swizzle"], [r, c], [row, 1], meta["block_size"], 0))
        params += [T.gpu_triton.create_scalar_parameter(v, "i32") for v in (r, c)]
        params += [T.gpu_triton.create_scalar_parameter(v, "i64") for v in (row, 1)]
    tk = T.gpu_triton.TritonKernel(k.name, 4, 1, k.metadata.shared, k.asm["ptx"], "", 90)
    call = T.gpu_triton.TritonKernelCall(tk, r // 64, c // 64, 1, params)
    return T.p.bind(x, outs=((x.shape, x.dtype),), opaque=zlib.compress(call.to_proto("tma_host_kernel", b"")), aliases=(), target="triton_kernel_call_ffi")[0]

@prog(H, ref=lambda x: x, expect="descriptors that jaxlib encodes on the host")
def tma_host(x):
    return host_descriptors(x, x.shape[1])

@prog(H, expect="the same with rows 8 bytes apart", compile_only=True)
def tma_host_stride8(x):
    return host_descriptors(x, 4)


def norm(x, **kw):
    return tcall(K.two_pass_norm_kernel, (x,), [(x.shape, x.dtype)], (x.shape[0],),
                 constexprs={"cols": x.shape[1], "BLOCK": 256}, aliases={0: 0}, **kw)[0]

def norm_ref(x):
    return x / jnp.sqrt((x * x).mean(1, keepdims=True) + 1e-6)

@prog(X, ref=lambda x: norm_ref(x + 1), expect="reads its row twice before it writes: safe in place")
def norm_inplace(x):
    return norm(x + 1)

@prog(X, ref=lambda x: norm_ref(x + 1), expect="the same, autotuned, the autotuner told rightly")
def norm_inplace_auto(x):
    return norm(x + 1, autotune=[({"BLOCK": 256}, 4), ({"BLOCK": 512}, 4), ({"BLOCK": 1024}, 8)], target="triton_kernel_call")

def rotary_ref(q, k, a):
    def turn(x):
        lo, hi = jnp.split(x, 2, 1)
        t = 1 - a * a
        return jnp.concatenate([lo * t - hi * a, hi * t + lo * a], 1)
    return turn(q + 1), turn(k - 1)

@prog(X, X * 0.5, X[:, :512] * 0.1, ref=rotary_ref, expect="two results, both in place: safe")
def rotary_two_results(q, k, a):
    return tuple(tcall(M.rotary_kernel, (q + 1, k - 1, a), [(q.shape, q.dtype), (k.shape, k.dtype)], (q.shape[0],),
                       constexprs={"HALF": 512}, aliases={0: 0, 1: 1}))


def raw(x, name, blocks, warps, aliases=None, file="warpkernels", ctas=1, out=None, zero=False):
    """A kernel of a PTX file; ctas is the number of blocks of a cluster."""
    out = out or (x.shape, x.dtype)
    ptx = open(file + ".ptx").read()
    tk = T.gpu_triton.TritonKernel(name, warps, ctas, 0, ptx, "", 90)
    params = [T.gpu_triton.create_array_parameter(0, 16),
              T.gpu_triton.create_array_parameter(int(np.prod(out[0])) * jnp.dtype(out[1]).itemsize if zero else 0, 16)]
    call = T.gpu_triton.TritonKernelCall(tk, blocks // ctas, 1, 1, params)
    return T.p.bind(x, outs=((tuple(out[0]), jnp.dtype(out[1])),), opaque=zlib.compress(call.to_proto(name, b"")),
                    aliases=tuple((aliases or {}).items()), target="triton_kernel_call_ffi")[0]

def turned(x):
    t = x.reshape(32, 32, 32, 32).transpose(0, 2, 1, 3)
    return jnp.rot90(t, -1, (2, 3)).transpose(0, 2, 1, 3).reshape(x.shape)

@prog(X, ref=lambda x: turned(x + 1), expect="tiles turned by shuffles, each by one warp: safe in place")
def shuffle_turn_inplace(x):
    return raw(x + 1, "shuffle_turn_kernel", 256, 4, {0: 0})

def flipped(v):
    return v.reshape(-1, 32)[:, ::-1].reshape(v.shape)

@prog(V, ref=lambda v: flipped(v + 1), expect="lanes write where others have read, and wait in between: safe in place")
def flip_ordered_inplace(v):
    return raw(v + 1, "flip_ordered_kernel", V.size // 256, 8, {0: 0})

@prog(V, ref=lambda v: flipped(v + 1), expect="the same with no order between the lanes: unsafe")
def flip_bare_inplace(v):
    return raw(v + 1, "flip_bare_kernel", V.size // 256, 8, {0: 0})

@prog(I, expect="votes, reductions and scans of a warp")
def votes(v):
    return raw(v, "votes_kernel", I.size // 256, 8)

def swapped(v):
    return v.reshape(-1, 2, 1024)[:, ::-1].reshape(v.shape)

@prog(V, ref=lambda v: swapped(v + 1), expect="blocks of a cluster swap their pieces, with a barrier of the cluster in between: safe in place")
def cluster_swap_inplace(v):
    return raw(v + 1, "cluster_swap_kernel", V.size // 1024, 8, {0: 0}, "bulkkernels", 2)

@prog(V, ref=lambda v: swapped(v + 1), expect="the same without the barrier: unsafe")
def cluster_swap_bare_inplace(v):
    return raw(v + 1, "cluster_swap_bare_kernel", V.size // 1024, 8, {0: 0}, "bulkkernels", 2)

@prog(V, ref=lambda v: v.reshape(-1, 2, 256)[:, ::-1, ::-1].reshape(v.shape), expect="a block reads its neighbour's shared memory")
def cluster_shared(v):
    return raw(v, "cluster_shared_kernel", V.size // 256, 8, None, "bulkkernels", 2)

@prog(V, ref=lambda v: (v + 1) * 2, expect="bulk copies in and out, in place: safe")
def bulk_double_inplace(v):
    return raw(v + 1, "bulk_double_kernel", V.size // 1024, 4, {0: 0}, "bulkkernels")

@prog(I, expect="integer atomics of every kind into a zeroed result")
def atomics_zeroed(v):
    return raw(v, "atomics_kernel", I.size // 256, 8, None, "bulkkernels", out=((288,), jnp.int32), zero=True)

@prog(I, expect="local memory and a function")
def local_memory(v):
    return raw(v, "local_kernel", I.size // 256, 8, None, "bulkkernels")

@prog(B, ref=lambda x: x.T, expect="a transpose of bf16: matrix loads and stores of shared memory")
def transpose_bf16(x):
    return tcall(K.transpose_kernel, (x,), [(x.shape, x.dtype)], (8, 8), constexprs={"R": 512, "C": 512, "B": 64})[0]

def scan_ref(v):
    s = jnp.cumsum(v + 1)
    return jnp.concatenate([s[1:], s[-1:]])

@prog(SMALL, ref=scan_ref, expect="decoupled look-back: only waiting for memory orders the blocks: unknown")
def lookback_scan_inplace(v):
    n = v.size
    return tcall(M.lookback_scan_kernel, (v + 1,), [(v.shape, v.dtype), ((n // 1024,), jnp.int64)], (n // 1024,),
                 scalars={"n": n}, constexprs={"BLOCK": 1024}, aliases={0: 0}, zero=(2,))[0]

def centred(x):
    return x - x.mean(1, keepdims=True)

@prog(X[:, :1000], ref=lambda x: centred(x + 1), expect="a pipeline of masked asynchronous copies, in place: safe")
def masked_pipeline_inplace(x):
    return tcall(M.masked_pipeline_kernel, (x + 1,), [(x.shape, x.dtype)], (x.shape[0],),
                 constexprs={"cols": 1000, "BLOCK": 256}, num_warps=2, aliases={0: 0})[0]

@prog(SMALL, SMALL[:512], ref=lambda i, c: jnp.bincount(i, length=512).astype(jnp.int32), expect="the in-out operand is zeroed first: its old contents are dropped on purpose")
def counts_zeroed_inout(i, c):
    return each(M.count_kernel, (i, c + 1), [(c.shape, c.dtype)], {1: 0}, zero=(1,))[0]

@prog(SMALL, SMALL[:512], ref=lambda i, c: jnp.bincount(i, length=512).astype(jnp.int32) + c + 1, expect="the same without zeroing: counts on")
def counts_added_inout(i, c):
    return each(M.count_kernel, (i, c + 1), [(c.shape, c.dtype)], {1: 0})[0]

@prog(SMALL, SMALL[:512], ref=lambda i, c: jnp.bincount(i, length=512).astype(jnp.int32), expect="zeroed in every trial: that the autotuner is not told costs nothing")
def counts_zeroed_auto_untold(i, c):
    return each(M.count_kernel, (i, c + 1), [(c.shape, c.dtype)], {1: 0}, zero=(1,), autotune=[({}, 4), ({}, 8)],
                autotune_alias="none", target="triton_kernel_call")[0]

@prog(SMALL, SMALL[:512], ref=lambda i, c: jnp.bincount(i, length=512).astype(jnp.int32) + c + 1, expect="not zeroed: every trial counts on")
def counts_added_auto_untold(i, c):
    return each(M.count_kernel, (i, c + 1), [(c.shape, c.dtype)], {1: 0}, autotune=[({}, 4), ({}, 8)],
                autotune_alias="none", target="triton_kernel_call")[0]

@prog(G, AT, ref=lambda x, a: x[a], expect="a random gather of 2^20 floats")
def gather_random(x, a):
    n = x.size
    return tcall(M.gather_kernel, (x, a), [(x.shape, x.dtype)], (CD(n, 1024),), scalars={"n": n}, constexprs={"BLOCK": 1024})[0]

@prog(X, ref=lambda x: jnp.cumsum(x + 1, 1), expect="prefix sums of rows, in place: safe")
def scan_rows_inplace(x):
    return tcall(M.scan_rows_kernel, (x + 1,), [(x.shape, x.dtype)], (x.shape[0],), constexprs={"cols": 1024}, aliases={0: 0})[0]

@prog(I.reshape(1024, 256), ref=lambda x: jnp.sort(x + 1, 1), expect="rows sorted by shuffles, in place: safe")
def sort_rows_inplace(x):
    return tcall(M.sort_rows_kernel, (x + 1,), [(x.shape, x.dtype)], (x.shape[0],), constexprs={"cols": 256}, aliases={0: 0})[0]

@prog(X, ref=lambda x: x.sum(0), expect="floats added atomically: the last bits change from run to run")
def column_sums_atomic(x):
    return tcall(M.column_sums_kernel, (x,), [((x.shape[1],), x.dtype)], (x.shape[0] // 8,), constexprs={"cols": 1024, "ROWS": 8}, zero=(1,))[0]

@prog(I, J, expect="integers of every width")
def int_mix(a, b):
    return tuple(each(M.int_mix_kernel, (a, b), [(a.shape, jnp.int32), (a.shape, jnp.int64)]))

@prog(V, W, expect="floats: exactly rounded, and approximated")
def float_mix(a, b):
    return tuple(each(M.float_mix_kernel, (a, b), [(a.shape, a.dtype), (a.shape, a.dtype)]))

@prog(V.astype(jnp.float16), W.astype(jnp.bfloat16), expect="f16 and bf16")
def half_mix(a, b):
    return tuple(each(M.half_mix_kernel, (a, b), [(a.shape, a.dtype), (a.shape, b.dtype)]))

@prog(V, expect="f8e5m2, made of f32 and read again")
def fp8(a):
    return tuple(each(M.fp8_kernel, (a,), [(a.shape, jnp.int8), (a.shape, a.dtype)]))

@prog(V, expect="f64")
def double_mix(a):
    return each(M.double_mix_kernel, (a,), [(a.shape, jnp.float64)])[0]


def wrong(got, want):
    """The share of elements that differ by over a hundredth of the largest, over all results."""
    bad = of = 0
    for y, r in zip(jax.tree.leaves(got), jax.tree.leaves(want)):
        y, r = np.asarray(y, np.float64), np.asarray(r, np.float64)
        bad += int((np.abs(y - r) > 1e-2 * np.abs(r).max()).sum())
        of += r.size
    return bad / of


def run(name):
    f, args, ref, expect, compile_only = PROG[name]
    if compile_only:
        jax.jit(f).lower(*args).compile()
        return dict(compiled=True, expect=expect)
    want = jax.jit(ref)(*args) if ref else None
    shares, outs = [], []
    for _ in range(3):
        mine = [jnp.array(a) for a in args]
        out = jax.block_until_ready(jax.jit(f)(*mine))
        outs.append([np.asarray(o).tobytes() for o in jax.tree.leaves(out)])
        if ref:
            shares.append(wrong(out, want))
    return dict(wrong=shares, same_bits=outs[0] == outs[1] == outs[2], expect=expect)


def main():
    jax.config.update("jax_enable_x64", True)
    names = sys.argv[1].split(",") if len(sys.argv) > 1 and sys.argv[1] != "all" else list(PROG)
    for name in names:
        try:
            print(name, json.dumps(run(name)), flush=True)
        except Exception as e:
            print(name, json.dumps(dict(error=(type(e).__name__ + ": " + str(e))[:600])), flush=True)


if __name__ == "__main__":
    main()

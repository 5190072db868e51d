"""More Triton kernels of the lab's own, for `more.py`."""
import triton
import triton.language as tl


@triton.jit
def tma_scale_kernel(x, y, rows, cols, stride, B: tl.constexpr, FACTOR: tl.constexpr):
    """stride, in elements, is that of x's rows: a multiple of 16 bytes, or the driver refuses."""
    dx = tl.make_tensor_descriptor(x, shape=[rows, cols], strides=[stride, 1], block_shape=[B, B])
    dy = tl.make_tensor_descriptor(y, shape=[rows, cols], strides=[cols, 1], block_shape=[B, B])
    r = tl.program_id(0) * B
    c = tl.program_id(1) * B
    dy.store([r, c], dx.load([r, c]) * FACTOR)


@triton.jit
def tma_copy_3d_kernel(x, y, D, R, C, row_stride, BR: tl.constexpr, BC: tl.constexpr):
    dx = tl.make_tensor_descriptor(x, shape=[D, R, C], strides=[R * C, row_stride, 1], block_shape=[2, BR, BC])
    dy = tl.make_tensor_descriptor(y, shape=[D, R, C], strides=[R * C, C, 1], block_shape=[2, BR, BC])
    at = [tl.program_id(0) * 2, tl.program_id(1) * BR, tl.program_id(2) * BC]
    dy.store(at, dx.load(at))


@triton.jit
def rotary_kernel(q, k, angle, q_out, k_out, HALF: tl.constexpr):
    """Two results; each element is read and written by one thread: safe in place."""
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, HALF)
    lo = r * 2 * HALF + c
    hi = lo + HALF
    s = tl.load(angle + r * HALF + c)
    t = 1.0 - s * s
    a = tl.load(q + lo)
    b = tl.load(q + hi)
    tl.store(q_out + lo, a * t - b * s)
    tl.store(q_out + hi, b * t + a * s)
    a = tl.load(k + lo)
    b = tl.load(k + hi)
    tl.store(k_out + lo, a * t - b * s)
    tl.store(k_out + hi, b * t + a * s)


@triton.jit
def lookback_scan_kernel(x, y, state, n, BLOCK: tl.constexpr):
    """Prefix sums without their first term, in one pass over the blocks. A block's first
    store lands in the block before it, which has read by then: only the waiting says so."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + i, mask=m, other=0)
    total = tl.sum(v, axis=0).to(tl.int64) & 0xFFFFFFFF
    tl.debug_barrier()
    tl.atomic_xchg(state + pid, (tl.full([], 1, tl.int64) << 32) | total)
    before = tl.zeros([], dtype=tl.int64)
    j = pid - 1
    while j >= 0:
        word = tl.atomic_add(state + j, tl.zeros([], dtype=tl.int64))
        flag = word >> 32
        if flag != 0:
            before += word & 0xFFFFFFFF
            j = tl.where(flag == 2, -1, j - 1)
    before = before & 0xFFFFFFFF
    tl.atomic_xchg(state + pid, (tl.full([], 2, tl.int64) << 32) | ((before + total) & 0xFFFFFFFF))
    s = before.to(tl.int32) + tl.cumsum(v, axis=0)
    tl.store(y + i - 1, s, mask=m & (i > 0))
    tl.store(y + i, s, mask=i == n - 1)


@triton.jit
def masked_pipeline_kernel(x, y, cols: tl.constexpr, BLOCK: tl.constexpr):
    """Copies its row ahead of itself, the last piece by a mask; writes what it has read."""
    r = tl.program_id(0).to(tl.int64)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for s in tl.range(0, cols, BLOCK, num_stages=3):
        c = s + tl.arange(0, BLOCK)
        acc += tl.load(x + r * cols + c, mask=c < cols, other=0.0)
    mean = tl.sum(acc, axis=0) / cols
    for s in tl.range(0, cols, BLOCK, num_stages=3):
        c = s + tl.arange(0, BLOCK)
        v = tl.load(x + r * cols + c, mask=c < cols, other=0.0)
        tl.store(y + r * cols + c, v - mean, mask=c < cols)


@triton.jit
def count_kernel(ids, counts, n, BLOCK: tl.constexpr):
    """Has no pointer for its result: it counts into its operand, which is zeroed first."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.atomic_add(counts + tl.load(ids + i, mask=m, other=0), 1, mask=m)


@triton.jit
def gather_kernel(x, at, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(y + i, tl.load(x + tl.load(at + i, mask=m, other=0), mask=m), mask=m)


@triton.jit
def scan_rows_kernel(x, y, cols: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, cols)
    tl.store(y + r * cols + c, tl.cumsum(tl.load(x + r * cols + c), axis=0))


@triton.jit
def sort_rows_kernel(x, y, cols: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, cols)
    tl.store(y + r * cols + c, tl.sort(tl.load(x + r * cols + c)))


@triton.jit
def column_sums_kernel(x, y, cols: tl.constexpr, ROWS: tl.constexpr):
    """Adds floats atomically: the last bits depend on the order of the blocks."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, cols)
    v = tl.load(x + r[:, None] * cols + c[None, :])
    tl.atomic_add(y + c, tl.sum(v, axis=0))


@triton.jit
def int_mix_kernel(a, b, y, z, n, BLOCK: tl.constexpr):
    """Integers of every width: what a GPU gives, bit for bit."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    u = tl.load(a + i, mask=m, other=1)
    v = tl.load(b + i, mask=m, other=1)
    d = tl.where(v == 0, 1, v)
    w = (u // d) ^ (u % d) ^ (u << (v & 31)) ^ (u >> (v & 31))
    w += tl.minimum(u, v) - tl.maximum(u, v) + tl.abs(u)
    w ^= tl.umulhi(u.to(tl.uint32), v.to(tl.uint32)).to(tl.int32)
    w ^= (u.to(tl.uint32) // (d.to(tl.uint32) | 1)).to(tl.int32)
    w += u.to(tl.int8).to(tl.int32) * v.to(tl.int16).to(tl.int32)
    w ^= (u.to(tl.uint32) >> 7).to(tl.uint8).to(tl.int32)
    tl.store(y + i, tl.where((u > v) & (u != 5) | (v <= 3), w, ~w), mask=m)
    p = u.to(tl.int64) * v.to(tl.int64)
    q = (p // (d.to(tl.int64) * 3)) ^ (p % 1000003) ^ (p >> (v & 63).to(tl.int64)) ^ (p << 5)
    tl.store(z + i, q, mask=m)


@triton.jit
def float_mix_kernel(a, b, y, z, n, BLOCK: tl.constexpr):
    """y: what IEEE rounds in one way; z: what the GPU approximates."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    u = tl.load(a + i, mask=m, other=1.0)
    v = tl.load(b + i, mask=m, other=1.0)
    w = tl.fma(u, v, u - v) * tl.minimum(u, v) + tl.maximum(u, -v)
    w += tl.div_rn(u, v + 2.0) + tl.sqrt_rn(tl.abs(u)) - tl.floor(v * 8.0) + tl.ceil(u * 8.0)
    w += u.to(tl.float16).to(tl.float32) + v.to(tl.bfloat16).to(tl.float32)
    w += (u * 1000.0).to(tl.int32).to(tl.float32)
    tl.store(y + i, tl.where(u < v, w, -w), mask=m)
    s = tl.exp(u) + tl.exp2(v) + tl.log(tl.abs(u) + 1.5) + tl.log2(tl.abs(v) + 1.5)
    tl.store(z + i, s + tl.rsqrt(tl.abs(u) + 0.5) + u / (v + 2.0) + tl.sigmoid(v) + tl.erf(u), mask=m)


@triton.jit
def half_mix_kernel(a, b, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    u = tl.load(a + i, mask=m, other=1.0)
    v = tl.load(b + i, mask=m, other=1.0)
    tl.store(y + i, u * v.to(tl.float16) + u - tl.maximum(u, v.to(tl.float16)), mask=m)
    tl.store(z + i, v * u.to(tl.bfloat16) + tl.minimum(v, u.to(tl.bfloat16)), mask=m)


@triton.jit
def double_mix_kernel(a, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    u = tl.load(a + i, mask=m, other=1.0).to(tl.float64)
    w = tl.fma(u, u, 0.25) / (u + 3.0) + tl.sqrt(tl.abs(u)) - tl.floor(u * 7.0)
    tl.store(y + i, tl.where(u > 0, w, u.to(tl.int64).to(tl.float64) - w), mask=m)


@triton.jit
def fp8_kernel(a, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    u = (tl.load(a + i, mask=m, other=1.0) * 300).to(tl.float8e5)
    tl.store(y + i, u.to(tl.int8, bitcast=True), mask=m)
    tl.store(z + i, u.to(tl.float32), mask=m)

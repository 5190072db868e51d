// What the card runs before each access of a traced kernel: notes, per granule of
// every watched buffer, who read it last and who wrote it first.
//
// Loaded by NVIDIA's Compute Sanitizer API (sanitizer_patching.h) into the user's own
// process; the layout of the structs is repeated in python/trace.py. A granule is a
// power of two of bytes. Keys are 64-bit words that atomicMax and atomicMin keep in
// order: launch, then what tells blocks, barriers or threads apart. Two words, one of
// them with its lower part turned round, give the least and the greatest.
//
// In place, a byte is safe where its last read comes before its first write: so the
// last launch that reads and the first that writes are all that counts.
#include <sanitizer_patching.h>

typedef unsigned long long u64;

// Words of a granule.
enum { BLOCK, BLOCK_TURNED, THREAD, THREAD_TURNED, WARP, TIME, OTHER, WORDS };

struct Range {
  u64 base, size;  // bytes
  u64 shift;       // log2 of the granule's bytes
  u64 result;      // 1: the words tell of writes, else of reads
  u64* words;      // WORDS lists of a word a granule: a warp's neighbours stay neighbours
  u64 granules;
};

// What a TMA descriptor means: the bytes as the driver encoded them, and its numbers.
struct Map {
  u64 bytes[16];
  u64 base;
  u64 rank, element;           // element: bytes
  u64 dims[5], strides[5];     // strides in bytes, strides[0] = element
  u64 box[5], steps[5];
};

// What a kernel did that the words cannot follow (see trace.py).
enum {
  PARTIAL_BARRIER = 1, MBARRIER = 2, STRONG_READ = 4, FETCH = 8, ASYNC = 16,
  CLUSTER = 32, OVERFLOW = 64, UNKNOWN_MAP = 128, PARTIAL_GRANULE = 256,
  NO_SLOT = 512, PARTIAL_WARP = 1024, IM2COL = 2048, TENSOR_STORE = 4096,
};

struct Event { u64 pc, where, block, thread, launch, time; };  // where: range << 56 | flags << 48 | offset

struct Trace {
  u64 ranges, maps, slots;
  u64 flags;
  u64 outside[2];     // accesses to global memory outside of all ranges: reads, writes
  u64 outsideFirst[4];  // address and pc of the first read and the first write outside
  u64 accesses;
  u64 watchRange[2], watchAt[2];  // granules whose accesses become events
  u64 events, room;
  Event* event;
  uint2* epoch;  // by SM, warp slot and lane: block barriers, warp barriers
  Map* map;
  Range range[64];
};

struct Launch { Trace* trace; u64 number, cluster; };

static __device__ __forceinline__ unsigned lane() { unsigned v; asm volatile("mov.u32 %0, %%laneid;" : "=r"(v)); return v; }
static __device__ __forceinline__ unsigned thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
static __device__ __forceinline__ unsigned block() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

static __device__ __forceinline__ uint2* slot(Trace* t) {
  unsigned sm, warp;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  u64 n = ((u64)sm * 64 + warp) * 32 + lane();
  if (n >= t->slots) { atomicOr(&t->flags, (u64)NO_SLOT); n = 0; }
  return t->epoch + n;
}

static __device__ __forceinline__ void note(Trace* t, u64 flag) {
  if (!(*(volatile u64*)&t->flags & flag)) atomicOr(&t->flags, flag);
}

// group is the block, or the cluster of a launch with clusters; member the thread
// in it.
static __device__ __forceinline__ void place(const Launch* l, u64* group, u64* member) {
  *group = block();
  *member = thread();
#if __CUDA_ARCH__ >= 900
  if (l->cluster > 1) {
    unsigned x, y, z, nx, ny, rank;
    asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(x));
    asm volatile("mov.u32 %0, %%clusterid.y;" : "=r"(y));
    asm volatile("mov.u32 %0, %%clusterid.z;" : "=r"(z));
    asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(nx));
    asm volatile("mov.u32 %0, %%nclusterid.y;" : "=r"(ny));
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    *group = x + nx * (y + (u64)ny * z);
    *member += 1024 * rank;
  }
#endif
}

static const u64 LOW32 = 0xffffffffull;

// granules notes one access of a range: bytes [from, from+size).
static __device__ void granules(Launch* l, u64 pc, int k, u64 from, u64 size, bool reads, bool writes) {
  Trace* t = l->trace;
  Range* r = &t->range[k];
  u64 group, member;
  place(l, &group, &member);
  uint2 epoch = *slot(t);
  if (epoch.x >= (1u << 20) || epoch.y >= (1u << 20)) note(t, OVERFLOW);
  const u64 launch = l->number << 52;  // 12 bits
  const u64 time = launch | ((u64)clock64() & ((1ull << 52) - 1));
  const u64 barrier = (u64)(epoch.x & 0xfffff) << 32;
  const u64 keys[5] = {
      launch | group, launch | (LOW32 - group), launch | barrier | member, launch | barrier | (LOW32 - member),
      launch | barrier | epoch.y};
  const bool main = r->result ? writes : reads, other = r->result ? reads : writes;
  const u64 size1 = 1ull << r->shift;
  if ((from | size) & (size1 - 1)) note(t, PARTIAL_GRANULE);
  const u64 end = (from + size - 1) >> r->shift;
#pragma unroll 1
  for (u64 g = from >> r->shift; g <= end; g++) {
    u64* w = r->words + g;
    if (main && r->result) {
      for (int i = 0; i < 5; i++) atomicMin(w + i * r->granules, keys[i]);
      atomicMin(w + TIME * r->granules, time);
    } else if (main) {
      for (int i = 0; i < 5; i++) atomicMax(w + i * r->granules, keys[i]);
      atomicMax(w + TIME * r->granules, time);
    }
    // Of a result the first read, of an operand the last write.
    if (other && r->result) atomicMin(w + OTHER * r->granules, time);
    else if (other) atomicMax(w + OTHER * r->granules, time);
    for (int i = 0; i < 2; i++) {
      if (t->watchRange[i] != (u64)k || t->watchAt[i] != g) continue;
      u64 n = atomicAdd(&t->events, 1ull);
      if (n >= t->room) continue;
      t->event[n] = {pc, (u64)k << 56 | (u64)(reads ? 1 : 0) << 48 | (u64)(writes ? 2 : 0) << 48 | from,
                     block(), thread(), l->number | (u64)epoch.x << 32, time};
    }
  }
}

// touch notes an access in every range that it begins in: a run with a pair in one place
// has the place twice, as the operand and as the result.
static __device__ void touch(Launch* l, u64 pc, u64 address, u64 size, bool reads, bool writes) {
  Trace* t = l->trace;
  if (size == 0) return;
  bool known = false;
#pragma unroll 1
  for (int k = 0; k < (int)t->ranges; k++) {
    u64 at = address - t->range[k].base;
    if (at >= t->range[k].size) continue;
    u64 inside = t->range[k].size - at;
    granules(l, pc, k, at, size < inside ? size : inside, reads, writes);
    known = true;
  }
  if (known) return;
  if (reads && atomicAdd(&t->outside[0], 1ull) == 0) { t->outsideFirst[0] = address; t->outsideFirst[1] = pc; }
  if (writes && atomicAdd(&t->outside[1], 1ull) == 0) { t->outsideFirst[2] = address; t->outsideFirst[3] = pc; }
}

#define PATCH(name, ...)                                                                       \
  extern "C" __device__ __noinline__ SanitizerPatchResult name(void* data, uint64_t pc, ##__VA_ARGS__)
#define TRACED                                                                                 \
  Launch* l = (Launch*)data;                                                                   \
  if (!l) return SANITIZER_PATCH_SUCCESS;                                                      \
  Trace* t = l->trace;                                                                         \
  (void)t;

PATCH(ac_enter) {
  TRACED
  *slot(t) = make_uint2(0, 0);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH(ac_memory, void* address, uint32_t size, uint32_t flags, const void* value) {
  TRACED
  if (flags & SANITIZER_MEMORY_DEVICE_FLAG_PREFETCH) return SANITIZER_PATCH_SUCCESS;
  bool reads = flags & SANITIZER_MEMORY_DEVICE_FLAG_READ, writes = flags & SANITIZER_MEMORY_DEVICE_FLAG_WRITE;
  if (flags & (SANITIZER_MEMORY_DEVICE_FLAG_SCOPE_GPU | SANITIZER_MEMORY_DEVICE_FLAG_SCOPE_SYS)) {
    if (reads && !writes) note(t, STRONG_READ);
    if (reads && writes && !(flags & SANITIZER_MEMORY_DEVICE_FLAG_ATOMIC_WRITE_ONLY)) note(t, FETCH);
  }
  touch(l, pc, (u64)address, size, reads, writes);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH(ac_barrier, uint32_t index, uint32_t count, uint32_t flags) {
  TRACED
  if (count != 0 && count < blockDim.x * blockDim.y * blockDim.z) note(t, PARTIAL_BARRIER);
  else slot(t)->x++;
  return SANITIZER_PATCH_SUCCESS;
}

PATCH(ac_syncwarp, uint32_t mask) {
  TRACED
  unsigned rest = blockDim.x * blockDim.y * blockDim.z - (thread() & ~31u);
  unsigned full = rest >= 32 ? ~0u : (1u << rest) - 1;
  if ((mask & full) != full) note(t, PARTIAL_WARP);
  else slot(t)->y++;
  return SANITIZER_PATCH_SUCCESS;
}

PATCH(ac_shuffle) {
  TRACED
  slot(t)->y++;
  return SANITIZER_PATCH_SUCCESS;
}

PATCH(ac_mbarrier, void* barrier, uint32_t kind, uint32_t value, uint32_t result, uint32_t flags, uint32_t mask) {
  TRACED
  note(t, MBARRIER);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH(ac_cluster) {
  TRACED
  note(t, CLUSTER);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH(ac_copy, void* from, uint32_t to, uint32_t size, uint32_t zeroed) {
  TRACED
  note(t, ASYNC);
  touch(l, pc, (u64)from, size - zeroed, true, false);
  return SANITIZER_PATCH_SUCCESS;
}

// A bulk operation is one of the warp's: every active thread brings the same values,
// and the first of them notes it.
static __device__ __forceinline__ bool leads() { return __ffs(__activemask()) - 1 == (int)lane(); }

PATCH(ac_bulk_load, uint64_t from, uint32_t to, uint32_t barrier, uint32_t sizes, uint32_t multicast) {
  TRACED
  note(t, ASYNC);
  if (leads()) touch(l, pc, from, (u64)(sizes & 0xffff) * 16, true, false);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH(ac_bulk_store, uint64_t to, uint32_t from, uint32_t sizes, uint32_t masked) {
  TRACED
  note(t, masked ? ASYNC | PARTIAL_GRANULE : ASYNC);
  if (leads()) touch(l, pc, to, (u64)(sizes & 0xffff) * 16, false, true);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH(ac_bulk_reduce, uint64_t to, uint32_t from, uint32_t blocks) {
  TRACED
  note(t, ASYNC);
  if (leads()) touch(l, pc, to, (u64)blocks * 16, true, true);
  return SANITIZER_PATCH_SUCCESS;
}

// box notes the bytes of a tiled tensor copy: what lies outside of the tensor is
// neither read nor written.
static __device__ void box(Launch* l, u64 pc, u64 address, const int* at, bool reads, bool writes) {
  Trace* t = l->trace;
  const Map* m = nullptr;
  const u64* bytes = (const u64*)address;
#pragma unroll 1
  for (int k = 0; k < (int)t->maps && !m; k++) {
    bool same = true;
    for (int i = 0; i < 16 && same; i++) same = bytes[i] == t->map[k].bytes[i];
    if (same) m = &t->map[k];
  }
  if (!m) { note(t, UNKNOWN_MAP); return; }
  u64 rows = 1;
  for (int d = 1; d < (int)m->rank; d++) rows *= m->box[d];
  int first = at[0] < 0 ? 0 : at[0];
  int end = at[0] + (int)m->box[0] < (int)m->dims[0] ? at[0] + (int)m->box[0] : (int)m->dims[0];
  if (end <= first) return;
#pragma unroll 1
  for (u64 row = 0; row < rows; row++) {
    u64 rest = row, from = m->base + (u64)first * m->element;
    bool inside = true;
    for (int d = 1; d < (int)m->rank; d++) {
      long long c = (long long)at[d] + (long long)(rest % m->box[d]);
      rest /= m->box[d];
      inside = inside && c >= 0 && c < (long long)m->dims[d];
      from += (u64)c * m->strides[d];
    }
    if (inside) touch(l, pc, from, (u64)(end - first) * m->element, reads, writes);
  }
}

PATCH(ac_tensor_load, uint64_t map, uint32_t to, uint32_t barrier, int32_t c0, int32_t c1, int32_t c2, int32_t c3,
      int32_t c4, uint32_t dim, uint32_t multicast, uint32_t mask, uint32_t mode) {
  TRACED
  note(t, ASYNC);
  if (mode != SANITIZER_LOAD_TILED) note(t, IM2COL);
  int at[5] = {c0, c1, c2, c3, c4};
  if (leads()) box(l, pc, map, at, true, false);
  return SANITIZER_PATCH_SUCCESS;
}

// The header of 13.5 names no type for the callback of tensor stores, and on an H100
// with driver 580 it was never called: where it is, the stores are known to be missed.
PATCH(ac_tensor_store) {
  TRACED
  note(t, ASYNC | TENSOR_STORE);
  return SANITIZER_PATCH_SUCCESS;
}

// What threads stored becomes visible to bulk and tensor copies.
PATCH(ac_fence, uint32_t flags) {
  TRACED
  note(t, ASYNC);
  return SANITIZER_PATCH_SUCCESS;
}

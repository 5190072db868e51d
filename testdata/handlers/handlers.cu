// Typed-FFI handlers in look-alike pairs, for the engine that replays and traces calls
// whose kernels are not in a dump. What each may do in place is in handlers.py.
#include <cooperative_groups.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include <string_view>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;
namespace cg = cooperative_groups;
using In = ffi::Buffer<ffi::F32>;
using Out = ffi::ResultBuffer<ffi::F32>;
using IntIn = ffi::Buffer<ffi::S32>;
using IntOut = ffi::ResultBuffer<ffi::S32>;
constexpr int B = 256;  // threads of a block

static ffi::Error Done() {
  cudaError_t e = cudaGetLastError();
  return e == cudaSuccess ? ffi::Error::Success() : ffi::Error::Internal(cudaGetErrorString(e));
}
__device__ inline long at() { return blockIdx.x * (long)blockDim.x + threadIdx.x; }

__global__ void scale(const float* x, float* y, long n, float f) { long i = at(); if (i < n) y[i] = x[i] * f; }
__global__ void reverse(const float* x, float* y, long n, float f) { long i = at(); if (i < n) y[i] = x[n - 1 - i] * f; }
template <bool kTurn>
__global__ void tile(const float* x, float* y, int n) {
  __shared__ float t[32][33];
  long bx = blockIdx.x * 32, by = blockIdx.y * 32;
  for (int j = threadIdx.y; j < 32; j += 8) t[j][threadIdx.x] = x[(by + j) * n + bx + threadIdx.x];
  __syncthreads();
  if (kTurn)
    for (int j = threadIdx.y; j < 32; j += 8) y[(bx + j) * n + by + threadIdx.x] = t[threadIdx.x][j];
  else
    for (int j = threadIdx.y; j < 32; j += 8) y[(by + j) * n + bx + threadIdx.x] = t[j][threadIdx.x];
}
template <bool kBarrier>
__global__ void flip(const float* x, float* y) {
  long row = blockIdx.x * (long)B;
  float v = x[row + B - 1 - threadIdx.x];
  if (kBarrier) __syncthreads();
  y[row + threadIdx.x] = v;
}
__global__ void difference(const float* x, float* y, long n) { long i = at(); if (i < n) y[i] = x[i] - x[n - 1 - i]; }
__global__ void both(const float* x, float* y, float* z, long n, bool turn) {
  long i = at();
  if (i >= n) return;
  float v = x[i], w = turn ? x[n - 1 - i] : v;
  y[i] = 2 * v;
  z[i] = 3 * w;
}
template <bool kSync>
__global__ void together(const float* x, float* y, long n) {
  float keep[64];
  long step = (long)gridDim.x * blockDim.x;
  int k = 0;
  for (long i = at(); i < n && k < 64; i += step) keep[k++] = x[n - 1 - i];
  if (kSync) cg::this_grid().sync();
  k = 0;
  for (long i = at(); i < n && k < 64; i += step) y[i] = keep[k++];
}
__global__ void count(const int* x, int* y, long n) { long i = at(); if (i < n) atomicAdd(y + (x[i] * 7 + 1) % n, 1); }
__global__ void exchange(const int* x, int* y, long n) { long i = at(); if (i < n) { int v = x[i]; atomicExch(y + i, 2 * v); } }
__global__ void forever(const float* x, float* y, long n) { while (*(volatile const float*)x >= 0 || *(volatile const float*)x < 0) {} y[0] = 1; }
__global__ void stray(const float* x, float* y, long n) { long i = at(); if (i < n) *(float*)(16 + 4 * i) = x[i]; }
__global__ void clear(float* x, float* y, long n) { long i = at(); if (i < n) { y[i] = x[i]; x[i] = 0; } }
__global__ void halved(const float* x, float* y, long n) { long i = at(); if (i < n / 2) y[i] = x[i]; }
__global__ void add(const float* x, float* y, long n) { long i = at(); if (i < n) y[i] += x[i]; }
template <bool kPartner>
__global__ void __cluster_dims__(2, 1, 1) cluster(const float* x, float* y, long n) {
  long i = at(), j = kPartner ? (blockIdx.x ^ 1) * (long)blockDim.x + threadIdx.x : i;
  float v = x[j];
  y[i] = v + 1;
}
__global__ void tensor(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, bool turn) {
  alignas(128) __shared__ float t[B];
  __shared__ alignas(8) unsigned long long bar;
  unsigned s = __cvta_generic_to_shared(t), m = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(m));
    asm volatile("fence.proxy.async;");
    int c = B * (turn ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(m), "r"((int)sizeof(t)) : "memory");
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
                 ::"r"(s), "l"(&from), "r"(c), "r"(m) : "memory");
    asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra w; }" ::"r"(m) : "memory");
    asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];"
                 ::"l"(&to), "r"((int)(B * blockIdx.x)), "r"(s) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

#define GRID(n) (unsigned)(((n) + B - 1) / B), B, 0, s
#define HANDLER(name, impl, ...) XLA_FFI_DEFINE_HANDLER_SYMBOL(name, impl, ffi::Ffi::Bind().Ctx<ffi::PlatformStream<cudaStream_t>>() __VA_ARGS__)
#define ONE .Arg<In>().Ret<In>()
#define SIMPLE(name, ...)                                                    \
  static ffi::Error name##Impl(cudaStream_t s, In in, Out out) {             \
    const float* x = in.typed_data(); float* y = out->typed_data();          \
    long n = in.element_count(); (void)x; (void)y; (void)n;                  \
    __VA_ARGS__;                                                             \
    return Done();                                                           \
  }                                                                          \
  HANDLER(name, name##Impl, ONE)

static int Side(long n) { int k = 32; while ((long)k * k < n) k *= 2; return k; }

SIMPLE(Scale, scale<<<GRID(n)>>>(x, y, n, 2));
SIMPLE(Reverse, reverse<<<GRID(n)>>>(x, y, n, 2));
SIMPLE(TileCopy, int k = Side(n); tile<false><<<dim3(k / 32, k / 32), dim3(32, 8), 0, s>>>(x, y, k));
SIMPLE(Transpose, int k = Side(n); tile<true><<<dim3(k / 32, k / 32), dim3(32, 8), 0, s>>>(x, y, k));
SIMPLE(FlipOrdered, flip<true><<<GRID(n)>>>(x, y));
SIMPLE(FlipBare, flip<false><<<GRID(n)>>>(x, y));
SIMPLE(CopyOnce, cudaMemcpyAsync(y, x, n * 4, cudaMemcpyDeviceToDevice, s); scale<<<GRID(n)>>>(y, y, n, 2));
SIMPLE(CopyLate, scale<<<GRID(n / 2)>>>(x, y, n / 2, 2); cudaMemcpyAsync(y + n / 2, x, n / 2 * 4, cudaMemcpyDeviceToDevice, s));
SIMPLE(Together, void* a[] = {&x, &y, &n}; cudaLaunchCooperativeKernel((void*)together<true>, dim3(132), dim3(B), a, 0, s));
SIMPLE(Scattered, void* a[] = {&x, &y, &n}; cudaLaunchCooperativeKernel((void*)together<false>, dim3(132), dim3(B), a, 0, s));
SIMPLE(Forever, forever<<<1, 1, 0, s>>>(x, y, n));
SIMPLE(Stray, stray<<<GRID(n)>>>(x, y, n));
SIMPLE(Clear, clear<<<GRID(n)>>>((float*)x, y, n));
SIMPLE(Half, halved<<<GRID(n)>>>(x, y, n));
SIMPLE(Add, add<<<GRID(n)>>>(x, y, n));
SIMPLE(ClusterOwn, cluster<false><<<GRID(n)>>>(x, y, n));
SIMPLE(ClusterPartner, cluster<true><<<GRID(n)>>>(x, y, n));
// The second launch reads what the first one's result would lie over.
SIMPLE(TwoLaunches, scale<<<GRID(n / 2)>>>(x, y, n / 2, 2); scale<<<GRID(n / 2)>>>(x + n / 2, y + n / 2, n / 2, 3));
SIMPLE(TwoLaunchesBack, scale<<<GRID(n)>>>(x, y, n, 2); difference<<<GRID(n)>>>(x, y, n));

static ffi::Error ScratchImpl(cudaStream_t s, ffi::ScratchAllocator room, In in, Out out, bool late) {
  long n = in.element_count();
  auto kept = room.Allocate(n * 4);
  if (!kept) return ffi::Error::Internal("no scratch");
  float *t = static_cast<float*>(*kept), *y = out->typed_data();
  scale<<<GRID(n)>>>(in.typed_data(), t, n, 2);
  reverse<<<GRID(n)>>>(late ? in.typed_data() : t, y, n, 1);
  return Done();
}
static ffi::Error ScratchFirstImpl(cudaStream_t s, ffi::ScratchAllocator r, In in, Out out) { return ScratchImpl(s, std::move(r), in, out, false); }
static ffi::Error ScratchLateImpl(cudaStream_t s, ffi::ScratchAllocator r, In in, Out out) { return ScratchImpl(s, std::move(r), in, out, true); }
HANDLER(ScratchFirst, ScratchFirstImpl, .Ctx<ffi::ScratchAllocator>() ONE);
HANDLER(ScratchLate, ScratchLateImpl, .Ctx<ffi::ScratchAllocator>() ONE);

static ffi::Error TwoImpl(cudaStream_t s, In in, Out a, Out b, bool turn) {
  long n = in.element_count();
  both<<<GRID(n)>>>(in.typed_data(), a->typed_data(), b->typed_data(), n, turn);
  return Done();
}
static ffi::Error TwoResultsImpl(cudaStream_t s, In in, Out a, Out b) { return TwoImpl(s, in, a, b, false); }
static ffi::Error TwoResultsTurnedImpl(cudaStream_t s, In in, Out a, Out b) { return TwoImpl(s, in, a, b, true); }
HANDLER(TwoResults, TwoResultsImpl, .Arg<In>().Ret<In>().Ret<In>());
HANDLER(TwoResultsTurned, TwoResultsTurnedImpl, .Arg<In>().Ret<In>().Ret<In>());

static ffi::Error AttributesImpl(cudaStream_t s, In in, Out out, bool flag, int8_t a, int16_t b, int32_t c, int64_t d, uint8_t e,
                                 uint16_t f, uint32_t g, uint64_t h, float i, double j, std::string_view k,
                                 ffi::Span<const int64_t> l, ffi::Span<const float> m) {
  float factor = a + b + c + d + e + f + g + h + i + j + k.size();
  for (int64_t v : l) factor += v;
  for (float v : m) factor += v;
  long n = in.element_count();
  if (flag) reverse<<<GRID(n)>>>(in.typed_data(), out->typed_data(), n, factor);
  else scale<<<GRID(n)>>>(in.typed_data(), out->typed_data(), n, factor);
  return Done();
}
HANDLER(Attributes, AttributesImpl, ONE.Attr<bool>("flag").Attr<int8_t>("a").Attr<int16_t>("b").Attr<int32_t>("c")
        .Attr<int64_t>("d").Attr<uint8_t>("e").Attr<uint16_t>("f").Attr<uint32_t>("g").Attr<uint64_t>("h").Attr<float>("i")
        .Attr<double>("j").Attr<std::string_view>("k").Attr<ffi::Span<const int64_t>>("l").Attr<ffi::Span<const float>>("m"));

static ffi::Error CountImpl(cudaStream_t s, IntIn in, IntOut out) {
  long n = in.element_count();
  cudaMemsetAsync(out->typed_data(), 0, n * 4, s);
  count<<<GRID(n)>>>(in.typed_data(), out->typed_data(), n);
  return Done();
}
static ffi::Error ExchangeImpl(cudaStream_t s, IntIn in, IntOut out) {
  long n = in.element_count();
  exchange<<<GRID(n)>>>(in.typed_data(), out->typed_data(), n);
  return Done();
}
HANDLER(Count, CountImpl, .Arg<IntIn>().Ret<IntIn>());
HANDLER(Exchange, ExchangeImpl, .Arg<IntIn>().Ret<IntIn>());

static cublasHandle_t Blas(cudaStream_t s) {
  static cublasHandle_t h = [] { cublasHandle_t h; cublasCreate(&h); return h; }();
  cublasSetStream(h, s);
  return h;
}
SIMPLE(BlasCopy, cublasScopy(Blas(s), n, x, 1, y, 1));
SIMPLE(BlasProduct, int k = Side(n); float one = 1, zero = 0; cublasSgemm(Blas(s), CUBLAS_OP_N, CUBLAS_OP_N, k, k, k, &one, x, k, x, k, &zero, y, k));

static ffi::Error TensorImpl(cudaStream_t s, In in, Out out, bool turn) {
  void* f = nullptr;
  cudaDriverEntryPointQueryResult q;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &q) != cudaSuccess || !f)
    return ffi::Error::Internal("no cuTensorMapEncodeTiled");
  auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(f);
  CUtensorMap a, b;
  cuuint64_t n = in.element_count(), stride = 4;
  cuuint32_t box = B, one = 1;
  auto make = [&](CUtensorMap* m, void* p) {
    return encode(m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, p, &n, &stride, &box, &one, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  if (make(&a, in.untyped_data()) || make(&b, out->untyped_data())) return ffi::Error::Internal("a tensor map was refused");
  tensor<<<GRID((long)n)>>>(a, b, turn);
  return Done();
}
static ffi::Error TensorCopyImpl(cudaStream_t s, In in, Out out) { return TensorImpl(s, in, out, false); }
static ffi::Error TensorTurnedImpl(cudaStream_t s, In in, Out out) { return TensorImpl(s, in, out, true); }
HANDLER(TensorCopy, TensorCopyImpl, ONE);
HANDLER(TensorTurned, TensorTurnedImpl, ONE);

// CUDA kernels of the lab's own: clusters, bulk copies, atomics of every kind, local memory.
#include <cstdint>
__device__ inline uint32_t shared_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
// Two blocks of a cluster swap their pieces of 1024 floats in place: each writes where the other
// has read. Ordered by a barrier of the cluster, or by nothing.
template <bool ordered>
__device__ void swap_pieces(const float* x, float* y) {
  const long mine = (long)blockIdx.x * 1024, other = (long)(blockIdx.x ^ 1) * 1024;
  float4 v = *(const float4*)(x + mine + threadIdx.x * 4);
  if (ordered) asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  *(float4*)(y + other + threadIdx.x * 4) = v;
}
extern "C" __global__ void cluster_swap_kernel(const float* x, float* y, void*, void*) { swap_pieces<true>(x, y); }
extern "C" __global__ void cluster_swap_bare_kernel(const float* x, float* y, void*, void*) { swap_pieces<false>(x, y); }
// A block reads the shared memory of its neighbour in the cluster.
extern "C" __global__ void cluster_shared_kernel(const float* x, float* y, void*, void*) {
  __shared__ float piece[256];
  const int t = threadIdx.x;
  const long i = (long)blockIdx.x * 256 + t;
  piece[t] = x[i];
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  uint32_t far, rank = (blockIdx.x & 1) ^ 1;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(shared_address(&piece[255 - t])), "r"(rank));
  float v;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(far) : "memory");
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  y[i] = v;
}
// A piece comes by a bulk copy and goes by one, in place.
extern "C" __global__ void bulk_double_kernel(const float* x, float* y, void*, void*) {
  __shared__ __align__(128) float piece[1024];
  __shared__ __align__(8) uint64_t full;
  const int t = threadIdx.x;
  const long at = (long)blockIdx.x * 1024;
  const uint32_t bar = shared_address(&full), buf = shared_address(piece);
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4096;" ::"r"(bar) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" ::"r"(buf), "l"(x + at), "r"(bar) : "memory");
  }
  __syncthreads();
  uint32_t done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar) : "memory");
  for (int i = t; i < 1024; i += blockDim.x) piece[i] *= 2;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 4096;" ::"l"(y + at), "r"(buf) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}
// Atomics whose sum does not depend on their order; the result is zeroed.
extern "C" __global__ void atomics_kernel(const int* x, int* y, void*, void*) {
  __shared__ int bins[64];
  const int t = threadIdx.x;
  if (t < 64) bins[t] = 0;
  __syncthreads();
  const int v = x[(long)blockIdx.x * blockDim.x + t], k = t & 31;
  atomicAdd(&bins[v & 31], 1);
  atomicMax(&bins[32 + k], v & 0xffff);
  __syncthreads();
  atomicAdd(&y[k], bins[k]);
  atomicMin(&y[32 + k], v);
  atomicMax((unsigned*)&y[64 + k], (unsigned)v);
  atomicOr(&y[96 + k], v & 0x0f0f0f0f);
  atomicXor(&y[128 + k], v);
  atomicAdd((unsigned long long*)&y[160 + 2 * (k & 15)], (unsigned long long)(long long)v);
  atomicMax((long long*)&y[192 + 2 * (k & 15)], (long long)v * v);
  atomicInc((unsigned*)&y[224 + k], 1000);
  if (t < 32) {
    int seen = y[256 + k], want;
    do { want = seen; seen = atomicCAS(&y[256 + k], want, want + bins[32 + k]); } while (seen != want);
  }
}
// An array that no register can hold, and a function that is not inlined.
__device__ __noinline__ int mixed(int a, int b) { return a * 31 + (b ^ (a >> 3)); }
extern "C" __global__ void local_kernel(const int* x, int* y, void*, void*) {
  const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  int a[16], v = x[i];
  for (int j = 0; j < 16; ++j) a[j] = v * (j + 1);
  for (int j = 0; j < 16; ++j) a[(v >> (j & 7)) & 15] += mixed(a[j], j);
  int s = 0;
  for (int j = 0; j < 16; ++j) s = mixed(s, a[(j * 7 + v) & 15]);
  y[i] = s;
}

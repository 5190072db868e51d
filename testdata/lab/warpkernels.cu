// CUDA kernels of the lab's own that only the order inside a warp makes right.
#include <cstdint>
// Every 32 x 32 tile of a matrix of 1024 columns is turned clockwise in its place, one tile a
// warp: lanes read columns, shuffles exchange rows, and each lane stores where another has read.
extern "C" __global__ void shuffle_turn_kernel(const float* x, float* y, void*, void*) {
  const int cols = 1024, lane = threadIdx.x & 31;
  const long tile = (long)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  const long base = tile / (cols / 32) * 32 * cols + tile % (cols / 32) * 32;
  float v[32];
#pragma unroll
  for (int r = 0; r < 32; ++r) v[r] = x[base + (long)r * cols + lane];
#pragma unroll
  for (int step = 16; step > 0; step >>= 1) {  // v[r] of lane c becomes v[c] of lane r
    const bool upper = lane & step;
#pragma unroll
    for (int r = 0; r < 32; ++r) {
      if (r & step) continue;
      float other = __shfl_xor_sync(0xffffffffu, upper ? v[r] : v[r | step], step);
      if (upper) v[r] = other; else v[r | step] = other;
    }
  }
#pragma unroll
  for (int r = 0; r < 32; ++r) y[base + (long)r * cols + 31 - lane] = v[r];
}
// Each warp turns its 32 elements round: with an order between the reads and the writes, and without.
extern "C" __global__ void flip_ordered_kernel(const float* x, float* y, void*, void*) {
  const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  __syncwarp();
  y[i ^ 31] = v;
}
extern "C" __global__ void flip_bare_kernel(const float* x, float* y, void*, void*) {
  const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  y[i ^ 31] = x[i];
}
// Votes, reductions and scans inside a warp, over integers.
extern "C" __global__ void votes_kernel(const int* x, int* y, void*, void*) {
  const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x & 31, v = x[i];
  unsigned odd = __ballot_sync(0xffffffffu, v & 1);
  int sum = v;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    int below = __shfl_up_sync(0xffffffffu, sum, d);
    if (lane >= d) sum += below;
  }
  int out = sum ^ __popc(odd & ((1u << lane) - 1)) ^ __brev(v) ^ __clz(v) ^ __ffs(v);
  out ^= (int)__reduce_add_sync(0xffffffffu, (unsigned)v) ^ __reduce_max_sync(0xffffffffu, v);
  out ^= __any_sync(0xffffffffu, v > 1000000) | __all_sync(0xffffffffu, v != 7) << 1;
  out ^= __byte_perm(v, sum, 0x6042) ^ __funnelshift_l(v, sum, lane) ^ __dp4a(v, sum, 3);
  y[i] = out;
}

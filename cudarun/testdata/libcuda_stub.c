/* A libcuda without a GPU, for tests of how arguments are packed. Device memory is
 * host memory. Every call that matters writes one line to a log; a kernel does
 * nothing but log its launch. The name of an entry says the sizes of its parameters:
 * "k_8_8_4" takes two of eight bytes and one of four.
 *
 * OLD leaves out what came after CUDA 11.7, BROKEN what every driver has. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult;
typedef uint64_t CUdeviceptr;
typedef struct { char name[64]; int sizes[16]; int count; int helper; } function;
typedef struct { function functions[8]; int count; } module;

static char log_text[1 << 20];
static size_t log_used;
static int live_memory, live_modules, live_streams, live_events, live_contexts, live_green;
static int not_ready, fail_next;

static void say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(log_text + log_used, sizeof log_text - log_used, format, args);
  va_end(args);
  if (n > 0 && log_used + n < sizeof log_text) log_used += n;
}

/* For the tests. */
int stub_take_log(char *to, int size) {
  int n = (int)log_used < size ? (int)log_used : size;
  memcpy(to, log_text, n);
  log_used = 0;
  return n;
}
int stub_live(void) { return live_memory + live_modules + live_streams + live_events + live_contexts + live_green; }
void stub_not_ready(int times) { not_ready = times; }
void stub_fail_next(int code) { fail_next = code; }

CUresult cuInit(unsigned flags) { return flags ? 1 : 0; }
CUresult cuDriverGetVersion(int *v) { *v = 13000; return 0; }
CUresult cuGetErrorName(CUresult e, const char **s) { *s = e == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_STUB"; return 0; }
CUresult cuGetErrorString(CUresult e, const char **s) { *s = e == 2 ? "out of memory" : "the stub was told to fail"; return 0; }
CUresult cuDeviceGetCount(int *n) { *n = 2; return 0; }
CUresult cuDeviceGet(int *d, int ordinal) { *d = 40 + ordinal; return 0; }
CUresult cuDeviceGetName(char *s, int n, int d) { snprintf(s, n, "stub %d", d); return 0; }
CUresult cuDeviceGetAttribute(int *v, int which, int d) {
  (void)d;
  switch (which) {
    case 16: *v = 132; return 0;
    case 75: *v = 9; return 0;
    case 76: *v = 0; return 0;
    case 97: *v = 232448; return 0;
  }
  return 1;
}
CUresult cuDeviceTotalMem_v2(size_t *n, int d) { (void)d; *n = (size_t)1 << 37; return 0; }
CUresult cuDevicePrimaryCtxRetain(void **c, int d) { live_contexts++; *c = (void *)(intptr_t)(1000 + d); return 0; }
CUresult cuDevicePrimaryCtxRelease_v2(int d) { say("release %d\n", d); live_contexts--; return 0; }
CUresult cuCtxSetCurrent(void *c) { say("current %ld\n", (long)(intptr_t)c); return 0; }
CUresult cuMemGetInfo_v2(size_t *f, size_t *t) { *t = (size_t)1 << 37; *f = *t - live_memory; return 0; }

#ifndef BROKEN
CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n) {
  if (n > (size_t)1 << 33) return 2;
  void *m = NULL;
  if (posix_memalign(&m, 512, n)) return 2;
  live_memory++;
  *p = (CUdeviceptr)(uintptr_t)m;
  return 0;
}
CUresult cuStreamCreate(void **s, unsigned flags) { say("stream flags %u\n", flags); live_streams++; *s = (void *)0x5001; return 0; }
#endif
CUresult cuMemFree_v2(CUdeviceptr p) { free((void *)(uintptr_t)p); live_memory--; return 0; }
CUresult cuMemcpyHtoD_v2(CUdeviceptr d, const void *s, size_t n) { memcpy((void *)(uintptr_t)d, s, n); return 0; }
CUresult cuMemcpyDtoH_v2(void *d, CUdeviceptr s, size_t n) { memcpy(d, (void *)(uintptr_t)s, n); return 0; }
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr d, CUdeviceptr s, size_t n, void *stream) {
  say("copy %zu on %lx\n", n, (long)(intptr_t)stream);
  memmove((void *)(uintptr_t)d, (void *)(uintptr_t)s, n);
  return 0;
}
CUresult cuMemsetD8Async(CUdeviceptr d, unsigned char v, size_t n, void *stream) {
  say("fill %02x %zu on %lx\n", v, n, (long)(intptr_t)stream);
  memset((void *)(uintptr_t)d, v, n);
  return 0;
}

CUresult cuModuleLoadDataEx(void **m, const void *image, unsigned n, const int *options, void **values) {
  if (n != 3 || options[0] != 5 || options[1] != 6 || options[2] != 13) return 1;
  if (strstr(image, "syntax error")) {
    snprintf(values[0], (size_t)values[1], "line 1: syntax error");
    return 218;
  }
  live_modules++;
  *m = calloc(1, sizeof(module));
  return 0;
}
CUresult cuModuleUnload(void *m) { free(m); live_modules--; return 0; }
CUresult cuModuleGetFunction(void **f, void *m, const char *name) {
  module *mod = m;
  if (mod->count == 8 || strlen(name) > 63 || strstr(name, "absent")) return 500;
  function *fn = &mod->functions[mod->count++];
  strcpy(fn->name, name);
  fn->helper = strncmp(name, "aliascheck_", 11) == 0;
  if (!strcmp(name, "aliascheck_compare")) name = "_8_8_8_8_8_8_8_4_4_8_8";
  if (!strcmp(name, "aliascheck_magnitude")) name = "_8_8_8_4_4";
  if (!strcmp(name, "aliascheck_guard")) name = "_8_8_8_4";
  for (const char *p = strchr(name, '_'); p; p = strchr(p + 1, '_')) fn->sizes[fn->count++] = atoi(p + 1);
  *f = fn;
  return 0;
}
CUresult cuFuncSetAttribute(void *f, int which, int v) { say("%s attribute %d = %d\n", ((function *)f)->name, which, v); return 0; }
CUresult cuFuncGetAttribute(int *v, int which, void *f) { (void)f; *v = which == 1 ? 1024 : 0; return 0; }

CUresult cuStreamDestroy_v2(void *s) { (void)s; live_streams--; return 0; }
CUresult cuStreamSynchronize(void *s) { (void)s; return 0; }
CUresult cuEventCreate(void **e, unsigned flags) { (void)flags; live_events++; *e = (void *)0xe1; return 0; }
CUresult cuEventDestroy_v2(void *e) { (void)e; live_events--; return 0; }
CUresult cuEventRecord(void *e, void *s) { (void)e; (void)s; return 0; }
CUresult cuEventQuery(void *e) {
  (void)e;
  if (fail_next) { int code = fail_next; fail_next = 0; return code; }
  if (not_ready > 0) { not_ready--; return 600; }
  return 0;
}
CUresult cuEventElapsedTime(float *ms, void *a, void *b) { (void)a; (void)b; *ms = 1.5f; return 0; }

static void say_params(function *f, void **params) {
  for (int i = 0; i < f->count; i++) {
    const unsigned char *p = params[i];
    say(" ");
    for (int k = 0; k < f->sizes[i]; k++) say("%02x", p[k]);
  }
  say("\n");
}
CUresult cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, void *stream, void **params, void **extra) {
  if (extra) return 1;
  function *fn = f;
  if (fn->helper) return 0;
  say("launch %s grid %u,%u,%u block %u,%u,%u shared %u on %lx:", fn->name, gx, gy, gz, bx, by, bz, shared, (long)(intptr_t)stream);
  say_params(fn, params);
  return 0;
}

#ifndef OLD
typedef struct { int id; char pad[4]; unsigned value[16]; } attribute;
typedef struct { unsigned gx, gy, gz, bx, by, bz, shared; void *stream; attribute *attrs; unsigned count; } config;
CUresult cuLaunchKernelEx(const config *c, void *f, void **params, void **extra) {
  if (extra) return 1;
  say("launchEx %s grid %u,%u,%u block %u,%u,%u shared %u on %lx", ((function *)f)->name, c->gx, c->gy, c->gz, c->bx, c->by, c->bz,
      c->shared, (long)(intptr_t)c->stream);
  for (unsigned i = 0; i < c->count; i++)
    say(" attribute %d = %u,%u,%u", c->attrs[i].id, c->attrs[i].value[0], c->attrs[i].value[1], c->attrs[i].value[2]);
  say(":");
  say_params(f, params);
  return 0;
}
CUresult cuFuncGetParamInfo(void *f, size_t i, size_t *offset, size_t *size) {
  function *fn = f;
  if ((int)i >= fn->count) return 1;
  *offset = 8 * i;
  *size = fn->sizes[i];
  return 0;
}

typedef struct { int type; char pad[92]; unsigned count; char rest[44]; } resource;
CUresult cuDeviceGetDevResource(int d, resource *r, int type) { (void)d; memset(r, 0, sizeof *r); r->type = type; r->count = 132; return 0; }
CUresult cuDevSmResourceSplitByCount(resource *to, unsigned *groups, const resource *from, resource *rest, unsigned flags, unsigned least) {
  if (rest || flags || *groups != 1 || from->count != 132) return 1;
  if (least < 8) return 1;
  *to = *from;
  to->count = least;
  say("split %u of %u\n", least, from->count);
  return 0;
}
CUresult cuDevResourceGenerateDesc(void **desc, resource *r, unsigned n) { *desc = (void *)(intptr_t)(n == 1 ? r->count : 0); return 0; }
CUresult cuGreenCtxCreate(void **g, void *desc, int d, unsigned flags) {
  say("green %ld on %d flags %u\n", (long)(intptr_t)desc, d, flags);
  live_green++;
  *g = (void *)0x61;
  return 0;
}
CUresult cuGreenCtxDestroy(void *g) { (void)g; live_green--; return 0; }
CUresult cuGreenCtxStreamCreate(void **s, void *g, unsigned flags, int priority) {
  say("green stream %lx flags %u priority %d\n", (long)(intptr_t)g, flags, priority);
  live_streams++;
  *s = (void *)0x5008;
  return 0;
}
#endif

/* The encoders log what they were given, and refuse a first stride that is no
 * multiple of 16, as the driver does. */
static const char *numbers(const uint64_t *v, unsigned n) {
  static char text[4][256];
  static int turn;
  char *to = text[turn++ & 3];
  int used = 0;
  *to = 0;
  for (unsigned i = 0; i < n; i++) used += snprintf(to + used, 256 - used, "%s%llu", i ? "," : "", (unsigned long long)v[i]);
  return to;
}
static const char *words(const uint32_t *v, unsigned n) {
  uint64_t wide[8];
  for (unsigned i = 0; i < n && i < 8; i++) wide[i] = v[i];
  return numbers(wide, n);
}
CUresult cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *tensor, const uint64_t *dims, const uint64_t *strides,
                                const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int l2, int fill) {
  say("tiled skew %d type %d rank %u tensor %d dims %s strides %s box %s steps %s %d %d %d %d\n", (int)((uintptr_t)map % 64), type, rank,
      tensor ? (int)((uintptr_t)tensor % 16) : -1, numbers(dims, rank), numbers(strides, rank - 1), words(box, rank), words(steps, rank),
      interleave, swizzle, l2, fill);
  return rank > 1 && strides[0] % 16 ? 1 : 0;
}
CUresult cuTensorMapEncodeIm2col(void *map, int type, unsigned rank, void *tensor, const uint64_t *dims, const uint64_t *strides,
                                 const int *lower, const int *upper, unsigned channels, unsigned pixels, const uint32_t *steps,
                                 int interleave, int swizzle, int l2, int fill) {
  say("im2col skew %d type %d rank %u tensor %d dims %s strides %s lower %d,%d upper %d,%d channels %u pixels %u steps %s %d %d %d %d\n",
      (int)((uintptr_t)map % 64), type, rank, tensor ? (int)((uintptr_t)tensor % 16) : -1, numbers(dims, rank), numbers(strides, rank - 1),
      lower[0], lower[1], upper[0], upper[1], channels, pixels, words(steps, rank), interleave, swizzle, l2, fill);
  return 0;
}

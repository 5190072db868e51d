"""Taking most of a card away: a kernel of our own that waits on all but a few
multiprocessors, so that the blocks of any other kernel run a few at a time."""
import ctypes as C
import time

PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry wait(.param .u64 flag) {
  .reg .u64 %a; .reg .u32 %v; .reg .pred %p;
  ld.param.u64 %a, [flag];
L: ld.volatile.global.u32 %v, [%a];
  setp.eq.u32 %p, %v, 0;
  @%p bra L;
  ret;
}
"""
LEFT = 8  # multiprocessors that stay free
MULTIPROCESSORS, SHARED_OPTIN = 16, 97  # CUdevice_attribute


class Confiner:
    """Used as a context manager: inside it, kernels have LEFT multiprocessors."""

    def __init__(self):
        self.cu = cu = C.CDLL("libcuda.so.1")
        context, device, module = C.c_void_p(), C.c_int(), C.c_void_p()
        self.check(cu.cuDeviceGet(C.byref(device), 0), "cuDeviceGet")
        self.check(cu.cuDevicePrimaryCtxRetain(C.byref(context), device), "cuDevicePrimaryCtxRetain")
        self.check(cu.cuCtxSetCurrent(context), "cuCtxSetCurrent")
        self.check(cu.cuModuleLoadData(C.byref(module), PTX), "cuModuleLoadData")
        self.kernel = C.c_void_p()
        self.check(cu.cuModuleGetFunction(C.byref(self.kernel), module, b"wait"), "cuModuleGetFunction")
        self.shared = min(self.attribute(device, SHARED_OPTIN), 200 * 1024)
        self.check(cu.cuFuncSetAttribute(self.kernel, 8, self.shared), "cuFuncSetAttribute")
        self.blocks = self.attribute(device, MULTIPROCESSORS) - LEFT
        host, mapped, self.stream = C.c_void_p(), C.c_uint64(), C.c_void_p()
        self.check(cu.cuMemHostAlloc(C.byref(host), C.c_size_t(4), 2), "cuMemHostAlloc")
        self.check(cu.cuMemHostGetDevicePointer_v2(C.byref(mapped), host, 0), "cuMemHostGetDevicePointer")
        self.check(cu.cuStreamCreate(C.byref(self.stream), 1), "cuStreamCreate")
        self.flag, self.mapped = C.cast(host, C.POINTER(C.c_uint32)), mapped

    def attribute(self, device, which):
        value = C.c_int()
        self.check(self.cu.cuDeviceGetAttribute(C.byref(value), which, device), "cuDeviceGetAttribute")
        return value.value

    def check(self, code, what):
        if code:
            raise RuntimeError(f"{what} gave {code}")

    def __enter__(self):
        self.flag[0] = 0
        argument = C.c_uint64(self.mapped.value)
        arguments = (C.c_void_p * 1)(C.addressof(argument))
        self.check(self.cu.cuLaunchKernel(self.kernel, self.blocks, 1, 1, 1024, 1, 1, self.shared, self.stream, arguments, None), "cuLaunchKernel")
        time.sleep(0.02)  # until its blocks stand

    def __exit__(self, *_):
        self.flag[0] = 1
        self.check(self.cu.cuStreamSynchronize(self.stream), "cuStreamSynchronize")

package driver

import (
	"fmt"
	"strings"
	"unsafe"
)

// driver is libcuda: its symbols, all looked up at once.
type driver struct {
	symbols map[string]uintptr
	invoke  func(fn uintptr, args ...uintptr) uintptr
}

// requiredSymbols are the names as libcuda exports them: where cuda.h renames a
// function, the version suffix is part of the name.
func requiredSymbols() []string {
	return []string{
		"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString",
		"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceTotalMem_v2",
		"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuCtxSetCurrent", "cuMemGetInfo_v2",
		"cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemcpyDtoDAsync_v2", "cuMemsetD8Async",
		"cuModuleLoadDataEx", "cuModuleUnload", "cuModuleGetFunction", "cuFuncSetAttribute", "cuFuncGetAttribute",
		"cuStreamCreate", "cuStreamDestroy_v2", "cuStreamSynchronize",
		"cuEventCreate", "cuEventDestroy_v2", "cuEventRecord", "cuEventQuery", "cuEventElapsedTime",
		"cuLaunchKernel",
	}
}

// optionalSymbols came with later drivers: clusters (CUDA 11.8), TMA descriptors
// (12.0), parameter sizes (12.4), green contexts (12.4).
func optionalSymbols() []string {
	return []string{
		"cuLaunchKernelEx", "cuFuncGetParamInfo", EncodeTiled,
		"cuDeviceGetDevResource", "cuDevSmResourceSplitByCount", "cuDevResourceGenerateDesc",
		"cuGreenCtxCreate", "cuGreenCtxDestroy", "cuGreenCtxStreamCreate",
	}
}

// Library is an opened shared library.
type Library struct {
	name   string
	Lookup func(symbol string) (uintptr, error)
	Invoke func(fn uintptr, args ...uintptr) uintptr
}

// newDriver looks up every symbol and names all that are missing.
func newDriver(lib Library) (*driver, error) {
	d := &driver{symbols: map[string]uintptr{}, invoke: lib.Invoke}
	var missing []string
	for _, name := range requiredSymbols() {
		at, err := lib.Lookup(name)
		if err != nil || at == 0 {
			missing = append(missing, name)
			continue
		}
		d.symbols[name] = at
	}
	if missing != nil {
		return nil, fmt.Errorf("%s lacks %s: the driver is too old, or no NVIDIA driver", lib.name, strings.Join(missing, ", "))
	}
	for _, name := range optionalSymbols() {
		if at, err := lib.Lookup(name); err == nil && at != 0 {
			d.symbols[name] = at
		}
	}
	return d, nil
}

// has says whether the driver exports all of the names.
func (d *driver) has(names ...string) bool {
	for _, name := range names {
		if d.symbols[name] == 0 {
			return false
		}
	}
	return true
}

// call invokes a driver function. Pointers among the arguments must be converted
// in the call itself: the directive keeps what they point to on the heap, where it
// does not move, until the call returns.
//
//go:uintptrescapes
func (d *driver) call(name string, args ...uintptr) error {
	fn := d.symbols[name]
	if fn == 0 {
		return fmt.Errorf("the driver has no %s", name)
	}
	return d.result(name, d.invoke(fn, args...))
}

// result turns a CUresult into an error with the driver's own words.
func (d *driver) result(name string, r uintptr) error {
	code := int(uint32(r))
	if code == 0 {
		return nil
	}
	return &DriverError{Call: name, Code: code, Name: d.words("cuGetErrorName", code), Text: d.words("cuGetErrorString", code)}
}

// words asks the driver for a string about an error code.
func (d *driver) words(name string, code int) string {
	text := make([]*byte, 1) // const char *
	if r := d.invoke(d.symbols[name], uintptr(code), uintptr(unsafe.Pointer(&text[0]))); uint32(r) != 0 || text[0] == nil {
		return "unknown error"
	}
	return cString(text[0], 256)
}

// cString copies a C string of at most limit bytes.
func cString(p *byte, limit int) string {
	b := make([]byte, 0, 64)
	for i := range limit {
		c := *(*byte)(unsafe.Add(unsafe.Pointer(p), i))
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return string(b)
}

package cudarun

import (
	"fmt"
	"strings"
	"time"
)

// fakeDevice executes Go functions as kernels. Its memory is real: an access
// outside an allocation is a fault, as on a card.
type fakeDevice struct {
	about    DeviceInfo
	total    int64
	memories map[address][]byte
	next     address
	modules  map[module]string
	lost     bool
	runs     int
	loads    int
	noParts  bool // no green contexts
	launches []launch
	stuck    chan struct{} // what the kernel "stuck" waits for
}

func newFake() *fakeDevice {
	return &fakeDevice{
		about: DeviceInfo{Name: "fake", Capability: 90, Driver: "13.0", SMs: 132, Memory: 1 << 30},
		total: 1 << 30, memories: map[address][]byte{}, next: 0x7f0000000000, modules: map[module]string{},
	}
}

func fakeError(call string, code int) error {
	return &driverError{Call: call, Code: code, Name: fmt.Sprintf("CUDA_ERROR_%d", code), Text: "as the fake says"}
}

func (d *fakeDevice) info() DeviceInfo { return d.about }

func (d *fakeDevice) used() int64 {
	n := int64(0)
	for _, m := range d.memories {
		n += int64(len(m))
	}
	return n
}

func (d *fakeDevice) memory() (free, total int64, err error) { return d.total - d.used(), d.total, nil }

func (d *fakeDevice) alloc(bytes int64) (address, error) {
	if bytes > d.total-d.used() {
		return 0, fakeError("cuMemAlloc_v2", codeOutOfMemory)
	}
	at := d.next
	d.memories[at] = make([]byte, max(bytes, 1))
	d.next += address(roundUp(bytes) + 1<<20)
	return at, nil
}

func (d *fakeDevice) free(at address) error {
	if d.memories[at] == nil {
		return fakeError("cuMemFree_v2", codeInvalidValue)
	}
	delete(d.memories, at)
	return nil
}

// view is memory by address; nil where it is not all inside one allocation.
func (d *fakeDevice) view(at address, bytes int64) []byte {
	for base, m := range d.memories {
		if at >= base && int64(at-base)+bytes <= int64(len(m)) {
			return m[at-base : int64(at-base)+bytes]
		}
	}
	return nil
}

func (d *fakeDevice) upload(dst address, src []byte) error {
	return d.move(d.view(dst, int64(len(src))), src, len(src))
}

func (d *fakeDevice) download(dst []byte, src address) error {
	return d.move(dst, d.view(src, int64(len(dst))), len(dst))
}

func (d *fakeDevice) copy(dst, src address, bytes int64) error {
	return d.move(d.view(dst, bytes), d.view(src, bytes), int(bytes))
}

func (d *fakeDevice) move(dst, src []byte, bytes int) error {
	if d.lost {
		return fakeError("cuMemcpy", codeIllegalAddress)
	}
	if bytes > 0 && (len(dst) != bytes || len(src) != bytes) {
		return fakeError("cuMemcpy", codeInvalidValue)
	}
	copy(dst, src)
	return nil
}

func (d *fakeDevice) fill(dst address, value byte, bytes int64) error {
	m := d.view(dst, bytes)
	if bytes > 0 && m == nil {
		return fakeError("cuMemsetD8Async", codeInvalidValue)
	}
	for i := range m {
		m[i] = value
	}
	return nil
}

// load takes any text but one that says it is bad.
func (d *fakeDevice) load(image []byte, _ bool) (module, error) {
	if strings.Contains(string(image), "bad") {
		return 0, fakeError("cuModuleLoadDataEx", codeInvalidPTX)
	}
	d.loads++
	m := module(d.loads)
	d.modules[m] = string(image)
	return m, nil
}

func (d *fakeDevice) unload(m module) error {
	if _, ok := d.modules[m]; !ok {
		return fakeError("cuModuleUnload", codeInvalidValue)
	}
	delete(d.modules, m)
	return nil
}

func (d *fakeDevice) function(m module, entry string, _ uint32) (function, error) {
	if _, ok := d.modules[m]; !ok || fakeKernels()[entry] == nil {
		return function{}, fakeError("cuModuleGetFunction", codeNotFound)
	}
	return function{handle: uintptr(m), entry: entry}, nil
}

func (d *fakeDevice) encode(m *TensorMap, at address) ([]byte, error) {
	if m.Box[0] > 256 {
		return nil, fakeError(encodeTiled, codeInvalidValue)
	}
	return append(u64(uint64(at)), make([]byte, tensorMapBytes-8)...), nil
}

func (d *fakeDevice) confine() (int, error) {
	if d.noParts {
		return 0, fmt.Errorf("the driver has no green contexts")
	}
	return 8, nil
}

func (d *fakeDevice) run(l launch, where part, _ time.Duration) (took time.Duration, err error) {
	if d.lost {
		return 0, fakeError("cuLaunchKernel", codeIllegalAddress)
	}
	for _, z := range l.zero {
		if err := d.fill(z.at, 0, z.bytes); err != nil {
			return 0, err
		}
	}
	if !strings.HasPrefix(l.fn.entry, "aliascheck_") {
		d.runs++
		d.launches = append(d.launches, l)
	}
	defer func() {
		if r := recover(); r != nil {
			stop, ok := r.(fakeStop)
			if !ok {
				panic(r)
			}
			d.lost = true
			err = stop.err
		}
	}()
	fakeKernels()[l.fn.entry](&fakeCall{d, l, where})
	return time.Microsecond, nil
}

func (d *fakeDevice) close() error { return nil }

// leaks lists what is still allocated or loaded.
func (d *fakeDevice) leaks() string {
	if len(d.memories) == 0 && len(d.modules) == 0 {
		return ""
	}
	return fmt.Sprintf("%d allocations, %d modules", len(d.memories), len(d.modules))
}

// fakeStop ends a fake kernel.
type fakeStop struct{ err error }

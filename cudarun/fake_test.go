package cudarun

import (
	"fmt"
	"strings"
	"time"

	"aliascheck/cudarun/driver"
)

// fakeDevice executes Go functions as kernels. Its memory is real: an access
// outside an allocation is a fault, as on a card.
type fakeDevice struct {
	about    driver.DeviceInfo
	total    int64
	memories map[driver.Address][]byte
	next     driver.Address
	modules  map[driver.Module]string
	lost     bool
	runs     int
	loads    int
	noParts  bool // no green contexts
	launches []driver.Launch
	stuck    chan struct{} // what the kernel "stuck" waits for
}

func newFake() *fakeDevice {
	return &fakeDevice{
		about: driver.DeviceInfo{Name: "fake", Capability: 90, Driver: "13.0", SMs: 132, Memory: 1 << 30},
		total: 1 << 30, memories: map[driver.Address][]byte{}, next: 0x7f0000000000, modules: map[driver.Module]string{},
	}
}

func fakeError(call string, code int) error {
	return &driver.DriverError{Call: call, Code: code, Name: fmt.Sprintf("CUDA_ERROR_%d", code), Text: "as the fake says"}
}

func (d *fakeDevice) Info() driver.DeviceInfo { return d.about }

func (d *fakeDevice) used() int64 {
	n := int64(0)
	for _, m := range d.memories {
		n += int64(len(m))
	}
	return n
}

func (d *fakeDevice) Memory() (free, total int64, err error) { return d.total - d.used(), d.total, nil }

func (d *fakeDevice) Alloc(bytes int64) (driver.Address, error) {
	if bytes > d.total-d.used() {
		return 0, fakeError("cuMemAlloc_v2", driver.CodeOutOfMemory)
	}
	at := d.next
	d.memories[at] = make([]byte, max(bytes, 1))
	d.next += driver.Address(roundUp(bytes) + 1<<20)
	return at, nil
}

func (d *fakeDevice) Free(at driver.Address) error {
	if d.memories[at] == nil {
		return fakeError("cuMemFree_v2", driver.CodeInvalidValue)
	}
	delete(d.memories, at)
	return nil
}

// view is memory by address; nil where it is not all inside one allocation.
func (d *fakeDevice) view(at driver.Address, bytes int64) []byte {
	for base, m := range d.memories {
		if at >= base && int64(at-base)+bytes <= int64(len(m)) {
			return m[at-base : int64(at-base)+bytes]
		}
	}
	return nil
}

func (d *fakeDevice) Upload(dst driver.Address, src []byte) error {
	return d.move(d.view(dst, int64(len(src))), src, len(src))
}

func (d *fakeDevice) Download(dst []byte, src driver.Address) error {
	return d.move(dst, d.view(src, int64(len(dst))), len(dst))
}

func (d *fakeDevice) Copy(dst, src driver.Address, bytes int64) error {
	return d.move(d.view(dst, bytes), d.view(src, bytes), int(bytes))
}

func (d *fakeDevice) move(dst, src []byte, bytes int) error {
	if d.lost {
		return fakeError("cuMemcpy", driver.CodeIllegalAddress)
	}
	if bytes > 0 && (len(dst) != bytes || len(src) != bytes) {
		return fakeError("cuMemcpy", driver.CodeInvalidValue)
	}
	copy(dst, src)
	return nil
}

func (d *fakeDevice) Fill(dst driver.Address, value byte, bytes int64) error {
	m := d.view(dst, bytes)
	if bytes > 0 && m == nil {
		return fakeError("cuMemsetD8Async", driver.CodeInvalidValue)
	}
	for i := range m {
		m[i] = value
	}
	return nil
}

// Load takes any text but one that says it is bad.
func (d *fakeDevice) Load(image []byte, _ bool) (driver.Module, error) {
	if strings.Contains(string(image), "bad") {
		return 0, fakeError("cuModuleLoadDataEx", driver.CodeInvalidPTX)
	}
	d.loads++
	m := driver.Module(d.loads)
	d.modules[m] = string(image)
	return m, nil
}

func (d *fakeDevice) Unload(m driver.Module) error {
	if _, ok := d.modules[m]; !ok {
		return fakeError("cuModuleUnload", driver.CodeInvalidValue)
	}
	delete(d.modules, m)
	return nil
}

func (d *fakeDevice) Function(m driver.Module, entry string, _ uint32) (driver.Function, error) {
	if _, ok := d.modules[m]; !ok || fakeKernels()[entry] == nil {
		return driver.Function{}, fakeError("cuModuleGetFunction", driver.CodeNotFound)
	}
	return driver.Function{Handle: uintptr(m), Entry: entry}, nil
}

func (d *fakeDevice) Encode(m *driver.TensorMap, at driver.Address) ([]byte, error) {
	if m.Box[0] > 256 {
		return nil, fakeError(driver.EncodeTiled, driver.CodeInvalidValue)
	}
	return append(u64(uint64(at)), make([]byte, driver.TensorMapBytes-8)...), nil
}

func (d *fakeDevice) Confine() (int, error) {
	if d.noParts {
		return 0, fmt.Errorf("the driver has no green contexts")
	}
	return 8, nil
}

func (d *fakeDevice) Run(l driver.Launch, where driver.Part, _ time.Duration) (took time.Duration, err error) {
	if d.lost {
		return 0, fakeError("cuLaunchKernel", driver.CodeIllegalAddress)
	}
	for _, z := range l.Zero {
		if err := d.Fill(z.At, 0, z.Bytes); err != nil {
			return 0, err
		}
	}
	if !strings.HasPrefix(l.Function.Entry, "aliascheck_") {
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
	fakeKernels()[l.Function.Entry](&fakeCall{d, l, where})
	return time.Microsecond, nil
}

func (d *fakeDevice) Close() error { return nil }

// leaks lists what is still allocated or loaded.
func (d *fakeDevice) leaks() string {
	if len(d.memories) == 0 && len(d.modules) == 0 {
		return ""
	}
	return fmt.Sprintf("%d allocations, %d modules", len(d.memories), len(d.modules))
}

// fakeStop ends a fake kernel.
type fakeStop struct{ err error }

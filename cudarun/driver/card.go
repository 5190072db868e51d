package driver

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"
)

// LibraryName is the driver as every installation of it names it.
const LibraryName = "libcuda.so.1"

// card is a device behind the driver: the primary context of one GPU, two streams
// and two events. It belongs to one OS thread.
type card struct {
	d        *driver
	device   uintptr // CUdevice, an ordinal
	about    DeviceInfo
	streams  [2]uintptr // by part; the confined one 0 until confine
	start    uintptr
	stop     uintptr
	green    uintptr
	smallest int // multiprocessors of the confined part
}

// Device attributes (cuda.h, CUdevice_attribute).
const (
	attributeSMs         = 16
	attributeMajor       = 75
	attributeMinor       = 76
	attributeSharedOptIn = 97
)

// OpenCard opens the ordinal-th device that the driver shows (CUDA_VISIBLE_DEVICES
// chooses and orders them). The caller stays on its OS thread.
func OpenCard(lib Library, ordinal int) (Device, error) {
	d, err := newDriver(lib)
	if err != nil {
		return nil, err
	}
	if err := d.call("cuInit", 0); err != nil {
		return nil, fmt.Errorf("the driver does not start: %w", err)
	}
	var count int32
	if err := d.call("cuDeviceGetCount", uintptr(unsafe.Pointer(&count))); err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= int(count) {
		return nil, fmt.Errorf("device %d: the driver shows %d devices", ordinal, count)
	}
	c := &card{d: d}
	if err := c.open(ordinal); err != nil {
		c.Close()
		return nil, fmt.Errorf("device %d: %w", ordinal, err)
	}
	return c, nil
}

func (c *card) open(ordinal int) error {
	var handle int32
	if err := c.d.call("cuDeviceGet", uintptr(unsafe.Pointer(&handle)), uintptr(ordinal)); err != nil {
		return err
	}
	c.device = uintptr(handle)
	if err := c.describe(ordinal); err != nil {
		return err
	}
	var context uintptr
	if err := c.d.call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&context)), c.device); err != nil {
		return err
	}
	if err := c.d.call("cuCtxSetCurrent", context); err != nil {
		return err
	}
	const nonBlocking = 1
	if err := c.d.call("cuStreamCreate", uintptr(unsafe.Pointer(&c.streams[WholeCard])), nonBlocking); err != nil {
		return err
	}
	if err := c.d.call("cuEventCreate", uintptr(unsafe.Pointer(&c.start)), 0); err != nil {
		return err
	}
	return c.d.call("cuEventCreate", uintptr(unsafe.Pointer(&c.stop)), 0)
}

// describe fills in what is known of the card.
func (c *card) describe(ordinal int) error {
	name := make([]byte, 256)
	if err := c.d.call("cuDeviceGetName", uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)-1), c.device); err != nil {
		return err
	}
	var version int32
	if err := c.d.call("cuDriverGetVersion", uintptr(unsafe.Pointer(&version))); err != nil {
		return err
	}
	var numbers [3]int
	for i, attribute := range []uintptr{attributeSMs, attributeMajor, attributeMinor} {
		n, err := c.attribute(attribute)
		if err != nil {
			return err
		}
		numbers[i] = n
	}
	var memory uint64
	if err := c.d.call("cuDeviceTotalMem_v2", uintptr(unsafe.Pointer(&memory)), c.device); err != nil {
		return err
	}
	c.about = DeviceInfo{
		Ordinal: ordinal, Name: cString(&name[0], len(name)),
		Capability: 10*numbers[1] + numbers[2], SMs: numbers[0], Memory: clampInt64(memory),
		Driver:  fmt.Sprintf("%d.%d", version/1000, version%1000/10),
		Release: driverRelease(),
	}
	return nil
}

func (c *card) attribute(which uintptr) (int, error) {
	var n int32
	err := c.d.call("cuDeviceGetAttribute", uintptr(unsafe.Pointer(&n)), which, c.device)
	return int(n), err
}

func (c *card) Info() DeviceInfo { return c.about }

func (c *card) Memory() (free, total int64, err error) {
	sizes := new([2]uint64)
	err = c.d.call("cuMemGetInfo_v2", uintptr(unsafe.Pointer(&sizes[0])), uintptr(unsafe.Pointer(&sizes[1])))
	return clampInt64(sizes[0]), clampInt64(sizes[1]), err
}

func (c *card) Alloc(bytes int64) (Address, error) {
	var at uint64
	err := c.d.call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&at)), uintptr(max(bytes, 1)))
	return Address(at), err
}

func (c *card) Free(at Address) error {
	return c.d.call("cuMemFree_v2", uintptr(at))
}

// Upload copies from host memory, after all that was asked of the card before.
func (c *card) Upload(dst Address, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	if err := c.wait(); err != nil {
		return err
	}
	if err := c.d.call("cuMemcpyHtoD_v2", uintptr(dst), uintptr(unsafe.Pointer(&src[0])), uintptr(len(src))); err != nil {
		return err
	}
	// The copy returns when the last piece is staged, and our stream does not
	// wait for the default one that carries it.
	return c.d.call("cuStreamSynchronize", 0)
}

func (c *card) Download(dst []byte, src Address) error {
	if len(dst) == 0 {
		return nil
	}
	if err := c.wait(); err != nil {
		return err
	}
	return c.d.call("cuMemcpyDtoH_v2", uintptr(unsafe.Pointer(&dst[0])), uintptr(src), uintptr(len(dst)))
}

func (c *card) Copy(dst, src Address, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return c.d.call("cuMemcpyDtoDAsync_v2", uintptr(dst), uintptr(src), uintptr(bytes), c.streams[WholeCard])
}

func (c *card) Fill(dst Address, value byte, bytes int64) error {
	return c.fillOn(c.streams[WholeCard], dst, value, bytes)
}

func (c *card) fillOn(stream uintptr, dst Address, value byte, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return c.d.call("cuMemsetD8Async", uintptr(dst), uintptr(value), uintptr(bytes), stream)
}

// wait blocks until the main stream is empty. Only fills, copies and helper
// kernels are ever in it then: run waits for its own launch, with a deadline.
func (c *card) wait() error {
	return c.d.call("cuStreamSynchronize", c.streams[WholeCard])
}

// Close gives everything back. Errors are of a context that is lost anyway, or of
// memory that the process's end frees.
func (c *card) Close() error {
	for _, s := range c.streams {
		if s != 0 {
			_ = c.d.call("cuStreamDestroy_v2", s)
		}
	}
	for _, e := range []uintptr{c.start, c.stop} {
		if e != 0 {
			_ = c.d.call("cuEventDestroy_v2", e)
		}
	}
	if c.green != 0 {
		_ = c.d.call("cuGreenCtxDestroy", c.green)
	}
	*c = card{d: c.d, device: c.device}
	err := c.d.call("cuDevicePrimaryCtxRelease_v2", c.device)
	runtime.KeepAlive(c)
	return err
}

func clampInt64(n uint64) int64 {
	return int64(min(n, math.MaxInt64))
}

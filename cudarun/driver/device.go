// Package driver speaks to NVIDIA's driver, libcuda, through purego: memory, modules,
// launches and TMA descriptors of one card. No cgo, no CUDA headers; the API is that of
// cuda.h. Sizes and offsets are bytes.
package driver

import (
	"errors"
	"fmt"
	"time"
)

// Device is all that a replay asks of a card. The driver stands behind it, or a
// fake. One goroutine uses a device, and it is pinned to its OS thread: a CUDA
// context is current to a thread.
type Device interface {
	Info() DeviceInfo
	// Memory returns the card's free and total bytes.
	Memory() (free, total int64, err error)

	Alloc(bytes int64) (Address, error)
	Free(Address) error
	Upload(dst Address, src []byte) error
	Download(dst []byte, src Address) error
	Copy(dst, src Address, bytes int64) error
	Fill(dst Address, value byte, bytes int64) error

	// Load gives a PTX text or a cubin to the driver's compiler and loader; lines
	// asks the compiler to keep the code's source lines.
	Load(image []byte, lines bool) (Module, error)
	Unload(Module) error
	// Function finds an entry and allows it its dynamic shared memory.
	Function(m Module, entry string, shared uint32) (Function, error)

	// Encode makes a TMA descriptor of memory of this card, TensorMapBytes long.
	Encode(m *TensorMap, at Address) ([]byte, error)

	// Confine prepares the smallest part of the card, and says how many
	// multiprocessors it has, or why there is none.
	Confine() (sms int, err error)

	// Run launches and waits, at most until the deadline; it returns the time on
	// the card. A kernel past its deadline is ErrHang, a fault is a *DriverError
	// for which fault() holds; after either the device is lost.
	Run(l Launch, where Part, deadline time.Duration) (time.Duration, error)

	Close() error
}

// DeviceInfo names a card and its driver.
type DeviceInfo struct {
	Ordinal    int    `json:"ordinal"`
	Name       string `json:"name"`
	Capability int    `json:"capability"` // 10*major + minor
	Driver     string `json:"driver"`     // CUDA version that the driver supports: "13.0"
	Release    string `json:"release,omitempty"`
	SMs        int    `json:"sms"`
	Memory     int64  `json:"memory"` // bytes
}

// Address is a pointer on the card.
type Address uint64

// Module is a loaded image.
type Module uintptr

// Function is an entry of a loaded module.
type Function struct {
	Handle uintptr
	Entry  string
	Params []int // sizes of its parameters in bytes; nil where the driver does not tell
}

// Part says on how much of the card a kernel runs.
type Part int

const (
	WholeCard Part = iota
	ConfinedPart
)

// MaxParams is the most parameters of a kernel: CUDA allows 32,764 bytes of them.
const MaxParams = 4096

// Launch is one kernel launch with everything resolved.
type Launch struct {
	Function Function
	Grid     [3]uint32 // in blocks
	Block    [3]uint32
	Cluster  [3]uint32 // blocks of a cluster; zeros and ones: none
	Shared   uint32    // dynamic shared memory, bytes
	Params   [][]byte
	Zero     []FillRange // zeroed before the launch, on its stream
}

// FillRange is memory to zero.
type FillRange struct {
	At    Address
	Bytes int64
}

// check holds the launch's parameters against what the driver says the entry takes.
func (l *Launch) check() error {
	if l.Function.Params == nil {
		return nil
	}
	if len(l.Function.Params) != len(l.Params) {
		return fmt.Errorf("%s takes %d parameters, the plan has %d", l.Function.Entry, len(l.Function.Params), len(l.Params))
	}
	for i, size := range l.Function.Params {
		if size != len(l.Params[i]) {
			return fmt.Errorf("%s: parameter %d has %d bytes, the plan has %d", l.Function.Entry, i, size, len(l.Params[i]))
		}
	}
	return nil
}

// ErrorText is an error without a place of its own.
type ErrorText string

func (e ErrorText) Error() string { return string(e) }

// ErrHang is a kernel that did not end before its deadline.
const ErrHang = ErrorText("the kernel did not end before its deadline")

// DriverError is a call of the driver that failed.
type DriverError struct {
	Call string // cuMemAlloc_v2
	Code int    // CUresult
	Name string // CUDA_ERROR_OUT_OF_MEMORY
	Text string // the driver's words
}

func (e *DriverError) Error() string {
	return fmt.Sprintf("%s: %s (%d): %s", e.Call, e.Name, e.Code, e.Text)
}

// CUresult codes that replays tell apart (cuda.h, enum cudaError_enum).
const (
	CodeInvalidValue   = 1
	CodeOutOfMemory    = 2
	codeNoBinary       = 209
	CodeInvalidPTX     = 218
	CodeNotFound       = 500
	codeNotReady       = 600
	CodeIllegalAddress = 700
	CodeOutOfResources = 701
	CodeLaunchFailed   = 719
)

// fault says whether the error is a kernel's own fault: the context is lost.
// 700 illegal address, 702 timeout, 710 assert, 714 to 719 hardware stack,
// illegal instruction, misaligned address, address space, pc, launch failure.
func (e *DriverError) fault() bool {
	switch {
	case e.Code == CodeIllegalAddress, e.Code == 702, e.Code == 710:
		return true
	}
	return e.Code >= 714 && e.Code <= CodeLaunchFailed
}

// IsFault says whether err is a fault of the kernel that ran.
func IsFault(err error) bool {
	var e *DriverError
	return errors.As(err, &e) && e.fault()
}

// CodeOf is the CUresult behind err, 0 where there is none.
func CodeOf(err error) int {
	var e *DriverError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// IsFull says whether err means that the card has no memory left.
func IsFull(err error) bool {
	var e *DriverError
	return errors.As(err, &e) && e.Code == CodeOutOfMemory
}

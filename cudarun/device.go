package cudarun

import (
	"errors"
	"fmt"
	"time"
)

// device is all that a replay asks of a card. The driver stands behind it, or a
// fake. One goroutine uses a device, and it is pinned to its OS thread: a CUDA
// context is current to a thread.
type device interface {
	info() DeviceInfo
	// memory returns the card's free and total bytes.
	memory() (free, total int64, err error)

	alloc(bytes int64) (address, error)
	free(address) error
	upload(dst address, src []byte) error
	download(dst []byte, src address) error
	copy(dst, src address, bytes int64) error
	fill(dst address, value byte, bytes int64) error

	// load gives a PTX text or a cubin to the driver's compiler and loader; lines
	// asks the compiler to keep the code's source lines.
	load(image []byte, lines bool) (module, error)
	unload(module) error
	// function finds an entry and allows it its dynamic shared memory.
	function(m module, entry string, shared uint32) (function, error)

	// encode makes a TMA descriptor of memory of this card, tensorMapBytes long.
	encode(m *TensorMap, at address) ([]byte, error)

	// confine prepares the smallest part of the card, and says how many
	// multiprocessors it has, or why there is none.
	confine() (sms int, err error)

	// run launches and waits, at most until the deadline; it returns the time on
	// the card. A kernel past its deadline is errHang, a fault is a *driverError
	// for which fault() holds; after either the device is lost.
	run(l launch, where part, deadline time.Duration) (time.Duration, error)

	close() error
}

// address is a pointer on the card.
type address uint64

// module is a loaded image.
type module uintptr

// function is an entry of a loaded module.
type function struct {
	handle uintptr
	entry  string
	params []int // sizes of its parameters in bytes; nil where the driver does not tell
}

// part says on how much of the card a kernel runs.
type part int

const (
	wholeCard part = iota
	confinedPart
)

// launch is one kernel launch with everything resolved.
type launch struct {
	fn      function
	grid    [3]uint32 // in blocks
	block   [3]uint32
	cluster [3]uint32 // blocks of a cluster; zeros and ones: none
	shared  uint32    // dynamic shared memory, bytes
	params  [][]byte
	zero    []fillRange // zeroed before the launch, on its stream
}

// fillRange is memory to zero.
type fillRange struct {
	at    address
	bytes int64
}

// check holds the launch's parameters against what the driver says the entry takes.
func (l *launch) check() error {
	if l.fn.params == nil {
		return nil
	}
	if len(l.fn.params) != len(l.params) {
		return fmt.Errorf("%s takes %d parameters, the plan has %d", l.fn.entry, len(l.fn.params), len(l.params))
	}
	for i, size := range l.fn.params {
		if size != len(l.params[i]) {
			return fmt.Errorf("%s: parameter %d has %d bytes, the plan has %d", l.fn.entry, i, size, len(l.params[i]))
		}
	}
	return nil
}

// errorText is an error without a place of its own.
type errorText string

func (e errorText) Error() string { return string(e) }

// errHang is a kernel that did not end before its deadline.
const errHang = errorText("the kernel did not end before its deadline")

// driverError is a call of the driver that failed.
type driverError struct {
	Call string // cuMemAlloc_v2
	Code int    // CUresult
	Name string // CUDA_ERROR_OUT_OF_MEMORY
	Text string // the driver's words
}

func (e *driverError) Error() string {
	return fmt.Sprintf("%s: %s (%d): %s", e.Call, e.Name, e.Code, e.Text)
}

// CUresult codes that replays tell apart (cuda.h, enum cudaError_enum).
const (
	codeInvalidValue   = 1
	codeOutOfMemory    = 2
	codeNoBinary       = 209
	codeInvalidPTX     = 218
	codeNotFound       = 500
	codeNotReady       = 600
	codeIllegalAddress = 700
	codeOutOfResources = 701
	codeLaunchFailed   = 719
)

// fault says whether the error is a kernel's own fault: the context is lost.
// 700 illegal address, 702 timeout, 710 assert, 714 to 719 hardware stack,
// illegal instruction, misaligned address, address space, pc, launch failure.
func (e *driverError) fault() bool {
	switch {
	case e.Code == codeIllegalAddress, e.Code == 702, e.Code == 710:
		return true
	}
	return e.Code >= 714 && e.Code <= codeLaunchFailed
}

// isFault says whether err is a fault of the kernel that ran.
func isFault(err error) bool {
	var e *driverError
	return errors.As(err, &e) && e.fault()
}

// codeOf is the CUresult behind err, 0 where there is none.
func codeOf(err error) int {
	var e *driverError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// isFull says whether err means that the card has no memory left.
func isFull(err error) bool {
	var e *driverError
	return errors.As(err, &e) && e.Code == codeOutOfMemory
}

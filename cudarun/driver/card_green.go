package driver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"
)

// A CUdevResource is 144 bytes: its type, padding, and at byte 96 a union whose
// first field is the number of multiprocessors. resourceBytes leaves room for
// later drivers; only one resource is ever asked for, so arrays do not matter.
const (
	resourceBytes = 512
	resourceCount = 96
	resourceSM    = 1 // CU_DEV_RESOURCE_TYPE_SM
)

// Confine makes a green context of the smallest part of the card that the driver
// gives, and a stream on it.
func (c *card) Confine() (int, error) {
	if c.streams[ConfinedPart] != 0 {
		return c.smallest, nil
	}
	if !c.d.has("cuDeviceGetDevResource", "cuDevSmResourceSplitByCount", "cuDevResourceGenerateDesc",
		"cuGreenCtxCreate", "cuGreenCtxDestroy", "cuGreenCtxStreamCreate") {
		return 0, errors.New("the driver has no green contexts: they came with CUDA 12.4")
	}
	all := make([]byte, resourceBytes)
	if err := c.d.call("cuDeviceGetDevResource", c.device, uintptr(unsafe.Pointer(&all[0])), resourceSM); err != nil {
		return 0, err
	}
	part, err := c.smallestPart(all)
	if err != nil {
		return 0, err
	}
	var description uintptr
	if err := c.d.call("cuDevResourceGenerateDesc", uintptr(unsafe.Pointer(&description)), uintptr(unsafe.Pointer(&part[0])), 1); err != nil {
		return 0, err
	}
	const defaultStream, nonBlocking = 1, 1
	if err := c.d.call("cuGreenCtxCreate", uintptr(unsafe.Pointer(&c.green)), description, c.device, defaultStream); err != nil {
		return 0, err
	}
	if err := c.d.call("cuGreenCtxStreamCreate", uintptr(unsafe.Pointer(&c.streams[ConfinedPart])), c.green, nonBlocking, 0); err != nil {
		return 0, err
	}
	c.smallest = int(binary.NativeEndian.Uint32(part[resourceCount:]))
	return c.smallest, nil
}

// smallestPart asks for parts of 1, 2, 4, ... multiprocessors until the driver
// agrees: the least that it gives depends on the architecture.
func (c *card) smallestPart(all []byte) ([]byte, error) {
	var last error
	for least := 1; least <= 64; least *= 2 {
		part := make([]byte, resourceBytes)
		groups := uint32(1)
		last = c.d.call("cuDevSmResourceSplitByCount", uintptr(unsafe.Pointer(&part[0])), uintptr(unsafe.Pointer(&groups)),
			uintptr(unsafe.Pointer(&all[0])), 0, 0, uintptr(least))
		if last == nil && groups == 1 {
			return part, nil
		}
	}
	return nil, fmt.Errorf("the driver does not split the card: %w", last)
}

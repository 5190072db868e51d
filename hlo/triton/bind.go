package triton

import (
	"fmt"
	"math"
)

// Source says where the bytes of an entry's parameter come from.
type Source uint8

// The sources.
const (
	FromValue      Source = iota // a scalar's bits
	FromBuffer                   // a buffer's address
	FromDescriptor               // a TMA descriptor of a buffer, 128 bytes
	FromScratch                  // the address of the launch's global scratch, null without
	FromProfiler                 // the profiling buffer: jaxlib passes null
)

// Argument is what one parameter of the PTX entry is given.
type Argument struct {
	Source Source
	Param  int // index into Kernel.Params, -1 for scratch and profiler
	Buffer int // index into the launch's buffers, -1 where there is none
	Size   int // bytes of the entry's parameter
	Bits   uint64
}

// Binding is one kernel's arguments, ready for a launch.
type Binding struct {
	Arguments    []Argument
	ScratchBytes int64 // of the whole launch; 0: the scratch pointer is null
}

// Sizes of an entry's parameters in bytes.
const (
	pointerSize    = 8
	descriptorSize = 128
)

// Bind joins the kernel's parameters with the parameters of its PTX entry, whose
// sizes in bytes are given, and with the launch's buffers: operands, then results,
// flattened. Each array or descriptor takes the next buffer. There may be fewer of
// them than buffers: jax-triton 0.4.0 passes no pointer for a declared result.
// The entry may have up to two pointers more, for the global scratch and the profiler.
func (k *Kernel) Bind(entry []int, buffers int) (Binding, error) {
	var b Binding
	if len(entry) < len(k.Params) {
		return b, fmt.Errorf("kernel %s: %d parameters for an entry of %d", k.Name, len(k.Params), len(entry))
	}
	next := 0
	for i, p := range k.Params {
		arg := Argument{Param: i, Buffer: -1, Size: entry[i], Bits: p.Bits}
		want := int(p.Size)
		switch p.Kind {
		case Array:
			arg.Source, arg.Buffer, want = FromBuffer, next, pointerSize
			next++
		case Descriptor:
			arg.Source, arg.Buffer, want = FromDescriptor, next, descriptorSize
			next++
		case Other:
			return b, fmt.Errorf("kernel %s: parameter %d is of an unknown kind: %s", k.Name, i, p.Type)
		}
		if entry[i] != want {
			return b, fmt.Errorf("kernel %s: parameter %d has %d bytes, the entry's %d", k.Name, i, want, entry[i])
		}
		b.Arguments = append(b.Arguments, arg)
	}
	if next > buffers {
		return b, fmt.Errorf("kernel %s: %d pointers for %d buffers", k.Name, next, buffers)
	}
	err := k.bindTrailing(&b, entry)
	return b, err
}

// bindTrailing binds what follows the kernel's own parameters in newer jaxlib.
func (k *Kernel) bindTrailing(b *Binding, entry []int) error {
	trailing := entry[len(k.Params):]
	if len(trailing) > 2 {
		return fmt.Errorf("kernel %s: %d parameters for an entry of %d", k.Name, len(k.Params), len(entry))
	}
	for i, size := range trailing {
		if size != pointerSize {
			return fmt.Errorf("kernel %s: the entry's parameter %d has %d bytes, a pointer was expected",
				k.Name, len(k.Params)+i, size)
		}
		b.Arguments = append(b.Arguments, Argument{
			Source: FromScratch + Source(i), Param: -1, Buffer: -1, Size: size})
	}
	g, err := k.Geometry()
	if err != nil || k.ScratchSize == 0 || len(trailing) == 0 {
		return err
	}
	if g.Blocks > math.MaxInt64/int64(k.ScratchSize) {
		return fmt.Errorf("kernel %s: global scratch of %d bytes for each of %d blocks", k.Name, k.ScratchSize, g.Blocks)
	}
	b.ScratchBytes = g.Blocks * int64(k.ScratchSize)
	return nil
}

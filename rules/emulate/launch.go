package emulate

import (
	"encoding/binary"
	"fmt"
	"slices"

	"aliascheck/hlo/kernel"
	"aliascheck/rules/ptx"
	"aliascheck/rules/ptx/syntax"
	"aliascheck/rules/replay"
)

// configuration is one kernel of a plan, parsed and bound.
type configuration struct {
	kernel   *kernel.Configuration
	geometry kernel.Geometry
	entry    *syntax.Entry
	params   []kernel.Param // those of the entry
	pointers []int          // the buffers that it has a pointer to, ascending
}

// codeError is a file of code that cannot be read, or that is another kernel's.
type codeError struct{ error }

func (e codeError) Unwrap() error { return e.error }

// damageOf tells damaged code from code that is not understood. What came out of a
// payload with a checksum is as its compiler wrote it; a file has no checksum.
func damageOf(k *kernel.Configuration, err error) error {
	if k.File == "" {
		return err
	}
	return codeError{err}
}

// newConfiguration parses kernel k's PTX and binds its parameters to the buffers.
func (p kernelPlan) newConfiguration(k *kernel.Configuration) (*configuration, error) {
	g, err := k.Geometry()
	if err != nil {
		return nil, err
	}
	entry, err := replay.ParseEntry(k)
	if err != nil {
		return nil, damageOf(k, err)
	}
	params, err := replay.Bind(k, entry, len(p.Buffers))
	if err != nil {
		return nil, err
	}
	for i := range params {
		if err := p.checkParam(i, &params[i]); err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Entry, err)
		}
	}
	return &configuration{kernel: k, geometry: g, entry: entry, params: params, pointers: k.Buffers()}, nil
}

// checkParam holds parameter i to the buffers that it names.
func (p kernelPlan) checkParam(i int, param *kernel.Param) error {
	outside := func(n int, offset int64) error {
		if size := p.Buffers[n].Size; offset < 0 || offset > size {
			return fmt.Errorf("parameter %d begins at byte %d of a buffer of %d bytes", i, offset, size)
		}
		return nil
	}
	switch param.Kind {
	case kernel.Pointer:
		if err := outside(param.Buffer, param.Offset); err != nil {
			return err
		}
		if size := p.Buffers[param.Buffer].Size; param.Zero > uint64(size-param.Offset) {
			return fmt.Errorf("bytes_to_zero of parameter %d is %d for a buffer of %d bytes", i, param.Zero, size)
		}
	case kernel.TensorMaps:
		for n := range param.Maps {
			if err := outside(param.Maps[n].Buffer, param.Maps[n].Offset); err != nil {
				return err
			}
			if _, err := hostDescriptor(&param.Maps[n]); err != nil {
				return fmt.Errorf("parameter %d: %w", i, err)
			}
		}
	}
	return nil
}

// memory is what a launch's pointers point into: buffers of the machine, and for
// each buffer of the plan the one it stands in, and where.
type memory struct {
	buffers []ptx.Buffer
	at      []replay.Place // Group is an index into buffers
}

// apart gives every buffer memory of its own. A claimed result starts as a copy
// of its operand; other results hold what nobody knows.
func (p kernelPlan) apart(contents [][]byte) memory {
	var m memory
	for n, b := range p.Buffers {
		from := n
		if n >= p.Operands {
			from = b.Claimant
		}
		buffer := ptx.Buffer{Name: p.Name(n), Size: b.Size}
		if from >= 0 && from < len(contents) && int64(len(contents[from])) == b.Size {
			buffer.Contents = contents[from]
		}
		m.buffers = append(m.buffers, buffer)
		m.at = append(m.at, replay.Place{Group: n})
	}
	return m
}

// launch makes the launch of a configuration on some memory.
func (c *configuration) launch(m memory) *ptx.Launch {
	l := &ptx.Launch{
		Entry: c.entry, Grid: c.geometry.Grid, Block: c.geometry.Block, Cluster: c.geometry.Cluster,
		DynamicShared: c.kernel.Shared,
		Buffers:       append([]ptx.Buffer(nil), m.buffers...),
	}
	for i := range c.params {
		l.Args = append(l.Args, c.arg(&c.params[i], m, l))
	}
	return l
}

// arg is the value of one parameter.
func (c *configuration) arg(p *kernel.Param, m memory, l *ptx.Launch) ptx.Arg {
	switch p.Kind {
	case kernel.Pointer:
		at := m.at[p.Buffer]
		return ptx.Arg{Buffer: at.Group, Offset: at.Offset + p.Offset, Zero: int64(p.Zero)}
	case kernel.TensorMaps:
		arg := ptx.Scalar(nil)
		for i := range p.Maps {
			at := m.at[p.Maps[i].Buffer]
			d, _ := hostDescriptor(&p.Maps[i]) // newConfiguration has looked
			arg.Tensors = append(arg.Tensors, ptx.HostMap{Map: d, Buffer: at.Group, Offset: at.Offset + p.Maps[i].Offset})
		}
		return arg
	case kernel.Scalar:
		return ptx.Scalar(binary.LittleEndian.AppendUint64(nil, p.Bits)[:min(p.Size, 8)])
	case kernel.Scratch:
		if p.Bytes > 0 {
			l.Buffers = append(l.Buffers, ptx.Buffer{Name: "global scratch", Size: p.Bytes, Scratch: true})
			return ptx.Pointer(len(l.Buffers) - 1)
		}
	}
	return ptx.Scalar(make([]byte, 8)) // null
}

// takes reports whether the configuration has a pointer to buffer n.
func (c *configuration) takes(n int) bool {
	_, takes := slices.BinarySearch(c.pointers, n)
	return takes
}

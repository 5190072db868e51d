package rules

import (
	"encoding/binary"
	"fmt"

	"aliascheck/hlo/triton"
	"aliascheck/rules/ptx"
	"aliascheck/rules/ptx/syntax"
)

// configuration is one kernel of a plan, parsed and bound.
type configuration struct {
	kernel   *triton.Kernel
	geometry triton.Geometry
	entry    *syntax.Entry
	binding  triton.Binding
}

// newConfiguration parses kernel k's PTX and binds its parameters to the buffers.
func (p *kernelPlan) newConfiguration(k *triton.Kernel) (*configuration, error) {
	g, err := k.Geometry()
	if err != nil {
		return nil, err
	}
	if len(k.PTX) == 0 {
		return nil, fmt.Errorf("kernel %s: the call holds no PTX", k.Name)
	}
	module, err := syntax.Parse(k.Name+".ptx", k.PTX)
	if err != nil {
		return nil, err
	}
	entry := module.Entry(k.Name)
	if entry == nil {
		return nil, fmt.Errorf("kernel %s: the PTX has no entry of this name", k.Name)
	}
	sizes := make([]int, 0, len(entry.Params))
	for _, param := range entry.Params {
		sizes = append(sizes, param.Size)
	}
	binding, err := k.Bind(sizes, len(p.Buffers))
	if err != nil {
		return nil, err
	}
	for _, arg := range binding.Arguments {
		if arg.Source == triton.FromDescriptor {
			if _, err := hostDescriptor(k.Params[arg.Param].Tensor); err != nil {
				return nil, fmt.Errorf("kernel %s: parameter %d: %w", k.Name, arg.Param, err)
			}
		}
		if arg.Source == triton.FromBuffer && k.Params[arg.Param].BytesToZero > uint64(p.Buffers[arg.Buffer].Size) {
			return nil, fmt.Errorf("kernel %s: bytes_to_zero of parameter %d is %d for a buffer of %d bytes",
				k.Name, arg.Param, k.Params[arg.Param].BytesToZero, p.Buffers[arg.Buffer].Size)
		}
	}
	return &configuration{kernel: k, geometry: g, entry: entry, binding: binding}, nil
}

// memory is what a launch's pointers point into: buffers of the machine, and for
// each buffer of the plan the one it stands in, and where.
type memory struct {
	buffers []ptx.Buffer
	at      []place // Group is an index into buffers
}

// apart gives every buffer memory of its own. A claimed result starts as a copy
// of its operand; other results hold what nobody knows.
func (p *kernelPlan) apart(contents [][]byte) memory {
	var m memory
	for n, b := range p.Buffers {
		from := n
		if n >= p.Operands {
			from = b.Claimant
		}
		buffer := ptx.Buffer{Name: p.bufferName(n), Size: b.Size}
		if from >= 0 && from < len(contents) && int64(len(contents[from])) == b.Size {
			buffer.Contents = contents[from]
		}
		m.buffers = append(m.buffers, buffer)
		m.at = append(m.at, place{Group: n})
	}
	return m
}

// bufferName is what messages call buffer n.
func (p *kernelPlan) bufferName(n int) string {
	if n < p.Operands {
		return fmt.Sprintf("operand %d", n)
	}
	return fmt.Sprintf("result %d", n-p.Operands)
}

// launch makes the launch of a configuration on some memory.
func (c *configuration) launch(m memory) *ptx.Launch {
	l := &ptx.Launch{
		Entry: c.entry, Grid: c.geometry.Grid, Block: c.geometry.Block, Cluster: c.geometry.Cluster,
		DynamicShared: c.kernel.SharedBytes,
		Buffers:       append([]ptx.Buffer(nil), m.buffers...),
	}
	for _, arg := range c.binding.Arguments {
		switch arg.Source {
		case triton.FromBuffer:
			at := m.at[arg.Buffer]
			l.Args = append(l.Args, ptx.Arg{Buffer: at.Group, Offset: at.Offset, Zero: int64(c.kernel.Params[arg.Param].BytesToZero)})
		case triton.FromDescriptor:
			at := m.at[arg.Buffer]
			d, _ := hostDescriptor(c.kernel.Params[arg.Param].Tensor) // newConfiguration has looked
			l.Args = append(l.Args, ptx.Arg{Buffer: at.Group, Offset: at.Offset, Tensor: d})
		case triton.FromScratch:
			l.Args = append(l.Args, c.scratch(l))
		case triton.FromValue:
			l.Args = append(l.Args, ptx.Scalar(binary.LittleEndian.AppendUint64(nil, arg.Bits)[:arg.Size]))
		default:
			l.Args = append(l.Args, ptx.Scalar(make([]byte, 8)))
		}
	}
	return l
}

// scratch adds the launch's global scratch, where it has one.
func (c *configuration) scratch(l *ptx.Launch) ptx.Arg {
	if c.binding.ScratchBytes == 0 {
		return ptx.Scalar(make([]byte, 8))
	}
	l.Buffers = append(l.Buffers, ptx.Buffer{Name: "global scratch", Size: c.binding.ScratchBytes, Scratch: true})
	return ptx.Pointer(len(l.Buffers) - 1)
}

// takes reports whether the configuration has a pointer to buffer n.
func (c *configuration) takes(n int) bool { return n < c.kernel.Pointers() }

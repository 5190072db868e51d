package cudarun

import (
	"encoding/binary"
	"errors"
	"fmt"

	"aliascheck/alias"
	"aliascheck/hlo/kernel"
	"aliascheck/rules/replay"
)

// BuildOptions say what a dump does not.
type BuildOptions struct {
	Name string

	// Contents gives the initial bytes of an array leaf (an operand of the call,
	// or a bystander's value), little-endian and dense, and says in words where
	// they come from. nil bytes: the value has no contents.
	Contents func(l *alias.Leaf) (bytes []byte, origin string, err error)

	// Arrangement says how the buffers lie in the shared runs.
	Arrangement replay.Arrangement

	// FloatAtomics adds to what the PTX itself shows.
	FloatAtomics bool
	Tolerance    float64
}

// BuildPlan puts the plan of a call into what a worker is sent: buffers are the call's
// operand leaves, then its result leaves. Where a leaf has no slice there is no shared
// layout, and there are no trials.
func BuildPlan(c *replay.Case, o BuildOptions) (*Plan, error) {
	p := &Plan{Name: o.Name, FloatAtomics: o.FloatAtomics, Tolerance: o.Tolerance}
	b := builder{Plan: p, of: c, call: c.Call, options: o, known: map[int32]int{}}
	if err := b.buffers(); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	for i := range c.Kernel.Configurations {
		if err := b.kernel(&c.Kernel.Configurations[i]); err != nil {
			return nil, fmt.Errorf("%s: configuration %d: %w", o.Name, i, err)
		}
	}
	places, ok := o.Arrangement.Places(c.Call, nil, layoutAlign)
	if ok && c.Kernel.Autotuned {
		var err error
		if places, err = b.trials(places); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
	}
	if ok {
		p.Shared = places
	}
	return p, p.Check()
}

// builder is a plan in the making.
type builder struct {
	*Plan
	of      *replay.Case
	call    *alias.Call
	options BuildOptions
	known   map[int32]int // the buffer that holds a value
}

// buffers makes the operands and results.
func (b *builder) buffers() error {
	for n := range b.call.Operands {
		l := &b.call.Operands[n]
		if err := b.value(l, Operand, fmt.Sprintf("operand %d%s", l.Operand, indexText(l)), b.of.Plan.Buffers[n].Ready); err != nil {
			return err
		}
	}
	for n := range b.call.Results {
		l := &b.call.Results[n]
		claims := b.of.Plan.Buffers[b.of.Plan.Operands+n].Claimant
		if claims < 0 || b.call.Operands[claims].Bytes != l.Bytes {
			claims = NoBuffer
		}
		b.Buffers = append(b.Buffers, Buffer{
			Label: "result " + alias.Index(l.Index).String(), Role: Result, Bytes: l.Bytes, Element: l.Element.String(), Claims: claims,
		})
	}
	return nil
}

// value adds a buffer with contents.
func (b *builder) value(l *alias.Leaf, role Role, label string, ready bool) error {
	contents, origin, err := b.contents(l)
	if err != nil {
		return fmt.Errorf("%s: %w", label, err)
	}
	b.known[l.Value] = len(b.Buffers)
	b.Buffers = append(b.Buffers, Buffer{
		Label: label, Role: role, Bytes: l.Bytes, Element: l.Element.String(), Claims: NoBuffer,
		Contents: contents, Origin: origin, Ready: ready,
	})
	return nil
}

// contents asks for a value's contents once: a value that a call takes twice
// holds one thing.
func (b *builder) contents(l *alias.Leaf) ([]byte, string, error) {
	if n, ok := b.known[l.Value]; ok && l.Value >= 0 && b.Buffers[n].Bytes == l.Bytes {
		return b.Buffers[n].Contents, b.Buffers[n].Origin, nil
	}
	return b.options.Contents(l)
}

// kernel adds one configuration.
func (b *builder) kernel(k *kernel.Configuration) error {
	g, err := k.Geometry()
	if err != nil {
		return err
	}
	entry, err := replay.ParseEntry(k)
	if err != nil {
		return err
	}
	bound, err := replay.Bind(k, entry, len(b.of.Plan.Buffers))
	if err != nil {
		return err
	}
	out := Kernel{
		Entry: k.Entry, Description: k.Description, PTX: k.PTX, Capability: int(k.Capability),
		Grid: g.Grid, Block: g.Block, Cluster: g.Cluster, Shared: k.Shared,
	}
	switch {
	case len(k.Cubin) > 0 && len(k.PTX) == 0:
		out.Cubin, out.Entry, out.Shared = k.Cubin, k.CubinEntry, k.CubinShared
	case k.CubinEntry == k.Entry && k.CubinShared == k.Shared:
		out.Cubin = k.Cubin
	}
	for i := range bound {
		p := &bound[i]
		param, err := newParam(p)
		if err != nil {
			return fmt.Errorf("parameter %d: %w", i, err)
		}
		out.Params = append(out.Params, param)
		if p.Zero > 0 {
			if p.Offset != 0 || p.Zero > uint64(b.Buffers[p.Buffer].Bytes) {
				return fmt.Errorf("parameter %d: %d bytes to zero in a buffer of %d", i, p.Zero, b.Buffers[p.Buffer].Bytes)
			}
			out.Zero = append(out.Zero, Zero{Buffer: p.Buffer, Bytes: int64(p.Zero)})
		}
	}
	b.FloatAtomics = b.FloatAtomics || entry.AddsFloatsAtomically()
	b.Kernels = append(b.Kernels, out)
	return nil
}

// newParam turns a parameter of the call into one of the plan.
func newParam(p *kernel.Param) (Param, error) {
	switch p.Kind {
	case kernel.Pointer:
		if p.Divisibility > 1<<30 {
			return Param{}, fmt.Errorf("divisibility %d", p.Divisibility)
		}
		return Param{Kind: ParamBuffer, Buffer: p.Buffer, Offset: p.Offset, Divisibility: int64(p.Divisibility)}, nil
	case kernel.Scalar:
		return Param{Kind: ParamScalar, Scalar: binary.LittleEndian.AppendUint64(nil, p.Bits)[:min(p.Size, 8)]}, nil
	case kernel.Scratch:
		return Param{Kind: ParamScratch, Bytes: p.Bytes, Align: int64(p.Align)}, nil
	case kernel.Null:
		return Param{Kind: ParamNull}, nil
	case kernel.TensorMaps:
		out := Param{Kind: ParamTensor}
		for i := range p.Maps {
			m, err := tensorMap(&p.Maps[i])
			if err != nil {
				return Param{}, err
			}
			out.Tensors = append(out.Tensors, Tensor{Buffer: p.Maps[i].Buffer, Offset: p.Maps[i].Offset, Map: m})
		}
		return out, nil
	}
	return Param{}, errors.New("it comes from nowhere that is known")
}

// trials adds the autotuner's sequence, and for the initialize phase the values
// that lie under the call's results and are there before the program runs.
func (b *builder) trials(places []replay.Place) ([]replay.Place, error) {
	b.Trials = &Trials{Phase: PhaseExecute}
	for _, e := range b.of.Kernel.Saved {
		b.Trials.Entries = append(b.Trials.Entries, SaveEntry{Input: e.Input, Output: e.Output, Bytes: asInt64(e.Size)})
	}
	if !b.of.Kernel.Early {
		return places, nil
	}
	b.Trials.Phase = PhaseInitialize
	beside := replay.Bystanders(b.call)
	for i := range beside {
		if err := b.value(&beside[i].Leaf, Bystander, beside[i].Name+indexText(&beside[i].Leaf), true); err != nil {
			return nil, err
		}
	}
	places, _ = b.options.Arrangement.Places(b.call, beside, layoutAlign)
	return places, nil
}

// indexText is a leaf's index where the value is a tuple.
func indexText(l *alias.Leaf) string {
	if len(l.Index) == 0 {
		return ""
	}
	return " " + alias.Index(l.Index).String()
}

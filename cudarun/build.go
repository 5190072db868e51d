package cudarun

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"aliascheck/alias"
	"aliascheck/hlo/kernel"
)

// BuildOptions say what a dump does not.
type BuildOptions struct {
	Name string

	// EntrySizes gives the sizes in bytes of the parameters of a kernel's PTX
	// entry, in order.
	EntrySizes func(k *kernel.Configuration) ([]int, error)

	// Contents gives the initial bytes of an array leaf (an operand of the call,
	// or a bystander's value), little-endian and dense, and says in words where
	// they come from. nil bytes: the value has no contents.
	Contents func(l *alias.Leaf) (bytes []byte, origin string, err error)

	// Share lists pairs, numbers into Call.Operands and Call.Results, that the
	// shared runs put in one place although the assignment has them apart
	// (AC202's replay).
	Share []Pair
	// Only, where given, keeps apart everything but this pair, which lies as the
	// assignment has it: to tell it from others of the call.
	Only *Pair

	// FloatAtomics adds to what the PTX itself shows.
	FloatAtomics bool
	Tolerance    float64
}

// Pair is an operand leaf and a result leaf of a call.
type Pair struct{ Operand, Result int }

// BuildPlan makes the plan that replays a call: buffers are its operand leaves,
// then its result leaves; the shared layout is the buffer assignment's. Where a
// leaf has no slice the plan has no shared layout, and no trials.
func BuildPlan(c *alias.Call, kernels *kernel.Call, o BuildOptions) (*Plan, error) {
	p := &Plan{Name: o.Name, FloatAtomics: o.FloatAtomics, Tolerance: o.Tolerance}
	b := builder{Plan: p, call: c, options: o, known: map[int32]int{}}
	if err := b.buffers(); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	for i := range kernels.Configurations {
		if err := b.kernel(&kernels.Configurations[i]); err != nil {
			return nil, fmt.Errorf("%s: configuration %d: %w", o.Name, i, err)
		}
	}
	places, ok := b.slices()
	if ok && kernels.Autotuned {
		if err := b.trials(kernels, &places); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
	}
	if ok {
		p.Shared = GroupOverlaps(places)
	}
	return p, p.Check()
}

// builder is a plan in the making.
type builder struct {
	*Plan
	call    *alias.Call
	options BuildOptions
	known   map[int32]int // the buffer that holds a value
}

// buffers makes the operands and results.
func (b *builder) buffers() error {
	for n := range b.call.Operands {
		l := &b.call.Operands[n]
		if err := b.value(l, Operand, fmt.Sprintf("operand %d%s", l.Operand, indexText(l))); err != nil {
			return err
		}
	}
	for n := range b.call.Results {
		l := &b.call.Results[n]
		claims := b.call.Claimant(n)
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
func (b *builder) value(l *alias.Leaf, role Role, label string) error {
	contents, origin, err := b.contents(l)
	if err != nil {
		return fmt.Errorf("%s: %w", label, err)
	}
	b.known[l.Value] = len(b.Buffers)
	b.Buffers = append(b.Buffers, Buffer{
		Label: label, Role: role, Bytes: l.Bytes, Element: l.Element.String(), Claims: NoBuffer,
		Contents: contents, Origin: origin, Ready: b.ready(l.Value),
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

// ready says whether a value is there before the program runs: a parameter of the
// entry computation, or a constant.
func (b *builder) ready(value int32) bool {
	if value < 0 {
		return false
	}
	m := b.call.Module
	in := &m.Instructions[m.Values[value].Instruction]
	return in.Opcode == "constant" || in.Opcode == "parameter" && in.Computation == m.Entry
}

// kernel adds one configuration.
func (b *builder) kernel(k *kernel.Configuration) error {
	g, err := k.Geometry()
	if err != nil {
		return err
	}
	sizes, err := b.options.EntrySizes(k)
	if err != nil {
		return err
	}
	bound, err := k.Bind(sizes, len(b.call.Operands)+len(b.call.Results))
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
	b.FloatAtomics = b.FloatAtomics || addsFloats(k.PTX)
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

// slices are the leaves' places; false where one has none.
func (b *builder) slices() ([]Slice, bool) {
	var all []Slice
	for _, leaves := range [][]alias.Leaf{b.call.Operands, b.call.Results} {
		for i := range leaves {
			l := &leaves[i]
			if l.Allocation < 0 && l.Bytes > 0 {
				return nil, false
			}
			all = append(all, Slice{Allocation: int64(l.Allocation), Offset: l.Slice.Offset, Bytes: l.Bytes})
		}
	}
	operands := len(b.call.Operands)
	for _, pair := range b.options.Share {
		all[operands+pair.Result] = all[pair.Operand]
	}
	if only := b.options.Only; only != nil {
		for i := range all {
			if i != only.Operand && i != operands+only.Result {
				all[i].Allocation = -1 - int64(i)
			}
		}
	}
	return all, true
}

// trials adds the autotuner's sequence, and for the initialize phase the values
// that lie under the call's results and are there before the program runs.
func (b *builder) trials(kernels *kernel.Call, places *[]Slice) error {
	b.Trials = &Trials{Phase: PhaseExecute}
	for _, e := range kernels.Saved {
		b.Trials.Entries = append(b.Trials.Entries, SaveEntry{Input: e.Input, Output: e.Output, Bytes: clampInt64(e.Size)})
	}
	if !kernels.Early {
		return nil
	}
	b.Trials.Phase = PhaseInitialize
	seen := map[int32]bool{}
	for _, l := range b.call.Operands {
		seen[l.Value] = true
	}
	for n := range b.call.Results {
		r := &b.call.Results[n]
		if r.Allocation < 0 {
			continue
		}
		for _, v := range b.call.Module.Allocations[r.Allocation].Values {
			if seen[v] || !b.under(v, r) {
				continue
			}
			seen[v] = true
			if err := b.bystander(v, places); err != nil {
				return err
			}
		}
	}
	return nil
}

// under says whether value v is there before the program runs and shares bytes
// with the result.
func (b *builder) under(v int32, r *alias.Leaf) bool {
	value := &b.call.Module.Values[v]
	return b.ready(v) && value.Size > 0 && r.Bytes > 0 &&
		value.Offset < r.Slice.Offset+r.Bytes && r.Slice.Offset < value.Offset+value.Size
}

// bystander adds value v.
func (b *builder) bystander(v int32, places *[]Slice) error {
	m := b.call.Module
	value := &m.Values[v]
	for _, l := range m.Leaves(value.Instruction) {
		if !slices.Equal(l.Index, value.Index) {
			continue
		}
		leaf := alias.Leaf{
			Operand: -1, Index: l.Index, Element: l.Element, Dims: l.Dims, Bytes: l.Bytes, Value: v, Allocation: value.Allocation,
		}
		label := strings.Clone(m.Instructions[value.Instruction].Name) + indexText(&leaf)
		if err := b.value(&leaf, Bystander, label); err != nil {
			return err
		}
		*places = append(*places, Slice{Allocation: int64(value.Allocation), Offset: value.Offset, Bytes: l.Bytes})
	}
	return nil
}

// indexText is a leaf's index where the value is a tuple.
func indexText(l *alias.Leaf) string {
	if len(l.Index) == 0 {
		return ""
	}
	return " " + alias.Index(l.Index).String()
}

// addsFloats says whether PTX adds floating-point numbers atomically (PTX ISA
// 9.7.13, atom and red): the order of such sums is free.
func addsFloats(ptx []byte) bool {
	return regexp.MustCompile(`\b(?:atom|red)(?:\.\w+(?:::\w+)*)*\.add(?:\.\w+)*\.b?f\d+`).Match(ptx)
}

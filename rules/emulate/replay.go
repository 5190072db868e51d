package emulate

import (
	"bytes"
	"context"
	"fmt"

	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"
)

// emulate runs configuration n with its buffers apart, and then sharing in each
// order of blocks, and counts the elements that differ.
func (k *Engine) emulate(ctx context.Context, p kernelPlan, a *replay.Analysis, n int) (*replay.Emulation, error) {
	config, start, reason := p.prepare(a, n)
	if reason != "" {
		return &replay.Emulation{Reason: reason}, nil
	}
	apart, err := k.full(ctx, config, p.apart(start), ptx.Forward)
	if err != nil || !apart.Analysed {
		return notRun(apart, err), ctx.Err()
	}
	if !p.anyKnown(config, a.Runs[n].Buffers, apart) {
		return &replay.Emulation{Reason: "the machine does not compute the values of the results"}, nil
	}
	e := &replay.Emulation{}
	together := p.shared(start)
	for order, name := range [...]string{"forward", "backward", "shuffled"} {
		shared, err := k.full(ctx, config, together, ptx.Order(order))
		if err != nil || !shared.Analysed {
			return notRun(shared, err), ctx.Err()
		}
		run := replay.Run{Order: name, Differing: []replay.Differ{}}
		for b := p.Operands; b < len(p.Buffers); b++ {
			if !config.takes(b) && p.Buffers[b].Claimant < 0 || p.Buffers[b].Size == 0 {
				continue
			}
			d, _ := p.compare(b, a.Runs[n].Buffers[b], p.final(apart, p.apartPlace(config, b), b), p.final(shared, together.at[b], b))
			run.Differing = append(run.Differing, d)
		}
		e.Runs = append(e.Runs, run)
	}
	return e, nil
}

// anyKnown reports whether some byte of some result has a value after a run apart:
// where none has, there is nothing to compare.
func (p kernelPlan) anyKnown(c *configuration, effects []ptx.Effects, apart *ptx.Outcome) bool {
	for b := p.Operands; b < len(p.Buffers); b++ {
		f := p.final(apart, p.apartPlace(c, b), b)
		if _, known := p.compare(b, effects[b], f, f); known {
			return true
		}
	}
	return false
}

// notRun says why a replay could not be run.
func notRun(out *ptx.Outcome, err error) *replay.Emulation {
	if err != nil {
		return &replay.Emulation{Reason: err.Error()}
	}
	return &replay.Emulation{Reason: out.Reason}
}

// prepare parses configuration n and gives every operand contents.
func (p kernelPlan) prepare(a *replay.Analysis, n int) (*configuration, [][]byte, string) {
	start, _, reason := p.Start(a, n)
	if reason != "" {
		return nil, nil, reason
	}
	config, err := p.newConfiguration(&p.Call.Configurations[n])
	if err != nil {
		return nil, nil, err.Error()
	}
	return config, start, ""
}

// full runs a configuration for the contents of its buffers: with every value computed,
// and without a record of who touches what.
func (k *Engine) full(ctx context.Context, c *configuration, m memory, order ptx.Order) (*ptx.Outcome, error) {
	l := c.launch(m)
	l.Mode, l.Order, l.Seed, l.Unrecorded = ptx.Full, order, 1, true
	return k.launch(ctx, l)
}

// poison is what a result holds that nothing claims.
const poison = 0xa5

// shared puts the buffers where the assignment has them. An operand's contents
// win over a result's poison.
func (p kernelPlan) shared(start [][]byte) memory {
	m := memory{at: make([]replay.Place, len(p.Buffers))}
	index := map[int]int{}
	for n, b := range p.Buffers {
		g, ok := index[b.Place.Group]
		if !ok {
			g = len(m.buffers)
			index[b.Place.Group] = g
			m.buffers = append(m.buffers, ptx.Buffer{Name: fmt.Sprintf("shared memory %d", g)})
		}
		m.buffers[g].Size = max(m.buffers[g].Size, b.Place.Offset+b.Size)
		m.at[n] = replay.Place{Group: g, Offset: b.Place.Offset}
	}
	for g := range m.buffers {
		m.buffers[g].Contents = bytes.Repeat([]byte{poison}, int(m.buffers[g].Size))
	}
	for n := p.Operands - 1; n >= 0; n-- {
		copy(m.buffers[m.at[n].Group].Contents[m.at[n].Offset:], start[n])
	}
	return m
}

// apartPlace is where buffer n's final contents stand in a run apart: a claimed
// result without a pointer is its operand.
func (p kernelPlan) apartPlace(c *configuration, n int) replay.Place {
	if !c.takes(n) && p.Buffers[n].Claimant >= 0 {
		return replay.Place{Group: p.Buffers[n].Claimant}
	}
	return replay.Place{Group: n}
}

// final is what buffer n holds after a run, and which of its bytes are known.
func (p kernelPlan) final(out *ptx.Outcome, at replay.Place, n int) finalBytes {
	f := &out.Contents[at.Group]
	end := min(at.Offset+p.Buffers[n].Size, int64(len(f.Bytes)))
	if at.Offset > end {
		return finalBytes{}
	}
	return finalBytes{data: f.Bytes[at.Offset:end], opaque: f.Opaque, shift: at.Offset}
}

// finalBytes are a buffer's bytes after a run; opaque ranges are shifted by shift.
type finalBytes struct {
	data   []byte
	opaque []ptx.Range
	shift  int64
}

// known makes a mask of the bytes whose value is known.
func (f finalBytes) known(mask []bool) {
	for _, r := range f.opaque {
		for i := max(r.Start-f.shift, 0); i < min(r.End-f.shift, int64(len(mask))); i++ {
			mask[i] = false
		}
	}
}

// compare counts the elements of result buffer n that differ. Bytes that nobody
// wrote do not count: apart they hold poison, shared what stood there before.
func (p kernelPlan) compare(n int, effects ptx.Effects, x, y finalBytes) (d replay.Differ, known bool) {
	size := min(len(x.data), len(y.data))
	mask := make([]bool, size)
	for _, r := range replay.Joined(effects.Written, effects.Atomic) {
		for i := max(r.Start, 0); i < min(r.End, int64(size)); i++ {
			mask[i] = true
		}
	}
	if p.Buffers[n].Claimant >= 0 {
		for i := range mask {
			mask[i] = true
		}
	}
	x.known(mask)
	y.known(mask)
	d = replay.Differ{ResultIndex: p.Buffers[n].Index, First: -1}
	width := max((p.Buffers[n].Element.Bits()+7)/8, 1)
	for at := int64(0); at+width <= int64(size); at += width {
		d.Of++
		for i := at; i < at+width; i++ {
			known = known || mask[i]
			if mask[i] && x.data[i] != y.data[i] {
				d.Note(at/width, int64(size)/width)
				break
			}
		}
	}
	return d, known
}

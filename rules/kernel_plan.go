package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/kernel"
)

// kernelPlan is a call's kernels and memory, without the module that they came
// from: what a run needs, and what tells equal launches from others. Buffers are
// numbered as jaxlib numbers them: operands, then results, flattened.
type kernelPlan struct {
	Call     *kernel.Call
	Operands int // Buffers[:Operands]
	Buffers  []planBuffer
	Pairs    []planPair
	Early    bool  // autotuned before the program runs: the typed FFI
	Saved    []int // operands that the autotuner saves and puts back
}

// planBuffer is one leaf of a call.
type planBuffer struct {
	Index    []int // of the leaf in its operand or result
	Element  hlo.ElementType
	Dims     []int64
	Size     int64 // bytes
	Claimant int   // of a result: the operand buffer that claims it, or -1
	Empty    bool  // of an operand: AllocateBuffer's, without contents
	Ready    bool  // of an operand: it holds its contents before the program runs
	Place    place

	// Found are contents that were found rather than made, nil for none.
	Found    []byte `json:"-"`
	FoundSum string // SHA-256 of Found, for the key
	Recipe   Recipe // of Found
}

// place is where a buffer lies when buffers share as the assignment has them: an
// offset in bytes inside a group of buffers that touch.
type place struct {
	Group  int
	Offset int64
}

// planPair is a pair whose verdict is wanted. Byte i of the result is byte
// i+Shift of the operand.
type planPair struct {
	Operand, Result int // leaf numbers of alias.Call
	Shift           int64
	Shared          bool
}

// Limits of a plan. No real call comes near them.
const (
	maxPlanBuffers = 4096
	maxPlanPairs   = 1 << 14
	maxPlanBytes   = 1 << 46
)

// newKernelPlan gathers what running the call's kernels needs.
func newKernelPlan(c *alias.Call, k *kernel.Call, source OperandSource) (*kernelPlan, error) {
	if n := len(c.Operands) + len(c.Results); n > maxPlanBuffers {
		return nil, fmt.Errorf("%d operands and results, more than %d", n, maxPlanBuffers)
	}
	p := &kernelPlan{Call: k, Operands: len(c.Operands), Early: k.Early}
	var total int64
	for n := range c.Operands {
		b := newPlanBuffer(&c.Operands[n])
		b.Claimant = -1
		b.Empty = allocatedOnly(c, &c.Operands[n])
		b.Ready = readyAtStart(c, &c.Operands[n])
		b.setFound(source.contents(c, n, b.Size))
		b.Recipe.Operand = n
		p.Buffers = append(p.Buffers, b)
		total += b.Size
	}
	for n := range c.Results {
		b := newPlanBuffer(&c.Results[n])
		b.Claimant = c.Claimant(n)
		p.Buffers = append(p.Buffers, b)
		total += b.Size
	}
	if total < 0 || total > maxPlanBytes {
		return nil, fmt.Errorf("buffers of more than %d bytes", int64(maxPlanBytes))
	}
	for n := range c.Operands {
		if k.Autotuned && notSaved(c, k, n) == "" {
			p.Saved = append(p.Saved, n)
		}
	}
	p.placeBuffers(c)
	return p, p.findPairs(c)
}

// newPlanBuffer takes the size that the assignment gives, or the array's own
// where the assignment gives none.
func newPlanBuffer(l *alias.Leaf) planBuffer {
	size := l.Bytes
	if l.Allocation >= 0 {
		size = l.Slice.Size
	}
	return planBuffer{Index: ints(l.Index), Element: l.Element, Dims: slices.Clone(l.Dims), Size: min(max(size, 0), maxPlanBytes)}
}

// setFound keeps contents that were found.
func (b *planBuffer) setFound(data []byte, r Recipe) {
	if data == nil {
		return
	}
	sum := sha256.Sum256(data)
	b.Found, b.FoundSum, b.Recipe = data, hex.EncodeToString(sum[:]), r
}

// isInteger reports whether an element can be an index.
func isInteger(e hlo.ElementType) bool {
	name := e.String()
	return len(name) >= 2 && (name[0] == 's' || name[0] == 'u') && strings.Trim(name[1:], "0123456789") == ""
}

// readyAtStart reports whether a leaf's value is an entry parameter or a constant.
func readyAtStart(c *alias.Call, l *alias.Leaf) bool {
	return l.Value >= 0 && holdsAtStart(c.Module, l.Value)
}

// leafOf returns the leaf that stands behind buffer n.
func leafOf(c *alias.Call, n int) *alias.Leaf {
	if n < len(c.Operands) {
		return &c.Operands[n]
	}
	return &c.Results[n-len(c.Operands)]
}

// placeBuffers groups the buffers that share bytes in the assignment.
func (p *kernelPlan) placeBuffers(c *alias.Call) {
	for n := range p.Buffers {
		p.Buffers[n].Place = place{Group: n}
		x := leafOf(c, n)
		for m := range n {
			if y := leafOf(c, m); share(x.Slice, y.Slice) && x.Allocation >= 0 && y.Allocation >= 0 {
				p.join(n, m)
				p.Buffers[n].Place.Offset = x.Slice.Offset
				p.Buffers[m].Place.Offset = y.Slice.Offset
			}
		}
	}
	// Offsets in the allocation become offsets in the group.
	first := map[int]int64{}
	for _, b := range p.Buffers {
		if at, ok := first[b.Place.Group]; !ok || b.Place.Offset < at {
			first[b.Place.Group] = b.Place.Offset
		}
	}
	for n := range p.Buffers {
		at := &p.Buffers[n].Place
		at.Offset -= first[at.Group]
	}
}

// join makes one group of buffers n's and m's groups.
func (p *kernelPlan) join(n, m int) {
	from, to := p.Buffers[n].Place.Group, p.Buffers[m].Place.Group
	for k := range p.Buffers[:n+1] {
		if p.Buffers[k].Place.Group == from {
			p.Buffers[k].Place.Group = to
		}
	}
}

// findPairs lists the pairs of DESIGN: of equal size, or sharing bytes.
func (p *kernelPlan) findPairs(c *alias.Call) error {
	for a := range c.Operands {
		x := &p.Buffers[a]
		for b := range c.Results {
			r := &p.Buffers[p.Operands+b]
			shared := share(c.Operands[a].Slice, c.Results[b].Slice) && c.Operands[a].Allocation >= 0 && c.Results[b].Allocation >= 0
			if x.Size == 0 || r.Size == 0 || x.Size != r.Size && !shared {
				continue
			}
			if len(p.Pairs) == maxPlanPairs {
				return fmt.Errorf("more than %d pairs of operands and results", maxPlanPairs)
			}
			pair := planPair{Operand: a, Result: b, Shared: shared}
			if shared {
				pair.Shift = c.Results[b].Slice.Offset - c.Operands[a].Slice.Offset
			}
			p.Pairs = append(p.Pairs, pair)
		}
	}
	return nil
}

// Package replay plans how a call's kernels are run, the same for every engine that
// runs them, and holds what running them showed.
//
// In: a custom call with its slices (alias), and its kernels (hlo/kernel). Out: a Plan,
// plain data without the module that it came from: the call's buffers, what is in them
// before, which of them share memory, which results operands claim, and what the
// autotuner saves. Engines give an Analysis (what the kernels read and write) and
// Answers (what running a finding's kernel again showed). Sizes and offsets are bytes.
package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/kernel"
)

// Plan is a call's kernels and memory, without the module that they came from: what a
// run needs, and what tells equal launches from others. Buffers are numbered as jaxlib
// numbers them: operands, then results, flattened.
type Plan struct {
	Call     *kernel.Call
	Operands int // Buffers[:Operands]
	Buffers  []Buffer
	Pairs    []Pair
	Early    bool  // autotuned before the program runs: the typed FFI
	Saved    []int // operands that the autotuner saves and puts back
}

// Buffer is one leaf of a call.
type Buffer struct {
	Index    []int // of the leaf in its operand or result
	Element  hlo.ElementType
	Dims     []int64
	Size     int64 // bytes
	Claimant int   // of a result: the operand buffer that claims it, or -1
	Empty    bool  // of an operand: AllocateBuffer's, without contents
	Ready    bool  // of an operand: it holds its contents before the program runs
	Place    Place

	// Found are contents that were found rather than made, nil for none.
	Found    []byte `json:"-"`
	FoundSum string // SHA-256 of Found, for the key
	Recipe   Recipe // of Found
}

// Pair is a pair whose verdict is wanted. Byte i of the result is byte i+Shift of the
// operand.
type Pair struct {
	Operand, Result int // leaf numbers of alias.Call
	Shift           int64
	Shared          bool
}

// Limits of a plan. No real call comes near them.
const (
	maxBuffers = 4096
	maxPairs   = 1 << 14
	maxBytes   = 1 << 46
)

// New gathers what running the call's kernels needs. k is nil where the dump does not
// hold them.
func New(ctx context.Context, c *alias.Call, k *kernel.Call, source OperandSource) (*Plan, error) {
	if n := len(c.Operands) + len(c.Results); n > maxBuffers {
		return nil, fmt.Errorf("%d operands and results, more than %d", n, maxBuffers)
	}
	if k == nil { // nobody has the kernel: engines may know the call all the same
		k = &kernel.Call{}
	}
	p := &Plan{Call: k, Operands: len(c.Operands), Early: k.Early}
	var total int64
	for n := range c.Operands {
		if err := context.Cause(ctx); err != nil {
			return nil, err // contents can be large
		}
		b := newBuffer(&c.Operands[n])
		b.Claimant = -1
		b.Empty = c.Operands[n].IsAllocated(c.Module)
		b.Ready = c.Operands[n].IsReady(c.Module)
		b.SetFound(source.contents(c, n, b.Size))
		b.Recipe.Operand = n
		p.Buffers = append(p.Buffers, b)
		total += b.Size
	}
	for n := range c.Results {
		b := newBuffer(&c.Results[n])
		b.Claimant = c.Claimant(n)
		p.Buffers = append(p.Buffers, b)
		total += b.Size
	}
	if total < 0 || total > maxBytes {
		return nil, fmt.Errorf("buffers of more than %d bytes", int64(maxBytes))
	}
	for n := range c.Operands {
		if k.Autotuned && NotSaved(c, k, n) == "" {
			p.Saved = append(p.Saved, n)
		}
	}
	p.place(c)
	return p, p.findPairs(c)
}

// newBuffer takes the size that the assignment gives, or the array's own where the
// assignment gives none.
func newBuffer(l *alias.Leaf) Buffer {
	size := l.Bytes
	if l.Allocation >= 0 {
		size = l.Slice.Size
	}
	index := make([]int, 0, len(l.Index))
	for _, i := range l.Index {
		index = append(index, int(i))
	}
	return Buffer{Index: index, Element: l.Element, Dims: slices.Clone(l.Dims), Size: min(max(size, 0), maxBytes)}
}

// SetFound keeps contents that were found.
func (b *Buffer) SetFound(data []byte, r Recipe) {
	if data == nil {
		return
	}
	sum := sha256.Sum256(data)
	b.Found, b.FoundSum, b.Recipe = data, hex.EncodeToString(sum[:]), r
}

// Count is how many whole elements the buffer holds.
func (b *Buffer) Count() int64 {
	size := (b.Element.Bits() + 7) / 8
	if size == 0 {
		return 0
	}
	return b.Size / size
}

// Name is what messages call buffer n.
func (p *Plan) Name(n int) string {
	if n < p.Operands {
		return fmt.Sprintf("operand %d", n)
	}
	return fmt.Sprintf("result %d", n-p.Operands)
}

// findPairs lists the pairs that verdicts are about: of equal size, or sharing bytes.
func (p *Plan) findPairs(c *alias.Call) error {
	for a := range c.Operands {
		x := &p.Buffers[a]
		for b := range c.Results {
			r := &p.Buffers[p.Operands+b]
			shared := c.Operands[a].Shares(&c.Results[b])
			if x.Size == 0 || r.Size == 0 || x.Size != r.Size && !shared {
				continue
			}
			if len(p.Pairs) == maxPairs {
				return fmt.Errorf("more than %d pairs of operands and results", maxPairs)
			}
			pair := Pair{Operand: a, Result: b, Shared: shared}
			if shared {
				pair.Shift = c.Results[b].Slice.Offset - c.Operands[a].Slice.Offset
			}
			p.Pairs = append(p.Pairs, pair)
		}
	}
	return nil
}

package alias

import (
	"cmp"
	"slices"
)

// Overlap is two leaves of one call that share bytes.
type Overlap struct {
	A, B  int32 // leaf numbers; A is an operand leaf in OperandResult, a result leaf in ResultResult
	Exact bool  // the slices are the same
}

// Overlaps are a call's leaves that share bytes, in leaf order.
type Overlaps struct {
	OperandResult []Overlap // A into Call.Operands, B into Call.Results
	ResultResult  []Overlap // A < B, both into Call.Results
}

// sweep finds overlapping leaves by walking them in the order of their first byte.
// Leaves are numbered operands first, then results.
type sweep struct {
	order    []int32
	operands []int32 // leaves that have begun and may not have ended
	results  []int32
	out      Overlaps
}

// maxOverlaps bounds what one call can report: a hostile call of n operands and n
// results in one place would have n*n.
const maxOverlaps = 1 << 16

// fewLeaves are compared with one another sooner than sorted.
const fewLeaves = 8

// Overlaps returns the leaves of c that share bytes: valid until the next call.
// Zero-size and unresolved leaves share nothing.
func (a *Analyzer) Overlaps(c *Call) Overlaps {
	s := &a.sweep
	s.out.OperandResult, s.out.ResultResult = s.out.OperandResult[:0], s.out.ResultResult[:0]
	if len(c.Operands)+len(c.Results) <= fewLeaves {
		s.each(c)
	} else {
		s.all(c)
	}
	return s.out
}

// all walks the leaves.
func (s *sweep) all(c *Call) {
	s.order, s.operands, s.results = s.order[:0], s.operands[:0], s.results[:0]
	for n := range len(c.Operands) + len(c.Results) {
		if l := c.leaf(int32(n)); l.Allocation >= 0 && l.Slice.Size > 0 {
			s.order = append(s.order, int32(n))
		}
	}
	slices.SortFunc(s.order, func(x, y int32) int {
		a, b := c.leaf(x), c.leaf(y)
		return cmp.Or(cmp.Compare(a.Allocation, b.Allocation), cmp.Compare(a.Slice.Offset, b.Slice.Offset), cmp.Compare(x, y))
	})
	for _, n := range s.order {
		s.step(c, n)
	}
	byLeaf := func(x, y Overlap) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) }
	slices.SortFunc(s.out.OperandResult, byLeaf)
	slices.SortFunc(s.out.ResultResult, byLeaf)
}

// each holds every leaf to every result.
func (s *sweep) each(c *Call) {
	operands, all := int32(len(c.Operands)), int32(len(c.Operands)+len(c.Results))
	for a := range all {
		x := c.leaf(a)
		for b := max(operands, a+1); b < all; b++ {
			y := c.leaf(b)
			if x.Allocation == y.Allocation && x.Allocation >= 0 && x.Slice.Size > 0 && y.Slice.Size > 0 &&
				x.Slice.Offset < y.Slice.Offset+y.Slice.Size && y.Slice.Offset < x.Slice.Offset+x.Slice.Size {
				s.pair(c, a, b, x.Slice == y.Slice)
			}
		}
	}
}

// step pairs leaf n with the leaves that have begun and not ended before it. Two
// operands may share, both are only read: they are never looked at together.
func (s *sweep) step(c *Call, n int32) {
	if n < int32(len(c.Operands)) {
		s.results = s.meet(c, n, s.results)
		s.operands = append(s.operands, n)
		return
	}
	s.operands = s.meet(c, n, s.operands)
	s.results = append(s.meet(c, n, s.results), n)
}

// meet pairs n with every active leaf, and returns those that reach n's first byte.
func (s *sweep) meet(c *Call, n int32, active []int32) []int32 {
	l := c.leaf(n)
	keep := active[:0]
	for _, k := range active {
		o := c.leaf(k)
		if o.Allocation == l.Allocation && o.Slice.Offset+o.Slice.Size > l.Slice.Offset {
			keep = append(keep, k)
			s.pair(c, min(k, n), max(k, n), o.Slice == l.Slice)
		}
	}
	return keep
}

func (s *sweep) pair(c *Call, a, b int32, exact bool) {
	if len(s.out.OperandResult)+len(s.out.ResultResult) >= maxOverlaps {
		return
	}
	ops := int32(len(c.Operands))
	switch {
	case a < ops:
		s.out.OperandResult = append(s.out.OperandResult, Overlap{A: a, B: b - ops, Exact: exact})
	default:
		s.out.ResultResult = append(s.out.ResultResult, Overlap{A: a - ops, B: b - ops, Exact: exact})
	}
}

func (c *Call) leaf(n int32) *Leaf {
	if int(n) < len(c.Operands) {
		return &c.Operands[n]
	}
	return &c.Results[int(n)-len(c.Operands)]
}

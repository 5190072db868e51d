package replay

import (
	"cmp"
	"slices"

	"aliascheck/alias"
	"aliascheck/hlo"
)

// Place is where a buffer lies: an offset in bytes inside a group of buffers that touch.
type Place struct {
	Group  int   `json:"group"`
	Offset int64 `json:"offset"`
}

// Places turns slices into places: slices that overlap, directly or through others,
// share a group and keep their distances; all others stand alone. Only the slices
// themselves are laid out, so that a huge allocation need not fit into memory. An offset
// inside a group counts from the group's first byte, rounded down to a multiple of align,
// so that addresses keep their alignment. An empty slice overlaps nothing, nor does one
// in no allocation (a negative number).
//
// The slices are gone through once, in the order of their addresses: pair by pair,
// thousands of operands in one slice took most of a minute.
func Places(list []hlo.Slice, align int64) []Place {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(list[i].Allocation, list[j].Allocation), cmp.Compare(list[i].Offset, list[j].Offset))
	})
	places := make([]Place, len(list))
	groups, current := 0, -1 // how many there are, and that which the sweep is in
	var allocation, base, end int64
	for _, i := range order {
		s := &list[i]
		if s.Size <= 0 || s.Allocation < 0 {
			places[i] = Place{Group: groups, Offset: s.Offset % align}
			groups++
			continue
		}
		if current < 0 || s.Allocation != allocation || s.Offset >= end {
			current, allocation, base, end = groups, s.Allocation, s.Offset-s.Offset%align, s.Offset
			groups++
		}
		places[i] = Place{Group: current, Offset: s.Offset - base}
		end = max(end, s.Offset+s.Size)
	}
	return places
}

// place groups the buffers that share bytes in the assignment.
func (p *Plan) place(c *alias.Call) {
	list := make([]hlo.Slice, 0, len(p.Buffers))
	for _, leaves := range [...][]alias.Leaf{c.Operands, c.Results} {
		for i := range leaves {
			s := leaves[i].Slice
			if leaves[i].Allocation < 0 {
				s = hlo.Slice{Allocation: -1}
			}
			list = append(list, s)
		}
	}
	for n, at := range Places(list, 1) {
		p.Buffers[n].Place = at
	}
}

package ptx

import (
	"cmp"
	"slices"
)

// Side is a guard, a branch or a source size that contents decide, and which ways
// threads went there.
type Side struct {
	Access        // without a thread
	What   string // guard, branch, source size
	Seen   uint64 // bit 0: somebody for whom it holds, or who goes to the first target; bit 1: does not; and so on
	All    uint64 // every way that there is
}

// The ways of what is true or false.
const (
	sideHolds = 1 << iota
	sideFails
	sideBoth = sideHolds | sideFails
)

// Missing names the way that nobody went; "" where there is none.
func (s *Side) Missing() string {
	switch left := s.All &^ s.Seen; {
	case left == 0:
		return ""
	case s.All != sideBoth:
		return "one of its targets is not reached"
	case left&sideHolds != 0:
		return "its condition holds for no thread"
	}
	return "its condition holds for every thread"
}

// sideKey is a place where contents decide.
type sideKey struct {
	code int32
	what string
	all  uint64
}

// decided notes the ways that threads went where a value with a taint decides:
// taken of all threads that came there.
func (m *worker) decided(c *code, what string, taken, all int) {
	way := uint64(0)
	if taken > 0 {
		way |= sideHolds
	}
	if taken < all {
		way |= sideFails
	}
	m.went(c, what, way, sideBoth)
}

func (m *worker) went(c *code, what string, way, all uint64) {
	if m.found.sides == nil {
		m.found.sides = map[sideKey]uint64{}
	}
	m.found.sides[sideKey{c.index, what, all}] |= way
}

// listSides gives the places where contents decide, by line.
func (s *launchState) listSides() []Side {
	var out []Side
	for k, seen := range s.sides {
		out = append(out, Side{Access: s.p.access(s.p.codes[k.code].orig), What: k.what, Seen: seen, All: k.all})
	}
	slices.SortFunc(out, func(a, b Side) int {
		return cmp.Or(cmp.Compare(a.PTXLine, b.PTXLine), cmp.Compare(a.What, b.What), cmp.Compare(a.Instruction, b.Instruction), cmp.Compare(a.Seen, b.Seen))
	})
	return out
}

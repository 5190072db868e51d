package replay

import (
	"slices"
	"strings"

	"aliascheck/alias"
	"aliascheck/hlo"
)

// Arrangement says how the buffers lie in shared runs: as the assignment has them, but
// for what it changes.
type Arrangement struct {
	// Share lists pairs that are put in one place although the assignment has them apart.
	Share []Pair
	// Only, where given, keeps apart everything but this pair, which lies as the
	// assignment has it: to tell it from others of the call.
	Only *Pair
}

// Places gives the places of the call's buffers in shared runs, and of the bystanders
// after them; false where a leaf has no slice.
func (a Arrangement) Places(c *alias.Call, beside []Bystander, align int64) ([]Place, bool) {
	var all []hlo.Slice
	for _, leaves := range [...][]alias.Leaf{c.Operands, c.Results} {
		for i := range leaves {
			l := &leaves[i]
			if l.Allocation < 0 && l.Bytes > 0 {
				return nil, false
			}
			all = append(all, hlo.Slice{Allocation: int64(l.Allocation), Offset: l.Slice.Offset, Size: l.Bytes})
		}
	}
	operands := len(c.Operands)
	for _, pair := range a.Share {
		all[operands+pair.Result] = all[pair.Operand]
	}
	if a.Only != nil {
		for i := range all {
			if i != a.Only.Operand && i != operands+a.Only.Result {
				all[i].Allocation = -1
			}
		}
	}
	for i := range beside {
		all = append(all, hlo.Slice{Allocation: int64(beside[i].Leaf.Allocation), Offset: beside[i].Leaf.Slice.Offset, Size: beside[i].Leaf.Bytes})
	}
	return Places(all, align), true
}

// Bystander is memory that a call neither takes nor gives, but that the buffer
// assignment puts under one of its results: a value that is there before the program
// runs.
type Bystander struct {
	Name string // of the value
	Leaf alias.Leaf
}

// Bystanders lists the values that lie under the call's results, are there before the
// program runs, and are no operands: what an autotuner that runs before the program
// writes over.
func Bystanders(c *alias.Call) []Bystander {
	m := c.Module
	seen := map[int32]bool{}
	for i := range c.Operands {
		seen[c.Operands[i].Value] = true
	}
	var out []Bystander
	for n := range c.Results {
		r := &c.Results[n]
		if r.Allocation < 0 {
			continue
		}
		for _, v := range m.Allocations[r.Allocation].Values {
			if seen[v] || !alias.IsReady(m, v) || !under(&m.Values[v], r) {
				continue
			}
			seen[v] = true
			out = appendBystander(out, m, v)
		}
	}
	return out
}

// under says whether a value shares bytes with a result of its allocation.
func under(v *hlo.Value, r *alias.Leaf) bool {
	return v.Size > 0 && r.Bytes > 0 && v.Offset < r.Slice.Offset+r.Bytes && r.Slice.Offset < v.Offset+v.Size
}

// appendBystander adds the array that value v is.
func appendBystander(out []Bystander, m *hlo.Module, v int32) []Bystander {
	value := &m.Values[v]
	for _, l := range m.Leaves(value.Instruction) {
		if !slices.Equal(l.Index, value.Index) {
			continue
		}
		leaf := alias.Leaf{
			Operand: -1, Index: l.Index, Element: l.Element, Dims: l.Dims, Bytes: l.Bytes, Value: v, Allocation: value.Allocation,
			Slice: hlo.Slice{Allocation: int64(value.Allocation), Offset: value.Offset, Size: value.Size},
		}
		out = append(out, Bystander{Name: strings.Clone(m.Instructions[value.Instruction].Name), Leaf: leaf})
	}
	return out
}

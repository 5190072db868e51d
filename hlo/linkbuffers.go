package hlo

import (
	"cmp"
	"math/bits"
	"slices"
)

// linkValues sorts the values by the place that defines them, and gives each
// instruction its run of them.
func (b *builder) linkValues() error {
	m := &b.m
	b.valueIDs.reset(len(m.Values))
	known := 0
	for i := range m.Values {
		raw := &b.values[i]
		v := &m.Values[i]
		if v.Instruction = b.instIDs.index(raw.instruction); v.Instruction < 0 {
			if b.everything || !b.valueIDs.add(v.ID, foreign) {
				return b.errorf(raw.at, "value %d is defined by instruction id %d, which is not there", v.ID, raw.instruction)
			}
			continue
		}
		known++
		v.Index = b.index(raw.index)
		m.Instructions[v.Instruction].EndValue++ // counts, for now
	}
	next := int32(0)
	for i := range m.Instructions {
		in := &m.Instructions[i]
		in.FirstValue, in.EndValue, next = next, next, next+in.EndValue
	}
	b.order = resize(b.order, known)
	for i := range m.Values {
		if m.Values[i].Instruction < 0 {
			continue
		}
		in := &m.Instructions[m.Values[i].Instruction]
		b.order[in.EndValue] = int32(i)
		in.EndValue++
	}
	return b.sortValues()
}

// foreign stands for a value of a computation that was not decoded: a reducer that a
// fusion calls has buffers, of which each of its threads has its own. The model does
// not have such values.
const foreign = -2

// sortValues puts the values in their order: each instruction's stand together by now.
func (b *builder) sortValues() error {
	m := &b.m
	b.sorted = resize(b.sorted, len(b.order))
	for i := range m.Instructions {
		in := &m.Instructions[i]
		if run := b.order[in.FirstValue:in.EndValue]; len(run) > 1 {
			slices.SortFunc(run, func(x, y int32) int { return slices.Compare(m.Values[x].Index, m.Values[y].Index) })
		}
		for k := in.FirstValue; k < in.EndValue; k++ {
			v := &m.Values[b.order[k]]
			if k > in.FirstValue && slices.Equal(v.Index, b.sorted[k-1].Index) {
				return b.errorf(b.values[b.order[k]].at, "values %d and %d are defined in one place", b.sorted[k-1].ID, v.ID)
			}
			if !b.valueIDs.add(v.ID, k) {
				return b.errorf(b.values[b.order[k]].at, "value id %d stands twice", v.ID)
			}
			b.sorted[k] = *v
		}
	}
	m.Values, b.sorted = b.sorted, m.Values
	return nil
}

// linkAllocations gives each value its slice, and each allocation its values by offset.
func (b *builder) linkAllocations() error {
	m := &b.m
	b.laidOut = resize(b.laidOut, len(b.assigned))[:0]
	next := 0
	for i := range m.Allocations {
		if a := &m.Allocations[i]; a.Index != int64(i) || a.Size < 0 {
			return b.errorf(b.allocs[i].at, "allocation %d of %d bytes stands in place %d", a.Index, a.Size, i)
		}
		first := len(b.laidOut)
		for ; next < len(b.assigned) && b.assigned[next].allocation == int32(i); next++ {
			if err := b.assign(&b.assigned[next]); err != nil {
				return err
			}
		}
		a := &m.Allocations[i]
		a.ParameterIndex = b.index(b.allocs[i].parameterIndex)
		a.Values = b.laidOut[first:len(b.laidOut):len(b.laidOut)]
		b.sortByOffset(a.Values)
	}
	if len(b.laidOut) < len(m.Values) {
		return b.unassigned()
	}
	return nil
}

// unassigned names the first value that no allocation holds. XLA writes a value into the
// assignment only where it has an allocation (BufferAssignment::ToProto), so that one
// without was lost, and what shares memory with it cannot be told.
func (b *builder) unassigned() error {
	m := &b.m
	i := slices.IndexFunc(m.Values, func(v Value) bool { return v.Allocation < 0 })
	v := &m.Values[i]
	return b.errorf(b.values[b.order[i]].at, "value %d of %q is given no allocation: the buffer assignment is not whole",
		v.ID, m.Instructions[v.Instruction].Name)
}

// sortByOffset sorts the values of an allocation. Offset and value are put into one number
// where they fit, so that no comparison looks them up.
func (b *builder) sortByOffset(values []int32) {
	if len(values) < 2 {
		return
	}
	m := &b.m
	width := bits.Len(uint(len(m.Values)))
	b.keys = b.keys[:0]
	for _, v := range values {
		if m.Values[v].Offset>>(63-width) != 0 {
			slices.SortFunc(values, func(x, y int32) int {
				return cmp.Or(cmp.Compare(m.Values[x].Offset, m.Values[y].Offset), cmp.Compare(x, y))
			})
			return
		}
		b.keys = append(b.keys, m.Values[v].Offset<<width|int64(v))
	}
	slices.Sort(b.keys)
	for i, key := range b.keys {
		values[i] = int32(key & (1<<width - 1))
	}
}

// assign lays one value out.
func (b *builder) assign(a *rawAssigned) error {
	i := b.valueIDs.index(a.value)
	allocation := &b.m.Allocations[a.allocation]
	switch {
	case i == foreign && allocation.ThreadLocal:
		return nil
	case i < 0:
		return b.errorf(a.at, "value id %d is assigned but not defined", a.value)
	}
	v := &b.m.Values[i]
	size := allocation.Size
	switch {
	case v.Allocation >= 0:
		return b.errorf(a.at, "value %d is assigned twice", a.value)
	case a.size != v.Size:
		return b.errorf(a.at, "value %d has %d bytes, but is assigned %d", a.value, v.Size, a.size)
	case a.offset < 0 || a.size < 0 || a.offset > size || a.size > size-a.offset:
		return b.errorf(a.at, "value %d in bytes [%d, %d+%d) lies outside its allocation of %d bytes",
			a.value, a.offset, a.offset, a.size, size)
	}
	v.Allocation, v.Offset = a.allocation, a.offset
	b.laidOut = append(b.laidOut, i) // there is room for all
	return nil
}

// linkDonated gives the donated leaves their shape indices.
func (b *builder) linkDonated() error {
	for i := range b.m.Donated {
		b.m.Donated[i].Index = b.index(b.donated[i].index)
		b.m.Donated[i].Output = b.index(b.donated[i].output)
	}
	return nil
}

package hlo

import (
	"fmt"
	"slices"

	"aliascheck/hlo/transcode"
)

// flow follows XLA's dataflow (HloDataflowAnalysis) through a module that was linked and
// checked, to find where a value is missing: an instruction that must define one and has
// none, or a place where two values meet and none was made of them (a phi). The text of
// a buffer assignment that was cut off between two lines looks whole otherwise.
//
// It works on positions: the arrays and tuples of an instruction's shape, in the order
// in which XLA numbers them (a tuple before its elements). What it cannot follow is not
// known and asks for nothing, so that no whole file is refused.
type flow struct {
	b *builder
	// first is each instruction's first position; one more stands at the end.
	first []int32
	// value is, for each position, the one that defines what reaches it and one more;
	// notReached where nothing was found to reach it.
	value []int32
	// elements are the offsets of a tuple's elements among the positions of its shape,
	// elementsAt where those of a leaf list begin, 0: not looked for yet.
	elements   []int32
	elementsAt []int32
	path       ShapeIndex // of defined
}

// sweepsPerCall bounds how often all instructions are looked at: once for each level of
// calls is enough for values to come down, and once more to come back.
const sweepsPerCall = 2

// whole fails where an instruction has fewer values than it must.
func (f *flow) whole(b *builder, files transcode.Pair) error {
	f.b = b
	f.number()
	for n := 0; n < sweepsPerCall*b.limits.Depth && f.sweep(); n++ {
	}
	for i := range int32(len(b.m.Instructions)) {
		if has, needs := f.values(i); has < needs {
			return fmt.Errorf("%s: %d of the %d values of %q are there: cut off?",
				transcode.Position(files.AssignmentPath, files.Assignment, len(files.Assignment)), has, needs, b.m.Instructions[i].Name)
		}
	}
	return nil
}

const notReached = 0

// number numbers the positions, and enters those that the file says are defined.
func (f *flow) number() {
	m := &f.b.m
	f.first = resize(f.first, len(m.Instructions)+1)
	total := int32(0)
	for i := range m.Instructions {
		f.first[i] = total
		total += f.b.insts[i].positions
	}
	f.first[len(m.Instructions)] = total
	f.value = resize(f.value, int(total))
	clear(f.value)
	f.elements = append(f.elements[:0], 0)
	f.elementsAt = resize(f.elementsAt, len(m.leafLists))
	clear(f.elementsAt)
	for i := range m.Instructions {
		in := &m.Instructions[i]
		if in.FirstValue == in.EndValue {
			continue
		}
		at, values := f.first[i], m.Values[in.FirstValue:in.EndValue]
		f.path = f.path[:0]
		f.defined(m.fields(in.shape), &at, &values)
	}
}

// defined walks a shape, position by position, and marks those at which values stand;
// both come in the same order.
func (f *flow) defined(fs fields, at *int32, values *[]Value) {
	if len(*values) > 0 && slices.Equal((*values)[0].Index, f.path) {
		f.value[*at] = *at + 1
		*values = (*values)[1:]
	}
	*at++
	s := shape{count: 1}
	n := int64(0)
	for x := fs.first(); x.tag != 0; x = fs.after(x) {
		if !s.read(fs, x) || s.element != TupleType {
			continue
		}
		f.path = append(f.path, n)
		f.defined(fs.message(x), at, values)
		f.path = f.path[:len(f.path)-1]
		n++
	}
}

// element is the offset of element k among the positions of a tuple; that of one more
// than there are elements is the count of the positions.
func (f *flow) element(instr, k int32) int32 {
	m := &f.b.m
	list := m.Instructions[instr].leaves
	if f.elementsAt[list] == 0 {
		f.elementsAt[list] = int32(len(f.elements))
		fs, s, offset := m.fields(m.Instructions[instr].shape), shape{count: 1}, int32(1)
		for x := fs.first(); x.tag != 0; x = fs.after(x) {
			if s.read(fs, x) {
				f.elements = append(f.elements, offset)
				var below shapeCheck
				below.walk(fs.message(x), 0)
				offset += below.positions
			}
		}
		f.elements = append(f.elements, offset)
	}
	return f.elements[f.elementsAt[list]+k]
}

// sweep looks at every instruction once, and takes for each position that nothing has
// reached the first thing that does. It reports whether there was any.
func (f *flow) sweep() bool {
	moved := false
	for i := range int32(len(f.b.m.Instructions)) {
		f.runs(i, func(r run) {
			if f.fits(i, r) && f.take(r) {
				moved = true
			}
		})
	}
	return moved
}

// take is sweep for the positions of a run.
func (f *flow) take(r run) bool {
	moved := false
	for k := range r.count {
		at := r.at + k
		if f.value[at] != notReached {
			continue
		}
		if r.defines {
			f.value[at] = at + 1
		}
		for n := 0; n < len(r.from) && f.value[at] == notReached; n++ {
			f.value[at] = f.value[r.from[n]+k]
		}
		moved = moved || f.value[at] != notReached
	}
	return moved
}

// values counts the values that an instruction has and those that it must have: one
// wherever it defines one, and one wherever different values meet.
func (f *flow) values(i int32) (has, needs int) {
	in := &f.b.m.Instructions[i]
	has = int(in.EndValue - in.FirstValue)
	if f.b.m.Computations[in.Computation].Fusion {
		return has, has
	}
	for at := f.first[i]; at < f.first[i+1]; at++ {
		if f.value[at] == at+1 {
			needs++
		}
	}
	f.runs(i, func(r run) {
		for k := int32(0); k < r.count && f.fits(i, r); k++ {
			if f.value[r.at+k] != r.at+k+1 && f.differ(r.from, k) {
				needs++
			}
		}
	})
	return has, needs
}

// differ reports whether different values come from the k-th positions of some runs.
func (f *flow) differ(from []int32, k int32) bool {
	one := int32(notReached)
	for _, at := range from {
		v := f.value[at+k]
		if v != notReached && one != notReached && v != one {
			return true
		}
		if v != notReached {
			one = v
		}
	}
	return false
}

package mlir

import (
	"errors"
	"fmt"
)

// Bits of an operation's encoding.
const (
	hasAttributes = 1 << iota
	hasResults
	hasOperands
	hasSuccessors
	hasRegions
	hasUseLists
	hasProperties
)

// body reads operations. Values count from the start of the innermost region that is
// isolated from what is around it; scopes hold the values of such regions.
type body struct {
	m     *Module
	scope []int // what the numbers stand for: indices into Module.Values, -1 until defined
	next  int   // of scope: the value that is defined next
	depth int
}

// readOps reads the section of operations: one block without arguments.
func (m *Module) readOps(r *reader) {
	b := &body{m: m}
	n, arguments := r.flagged()
	if arguments {
		r.fail(errors.New("the file's block has arguments"))
	}
	b.ops(r, n, -1)
}

// ops reads n operations inside of operation parent.
func (b *body) ops(r *reader, n uint64, parent int) {
	if n > uint64(r.left()) {
		r.fail(fmt.Errorf("%d operations in %d bytes", n, r.left()))
	}
	for range n {
		if r.err != nil {
			return
		}
		b.op(r, parent)
	}
}

// op reads one operation with all that is inside it.
func (b *body) op(r *reader, parent int) {
	m := b.m
	name := r.index(len(m.names))
	mask := r.byte()
	op := Op{Parent: parent, location: r.index(len(m.attributes)), dictionary: -1}
	if mask&hasAttributes != 0 {
		op.dictionary = r.index(len(m.attributes))
	}
	if mask&hasProperties != 0 {
		r.varint()
	}
	results := 0
	if mask&hasResults != 0 {
		results = r.count()
		for range results {
			r.varint() // its type
		}
	}
	if mask&hasOperands != 0 {
		n := r.count()
		op.Operands = make([]int, 0, min(n, 64))
		for range n {
			op.Operands = append(op.Operands, b.use(r))
		}
	}
	if mask&hasSuccessors != 0 {
		for range r.count() {
			r.varint()
		}
	}
	if mask&hasUseLists != 0 {
		useLists(r, results)
	}
	if r.err != nil {
		return
	}
	op.Name = m.names[name]
	self := len(m.Ops)
	m.Ops = append(m.Ops, op)
	for range results {
		b.define(r, Value{Op: self, IsResult: true})
	}
	if mask&hasRegions != 0 {
		b.regions(r, self)
	}
}

// use reads the number of a value: -1 for one that is defined later, as in a loop of blocks.
func (b *body) use(r *reader) int {
	n := r.index(len(b.scope))
	if r.err != nil {
		return -1
	}
	return b.scope[n]
}

// define adds the next value of the region that is read.
func (b *body) define(r *reader, v Value) {
	if b.next >= len(b.scope) {
		r.fail(errors.New("more values than the region said"))
		return
	}
	b.scope[b.next] = len(b.m.Values)
	b.m.Values = append(b.m.Values, v)
	b.next++
}

// regions reads what is inside operation op.
func (b *body) regions(r *reader, op int) {
	n, isolated := r.flagged()
	if b.depth++; b.depth > maxNesting {
		r.fail(fmt.Errorf("operations nest more than %d deep", maxNesting))
	}
	if n > uint64(r.left()) {
		r.fail(fmt.Errorf("%d regions in %d bytes", n, r.left()))
	}
	from, inside := r, *b
	if isolated {
		inside.scope, inside.next = nil, 0
		if b.m.version >= versionLazy {
			id, part := r.section()
			if r.err == nil && id != sectionIR {
				r.fail(fmt.Errorf("section %d where operations should be", id))
			}
			from = &part
		}
	}
	for range n {
		if r.err != nil || from.err != nil {
			break
		}
		inside.region(from, op)
	}
	if from.err != nil {
		r.err = from.err
	}
	b.depth--
}

// region reads one region.
func (b *body) region(r *reader, op int) {
	blocks := r.count()
	if blocks == 0 || r.err != nil {
		return
	}
	values := r.count() // each takes a byte at least: a type
	scope, next := b.scope, b.next
	b.next = len(scope)
	for range values {
		b.scope = append(b.scope, -1)
	}
	for i := range blocks {
		n, arguments := r.flagged()
		if arguments {
			b.arguments(r, op, i == 0)
		}
		b.ops(r, n, op)
		if r.err != nil {
			return
		}
	}
	b.scope, b.next = scope, next
}

// arguments reads those of a block.
func (b *body) arguments(r *reader, op int, entry bool) {
	n := r.count()
	for i := range n {
		located := true
		if b.m.version >= versionShortArgs {
			_, located = r.flagged()
		} else {
			r.varint()
		}
		if located {
			r.varint()
		}
		b.define(r, Value{Op: op, Argument: i, Entry: entry})
		if r.err != nil {
			return
		}
	}
	if b.m.version >= versionUseLists && r.byte() != 0 {
		useLists(r, n)
	}
}

// useLists passes over the orders of the uses of n values.
func useLists(r *reader, n int) {
	lists := 1
	if n > 1 {
		lists = r.count()
	}
	for range lists {
		if n > 1 {
			r.varint()
		}
		indices, _ := r.flagged()
		for range indices {
			if r.varint(); r.err != nil {
				return
			}
		}
	}
}

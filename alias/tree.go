package alias

// tree holds the values that are alive at one tick of the timeline, for each allocation
// a search tree by offset that knows how far each part of it reaches (an interval tree).
// Its balance comes from priorities that are made of the values' numbers (a treap).
type tree struct {
	roots []int32    // by allocation: a value, -1 for none
	nodes []treeNode // by value
	stack []int32
	seed  uint32 // odd: nobody who wrote a file knows how its values will hang
}

// treeNode is a value in its tree.
type treeNode struct {
	left, right int32 // values, -1 for none
	in          bool
	begin, end  int64 // bytes, half-open
	reach       int64 // the greatest end of what hangs below, its own included
}

func (t *tree) reset(allocations, values int, seed uint32) {
	t.seed = seed
	t.roots = filled(t.roots, allocations)
	if cap(t.nodes) < values {
		t.nodes = make([]treeNode, values)
	}
	t.nodes = t.nodes[:values]
	clear(t.nodes)
}

// priority spreads the numbers of values (the finalizer of MurmurHash3).
func (t *tree) priority(v int32) uint32 {
	h := uint32(v) ^ t.seed
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// less orders values by where they begin; no two are equal.
func (t *tree) less(x, y int32) bool {
	a, b := &t.nodes[x], &t.nodes[y]
	return a.begin < b.begin || a.begin == b.begin && x < y
}

// add puts value v into an allocation's tree.
func (t *tree) add(allocation, v int32, begin, end int64) {
	t.nodes[v] = treeNode{left: -1, right: -1, in: true, begin: begin, end: end, reach: end}
	t.roots[allocation] = t.insert(t.roots[allocation], v)
}

func (t *tree) insert(at, v int32) int32 {
	if at < 0 {
		return v
	}
	if t.priority(v) > t.priority(at) {
		t.nodes[v].left, t.nodes[v].right = t.split(at, v)
		t.measure(v)
		return v
	}
	n := &t.nodes[at]
	n.reach = max(n.reach, t.nodes[v].end)
	if t.less(v, at) {
		n.left = t.insert(n.left, v)
	} else {
		n.right = t.insert(n.right, v)
	}
	return at
}

// split divides a tree into what begins before v and what begins after it.
func (t *tree) split(at, v int32) (before, after int32) {
	if at < 0 {
		return -1, -1
	}
	n := &t.nodes[at]
	if t.less(at, v) {
		n.right, after = t.split(n.right, v)
		before = at
	} else {
		before, n.left = t.split(n.left, v)
		after = at
	}
	t.measure(at)
	return before, after
}

// remove takes value v out of an allocation's tree.
func (t *tree) remove(allocation, v int32) {
	t.roots[allocation] = t.without(t.roots[allocation], v)
	t.nodes[v].in = false
}

func (t *tree) without(at, v int32) int32 {
	if at < 0 {
		return -1
	}
	n := &t.nodes[at]
	switch {
	case at == v:
		return t.join(n.left, n.right)
	case t.less(v, at):
		n.left = t.without(n.left, v)
	default:
		n.right = t.without(n.right, v)
	}
	t.measure(at)
	return at
}

// join makes one tree of two, of which one begins before the other.
func (t *tree) join(before, after int32) int32 {
	switch {
	case before < 0:
		return after
	case after < 0:
		return before
	case t.priority(before) > t.priority(after):
		t.nodes[before].right = t.join(t.nodes[before].right, after)
		t.measure(before)
		return before
	}
	t.nodes[after].left = t.join(before, t.nodes[after].left)
	t.measure(after)
	return after
}

func (t *tree) measure(at int32) {
	n := &t.nodes[at]
	n.reach = n.end
	if n.left >= 0 {
		n.reach = max(n.reach, t.nodes[n.left].reach)
	}
	if n.right >= 0 {
		n.reach = max(n.reach, t.nodes[n.right].reach)
	}
}

// meet appends the values of an allocation that share bytes with [begin, end).
func (t *tree) meet(out []int32, allocation int32, begin, end int64) []int32 {
	t.stack = append(t.stack[:0], t.roots[allocation])
	for len(t.stack) > 0 {
		at := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		if at < 0 || t.nodes[at].reach <= begin {
			continue
		}
		n := &t.nodes[at]
		t.stack = append(t.stack, n.left)
		if n.begin < end {
			t.stack = append(t.stack, n.right)
			if n.end > begin {
				out = append(out, at)
			}
		}
	}
	return out
}

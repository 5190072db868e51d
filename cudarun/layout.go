package cudarun

import (
	"slices"

	"aliascheck/rules/replay"
)

// layoutAlign is XLA's and cuMemAlloc's alignment of device memory, in bytes.
const layoutAlign = 256

// layout says where the buffers lie in one kind of run.
type layout struct {
	places []replay.Place
	groups []group
	apart  bool // no two buffers overlap, but for a result that is its operand
}

// group is memory that buffers share: bytes, and the buffers in it.
type group struct {
	bytes   int64
	members []int
}

// sharedLayout lays the buffers out as the plan says.
func (p *Plan) sharedLayout() layout {
	return p.layoutOf(p.Shared)
}

// apartLayout gives each buffer memory of its own, but for claimed results
// without a pointer: such a result is its operand.
func (p *Plan) apartLayout(k *Kernel) layout {
	places := make([]replay.Place, len(p.Buffers))
	next := 0
	for i := range p.Buffers {
		if !p.isItsOperand(k, i) {
			places[i] = replay.Place{Group: next}
			next++
		}
	}
	for i, b := range p.Buffers {
		if p.isItsOperand(k, i) {
			places[i] = places[b.Claims]
		}
	}
	l := p.layoutOf(places)
	l.apart = true
	return l
}

func (p *Plan) layoutOf(places []replay.Place) layout {
	l := layout{places: places}
	for i, place := range places {
		for len(l.groups) <= place.Group {
			l.groups = append(l.groups, group{})
		}
		g := &l.groups[place.Group]
		g.bytes = max(g.bytes, place.Offset+p.Buffers[i].Bytes)
		g.members = append(g.members, i)
	}
	return l
}

// isItsOperand says that buffer i is a claimed result to which the kernel has no
// pointer: the kernel writes it through its operand's, if at all.
func (p *Plan) isItsOperand(k *Kernel, i int) bool {
	b := p.Buffers[i]
	return b.Role == Result && b.Claims != NoBuffer && !k.pointsTo(i)
}

// pointsTo says whether a parameter of the kernel points to buffer i.
func (k *Kernel) pointsTo(i int) bool {
	for _, param := range k.Params {
		if param.Kind == ParamBuffer && param.Buffer == i ||
			slices.ContainsFunc(param.Tensors, func(t Tensor) bool { return t.Buffer == i }) {
			return true
		}
	}
	return false
}

// claimed says whether a result claims operand i.
func (p *Plan) claimed(i int) bool {
	for _, b := range p.Buffers {
		if b.Role == Result && b.Claims == i {
			return true
		}
	}
	return false
}

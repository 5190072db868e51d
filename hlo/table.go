package hlo

import "math/rand/v2"

// idTable finds the index of an id. It is a hash table with open addressing whose
// memory is reused; it is never more than half full.
type idTable struct {
	slots []idSlot
	shift uint   // 64 - log2(len(slots))
	odd   uint64 // random multiplier: no file can choose ids that collide
}

// idSlot is empty where index is 0.
type idSlot struct {
	id    int64
	index int32 // one more than the index
}

// reset makes room for n ids and forgets the old ones.
func (t *idTable) reset(n int) {
	if t.odd == 0 {
		t.odd = rand.Uint64() | 1
	}
	bits := uint(4)
	for 1<<bits < 2*n {
		bits++
	}
	if cap(t.slots) < 1<<bits {
		t.slots = make([]idSlot, 1<<bits)
	}
	t.slots = t.slots[:1<<bits]
	clear(t.slots)
	t.shift = 64 - bits
}

// add enters an id; it reports false where the id is there already.
func (t *idTable) add(id int64, index int32) bool {
	slot := t.find(id)
	if slot.index != 0 {
		return false
	}
	*slot = idSlot{id, index + 1}
	return true
}

// index returns the index of an id, or -1.
func (t *idTable) index(id int64) int32 { return t.find(id).index - 1 }

// find returns the id's slot, or the empty one where it belongs.
func (t *idTable) find(id int64) *idSlot {
	mask := uint64(len(t.slots) - 1)
	for i := uint64(id) * t.odd >> t.shift; ; i = (i + 1) & mask {
		slot := &t.slots[i]
		if slot.index == 0 || slot.id == id {
			return slot
		}
	}
}

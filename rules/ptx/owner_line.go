package ptx

import "math/bits"

// ownerLine is a last-accessor array, as race detectors keep one: it says for each 4-byte element of a line which access is on record for
// it: lines that many events, or single threads, touch element by element take
// little more than their own size. An owner is
//
//	0                                nobody
//	event + 1                        an event, by the threads that it says
//	soloFlag | number<<bits | thread a single thread of the event of that number in solos
type ownerLine struct{ owner [lineElements]uint32 }

const (
	lineElements   = 16
	elementMask    = uint64(15) // bytes of the first element
	soloFlag       = uint32(1) << 31
	ownerLineBytes = 64
	soloBytes      = 4
)

// inOwnerLine is an entry's how when it stands for an owner line.
const inOwnerLine = 0xff

// elements says that a mask is made of whole elements.
func elements(mask uint64) bool {
	first := mask & 0x1111111111111111
	return first*elementMask == mask
}

// mask gives the bytes that have an owner.
func (sh *ownerLine) mask() uint64 {
	full := soloFlag
	for _, o := range sh.owner {
		full &= o | -o
	}
	if full != 0 { // most are, and it takes no branches to see
		return ^uint64(0)
	}
	m := uint64(0)
	for k, o := range sh.owner {
		if o != 0 {
			m |= elementMask << (4 * k)
		}
	}
	return m
}

// set gives the elements of mask to an owner; 0 takes them from theirs.
func (sh *ownerLine) set(mask uint64, owner uint32) {
	for b := mask & 0x1111111111111111; b != 0; b &= b - 1 {
		sh.owner[bits.TrailingZeros64(b)/4&(lineElements-1)] = owner
	}
}

// fits says that an entry can be told by owners: it is made of whole elements
// with one thread each, and there are numbers for them.
func (r *recorder) fits(en entry) bool {
	if en.how == inOwnerLine || !elements(en.mask) {
		return false
	}
	if en.thread == anyThread {
		return true
	}
	n := ^r.events.get(en.ev - 1).thread
	return n >= 0 && n < 1<<(31-r.m.threadBits) && (en.how&15 >= 2 || en.how>>4 == 1)
}

// write puts an entry that fits on an owner line.
func (r *recorder) write(sh *ownerLine, en entry) {
	if en.thread == anyThread {
		sh.set(en.mask, en.ev)
		return
	}
	solo := soloFlag | uint32(^r.events.get(en.ev-1).thread)<<r.m.threadBits
	for b := en.mask & 0x1111111111111111; b != 0; b &= b - 1 {
		i := bits.TrailingZeros64(b)
		sh.owner[i/4&(lineElements-1)] = solo | uint32(en.threadAt(i))
	}
}

// threadAt gives the thread that touches byte i, of an entry of single threads.
func (en *entry) threadAt(i int) int {
	return int(en.thread) + (int(en.how>>4)-1)*((i-int(en.first))>>(en.how&15))
}

// part gives what an owner has of a line: its bytes are mask.
func (r *recorder) part(owner uint32, mask uint64) part {
	if owner&soloFlag == 0 {
		return part{r.event(owner - 1), entry{mask: mask, ev: owner, thread: anyThread}}
	}
	owner &^= soloFlag
	id := *r.solos.get(owner >> r.m.threadBits)
	thread := owner & (1<<r.m.threadBits - 1)
	return part{r.event(id), entry{mask: mask, ev: id + 1, thread: int16(thread), first: uint8(bits.TrailingZeros64(mask)), how: 6 + 1<<4}}
}

// owners calls f for each owner of some of the bytes, and all of its own there:
// neighbours of one owner at once.
func (sh *ownerLine) owners(of uint64, f func(owner uint32, mask uint64)) {
	for k := 0; k < lineElements; {
		if of>>(4*k)&elementMask == 0 {
			k++
			continue
		}
		o, n := sh.owner[k], 1
		for k+n < lineElements && sh.owner[k+n] == o {
			n++
		}
		if o != 0 {
			f(o, widthMask(uint8(4*n))<<(4*k))
		}
		k += n
	}
}

// newOwnerLine gives an empty owner line's number.
func (r *recorder) newOwnerLine() (uint32, *ownerLine, bool) {
	if r.freeLines == 0 && r.freeTiles != 0 {
		first := r.freeTiles - 1
		r.freeTiles = *r.tileAt(first).word(0)
		for k := range uint32(wideLines) {
			r.freeOwnerLine(first + k)
		}
	}
	if r.freeLines != 0 {
		i := r.freeLines - 1
		sh := r.ownerLines.get(i)
		r.freeLines = sh.owner[0]
		*sh = ownerLine{}
		return i, sh, true
	}
	i, sh, ok := r.ownerLines.alloc()
	if !ok {
		r.m.stop("the record of accesses is full")
	}
	return i, sh, ok
}

// freeOwnerLine gives an owner line back.
func (r *recorder) freeOwnerLine(i uint32) {
	r.ownerLines.get(i).owner[0] = r.freeLines
	r.freeLines = i + 1
}

// onOwnerLine adds an entry that fits to a line that is one owner line; it returns the
// bytes that have owners which are to stay beside it.
func (r *recorder) onOwnerLine(t *shadow, sh *ownerLine, line int64, now part) uint64 {
	left := uint64(0)
	for b := now.entry.mask & 0x1111111111111111; b != 0; b &= b - 1 {
		i := bits.TrailingZeros64(b)
		bit := elementMask << i
		o := sh.owner[i/4&(lineElements-1)]
		one := now.entry
		one.mask = bit
		switch {
		case o == 0:
			r.write(sh, one)
			r.took = true
		default:
			old := r.part(o, bit)
			if old.cluster != now.cluster || r.soon(old, now, line, bit, 0) != bit {
				left |= bit
			} else if t.last {
				r.write(sh, one)
				r.took = true
			}
		}
	}
	return left
}

// add takes the owners of another owner line, if no element has two. Which elements
// have one is anybody's guess, so that it does without branches.
func (sh *ownerLine) add(o *ownerLine) bool {
	both := uint32(0)
	for k, a := range sh.owner {
		b := o.owner[k]
		both |= (a | -a) & (b | -b)
	}
	if both>>31 != 0 {
		return false
	}
	for k := range sh.owner {
		sh.owner[k] |= o.owner[k]
	}
	return true
}

// solo numbers an event of single threads, and gives the number's complement.
func (r *recorder) solo(event uint32) int32 {
	i, x, ok := r.solos.alloc()
	if !ok {
		r.m.stop("the record of accesses is full")
		return 0
	}
	*x = event
	return ^int32(i)
}

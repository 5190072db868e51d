package alias

import (
	"cmp"
	"math"
	"slices"
)

// span is a value in its allocation: its bytes, and when the entry needs it.
type span struct {
	offset, end int64
	farthest    int64 // the greatest end up to here
	value       int32
	from, to    int32 // positions of the entry's schedule: as needed has it
}

// spans are the values of a module's allocations. An allocation's are made when it is
// first asked for.
type spans struct {
	first []int32 // by allocation: where its spans begin, -1 before they are made
	last  []int32
	all   []span
}

func (s *spans) reset(allocations int) {
	s.first, s.last, s.all = s.first[:0], s.last[:0], s.all[:0]
	for range allocations {
		s.first, s.last = append(s.first, -1), append(s.last, -1)
	}
}

// spansFrom returns the spans of an allocation, sorted by offset, less those at its
// beginning that end at an offset or before it: hundreds of values lie there one after
// the other, and a result lies over a few.
func (l *lifetimes) spansFrom(allocation int32, offset int64) []span {
	s := &l.spans
	if s.first[allocation] < 0 {
		s.first[allocation] = int32(len(s.all))
		l.addSpans(allocation)
		s.last[allocation] = int32(len(s.all))
	}
	list := s.all[s.first[allocation]:s.last[allocation]]
	n, _ := slices.BinarySearchFunc(list, offset+1, func(x span, end int64) int { return cmp.Compare(x.farthest, end) })
	return list[n:]
}

func (l *lifetimes) addSpans(allocation int32) {
	l.build()
	farthest := int64(0)
	for _, v := range l.m.Allocations[allocation].Values {
		value := &l.m.Values[v]
		if value.Size <= 0 {
			continue
		}
		x := span{offset: value.Offset, end: value.Offset + value.Size, value: v, from: math.MinInt32, to: atEnd}
		if l.forEver(v) == "" {
			x.from, x.to = l.definedAt(v, l.m.Entry), l.lastRead(v, l.m.Entry)
		}
		farthest = max(farthest, x.end)
		x.farthest = farthest
		l.spans.all = append(l.spans.all, x)
	}
}

// lastRead returns the position of the last read of v in comp, -1 where it has none.
func (l *lifetimes) lastRead(v, comp int32) int32 {
	for h := l.head[v]; h >= 0; h = l.uses[h].next {
		if l.uses[h].comp == comp {
			return l.uses[h].pos
		}
	}
	return -1
}

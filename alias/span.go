package alias

import (
	"math"
	"slices"
)

// span is a value in its allocation: its bytes, and when the entry needs it.
type span struct {
	offset, end int64
	value       int32
	from, to    int32 // positions of the entry's schedule: as needed has it
}

// spans are the values of a module's allocations. An allocation's are made when it is
// first asked for.
type spans struct {
	first, last []int32 // by allocation: where its spans begin and end, -1 before they are made
	all         []span
	farthest    []int64 // by span: the greatest end up to it
}

func (s *spans) reset(allocations int) {
	s.first, s.last, s.all, s.farthest = s.first[:0], s.last[:0], s.all[:0], s.farthest[:0]
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
	first, last := s.first[allocation], s.last[allocation]
	n, _ := slices.BinarySearch(s.farthest[first:last], offset+1)
	return s.all[int(first)+n : last]
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
		l.spans.all, l.spans.farthest = append(l.spans.all, x), append(l.spans.farthest, farthest)
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

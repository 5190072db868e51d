package ptx

import (
	"math/bits"
	"slices"
)

// ranges merges lines of bytes into ranges.
type ranges []Range

func (r *ranges) lines(line, n int64, mask uint64) {
	if mask == ^uint64(0) {
		r.add(line<<6, (line+n)<<6)
		return
	}
	for ; n > 1; n-- {
		r.lines(line, 1, mask)
		line++
	}
	for mask != 0 {
		lo := bits.TrailingZeros64(mask)
		n := bits.TrailingZeros64(^(mask >> lo))
		r.add(line<<6+int64(lo), line<<6+int64(lo+n))
		if lo+n >= 64 {
			return
		}
		mask &^= widthMask(uint8(lo + n))
	}
}

func (r *ranges) add(start, end int64) {
	if k := len(*r); k > 0 && (*r)[k-1].End >= start {
		(*r)[k-1].End = max((*r)[k-1].End, end)
		return
	}
	*r = append(*r, Range{start, end})
}

// union merges two ascending lists.
func union(a, b []Range) []Range {
	all := append(slices.Clone(a), b...)
	slices.SortFunc(all, func(x, y Range) int {
		switch {
		case x.Start < y.Start:
			return -1
		case x.Start > y.Start:
			return 1
		}
		return 0
	})
	var out ranges
	for _, x := range all {
		if x.Start < x.End {
			out.add(x.Start, x.End)
		}
	}
	return out
}

// joined is union for lists that are merged; with an empty one it is the other, and no copy.
func joined(a, b []Range) []Range {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	return union(a, b)
}

// minus takes b from a; both ascending and merged.
func minus(a, b []Range) []Range {
	if len(b) == 0 {
		return append([]Range(nil), a...)
	}
	var out []Range
	k := 0
	for _, x := range a {
		for k < len(b) && b[k].End <= x.Start {
			k++
		}
		at := x.Start
		for j := k; j < len(b) && b[j].Start < x.End; j++ {
			if b[j].Start > at {
				out = append(out, Range{at, b[j].Start})
			}
			at = max(at, b[j].End)
		}
		if at < x.End {
			out = append(out, Range{at, x.End})
		}
	}
	return out
}

package replay

import (
	"cmp"
	"slices"

	"aliascheck/rules/ptx"
)

// Joined joins two lists of ranges into one that is merged and ascending.
func Joined(a, b []ptx.Range) []ptx.Range {
	if len(b) == 0 {
		return a
	}
	all := append(slices.Clone(a), b...)
	slices.SortFunc(all, func(x, y ptx.Range) int { return cmp.Compare(x.Start, y.Start) })
	out := all[:0]
	for _, r := range all {
		if n := len(out); n > 0 && r.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, r.End)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Gap gives the first byte below size that the merged, ascending ranges leave out,
// or -1.
func Gap(ranges []ptx.Range, size int64) int64 {
	var at int64
	for _, r := range ranges {
		if r.Start > at {
			break
		}
		at = max(at, r.End)
	}
	if at >= size {
		return -1
	}
	return at
}

// Covered adds up ranges that are merged and ascending.
func Covered(ranges []ptx.Range) int64 {
	var n int64
	for _, r := range ranges {
		n += r.End - r.Start
	}
	return n
}

package emulate

import (
	"fmt"
	"slices"

	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"
)

// stated lists the recipes of the set for one operand, each as a ladder: the first
// that stays inside of the buffers stands for all of it, since an index or a length
// that leaves them is no legal one.
func (p kernelPlan) stated(n int) [][]replay.Recipe {
	b := &p.Buffers[n]
	recipe := func(kind string, bound int64) replay.Recipe {
		return replay.Recipe{Operand: n, Kind: kind, Seed: uint64(n) + 1, Bound: bound}
	}
	switch {
	case b.Element.String() == "pred":
		return [][]replay.Recipe{{recipe(replay.RandomInput, 0)}, {recipe(replay.ZerosInput, 0)}, {recipe(replay.EqualInput, 1)}}
	case !replay.IsInteger(b.Element):
		return [][]replay.Recipe{{recipe(replay.RandomInput, 0)}, {recipe(replay.ZerosInput, 0)}, {recipe(replay.WideInput, 0)},
			{recipe(replay.EqualInput, 1)}, {recipe(replay.EqualInput, -1)}}
	}
	ladder := func(kind string, least int64, bounds []int64) (out []replay.Recipe) {
		for _, bound := range bounds {
			if bound >= least {
				out = append(out, recipe(kind, bound))
			}
		}
		return out
	}
	bounds := p.bounds(n)
	if !slices.Contains(bounds, b.Count()) && b.Count() > 1 {
		bounds = append(bounds, b.Count())
		slices.SortFunc(bounds, func(x, y int64) int { return int(min(max(y-x, -1), 1)) })
	}
	var tops []int64 // the largest that an index, or a length, may be
	for _, bound := range bounds {
		tops = append(tops, bound, bound-1)
	}
	tops = append(tops, 3, 2, 1)
	slices.SortFunc(tops, func(x, y int64) int { return int(min(max(y-x, -1), 1)) })
	tops = slices.Compact(tops)
	return slices.DeleteFunc([][]replay.Recipe{
		{recipe(replay.PermutationInput, 0)},
		ladder(replay.EqualInput, 1, tops),
		{recipe(replay.ZerosInput, 0)},
		ladder(replay.SortedInput, 1, tops),
		ladder(replay.DescendingInput, 1, tops),
		ladder(replay.SmallInput, 1, tops),
		ladder(replay.LengthsInput, 2, tops),
		{recipe(replay.EqualInput, 1)},
		{recipe(replay.EqualInput, 2)},
		{recipe(replay.SortedInput, max(b.Count()/4, 1)), recipe(replay.SortedInput, 3), recipe(replay.SortedInput, 1)}, // segments that repeat
		{recipe(replay.NegativeInput, max(slices.Min(tops), 1))},
		ladder(replay.BeyondInput, 1, bounds),
	}, func(l []replay.Recipe) bool { return len(l) == 0 })
}

// sides gathers, by line, which ways threads went in the tries that count.
type sides map[string]*ptx.Side

func (s sides) add(out *ptx.Outcome) {
	for i := range out.Sides {
		x := &out.Sides[i]
		key := fmt.Sprint(x.PTXLine, x.What, x.All)
		if old := s[key]; old != nil {
			old.Seen |= x.Seen
		} else {
			c := *x
			s[key] = &c
		}
	}
}

// missing names the first place of which no try went every way; "" where there is none.
func (s sides) missing() string {
	var first *ptx.Side
	for _, x := range s {
		if x.Missing() != "" && (first == nil || x.PTXLine < first.PTXLine || x.PTXLine == first.PTXLine && x.What < first.What) {
			first = x
		}
	}
	if first == nil {
		return ""
	}
	return fmt.Sprintf("the %s at %s: %s", first.What, replay.Where(&first.Access), first.Missing())
}

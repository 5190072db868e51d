package emulate

import (
	"cmp"
	"slices"

	"aliascheck/rules/replay"
)

// maxTries bounds the runs that look for inputs.
const maxTries = 32

// tries lists what to make of the deciding operands: first every operand by the
// same choice, then one operand after another by a choice of its own.
func (p kernelPlan) tries(deciding []int) [][]replay.Recipe {
	choices := make([][]replay.Recipe, len(deciding))
	longest := 0
	for i, n := range deciding {
		choices[i] = p.choices(n)
		longest = max(longest, len(choices[i]))
	}
	var out [][]replay.Recipe
	add := func(choice func(i int) int) {
		if len(out) == maxTries {
			return
		}
		try := make([]replay.Recipe, len(deciding))
		for i := range deciding {
			try[i] = choices[i][min(choice(i), len(choices[i])-1)]
		}
		out = append(out, try)
	}
	for k := range longest {
		add(func(int) int { return k })
	}
	for k := 1; k < longest && len(deciding) > 1; k++ {
		for other := range deciding {
			add(func(i int) int {
				if i == other {
					return k
				}
				return 0
			})
		}
	}
	return out
}

// choices lists the recipes for one operand, the most telling first: a permutation
// touches everything once and in an order that shows every conflict.
func (p kernelPlan) choices(n int) []replay.Recipe {
	b := &p.Buffers[n]
	recipe := func(kind string, bound int64) replay.Recipe {
		return replay.Recipe{Operand: n, Kind: kind, Seed: uint64(n) + 1, Bound: bound}
	}
	if !replay.IsInteger(b.Element) {
		return []replay.Recipe{recipe(replay.RandomInput, 0), recipe(replay.ZerosInput, 0)}
	}
	out := []replay.Recipe{recipe(replay.PermutationInput, 0)}
	bounds := p.bounds(n)
	for _, bound := range bounds {
		out = append(out, recipe(replay.SmallInput, bound))
	}
	for _, bound := range bounds {
		out = append(out, recipe(replay.SortedInput, bound))
	}
	return append(out, recipe(replay.ZerosInput, 0))
}

// bounds lists the sizes that an index in operand n may be an index into: the
// dimensions of the other buffers, the largest first.
func (p kernelPlan) bounds(n int) []int64 {
	const most = 6
	var out []int64
	for k, b := range p.Buffers {
		for _, d := range b.Dims {
			if k != n && d > 1 {
				out = append(out, d)
			}
		}
	}
	slices.SortFunc(out, func(a, b int64) int { return cmp.Compare(b, a) })
	out = slices.Compact(out)
	if len(out) > most { // keep the smallest too: it is the safest
		out = append(out[:most-1], out[len(out)-1])
	}
	return out
}

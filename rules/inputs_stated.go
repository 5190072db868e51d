package rules

import (
	"fmt"
	"math"
	"slices"

	"aliascheck/hlo"
	"aliascheck/rules/ptx"
)

// The kinds of a Recipe that only the stated set has (DESIGN.md, "Contents that had
// to be made up"): together with the others they stand for every way in which an
// index, a length, a flag or a threshold is known to matter.
const (
	EqualInput      = "equal"      // every element is the bound; the largest float, times its sign, of floats
	DescendingInput = "descending" // falls evenly from the bound to 0
	LengthsInput    = "lengths"    // nothing, less than, exactly and several times a part of the bound, mixed
	NegativeInput   = "negative"   // as "small", and every third element is -1
	BeyondInput     = "beyond"     // as "small", and every third element is the bound, or far beyond it
	WideInput       = "wide"       // of floats: every power of ten, of either sign, and zeros
)

// fillStated makes the contents that only the stated set has.
func fillStated(out []byte, r Recipe, element hlo.ElementType, size, count int64, g *generator) {
	if !isInteger(element) && element.String() != "pred" {
		switch r.Kind {
		case WideInput:
			fillEach(out, size, func(i int64) uint64 { return floatBits(element, wideAt(i)) })
		case EqualInput:
			fillEach(out, size, func(int64) uint64 { return floatBits(element, float64(r.Bound)*1e30) })
		}
		return
	}
	small := func() int64 { return int64(g.below(uint64(max(r.Bound, 1)))) }
	var value func(i int64) int64
	switch r.Kind {
	case EqualInput:
		value = func(int64) int64 { return r.Bound }
	case DescendingInput:
		value = func(i int64) int64 { return int64(sortedAt(count-1-i, count, r.Bound)) }
	case LengthsInput:
		value = func(i int64) int64 { return lengthAt(i, r.Bound, r.Seed) }
	case NegativeInput:
		value = func(i int64) int64 { return pick(i%3 == 1, -1, small()) }
	case BeyondInput:
		value = func(i int64) int64 { return pick(i%3 == 1, pick(i%2 == 0, r.Bound, 1<<30), small()) }
	default:
		return
	}
	fillEach(out, size, func(i int64) uint64 { return uint64(value(i)) })
}

func pick(yes bool, a, b int64) int64 {
	if yes {
		return a
	}
	return b
}

// floatBits gives a number in a floating-point type; what is too large for it becomes
// its largest power of two, or infinite.
func floatBits(element hlo.ElementType, v float64) uint64 {
	switch element.String() {
	case "f64", "c128":
		return math.Float64bits(v)
	case "f32", "c64":
		return uint64(math.Float32bits(float32(v)))
	case "bf16":
		return uint64(math.Float32bits(float32(v)) >> 16)
	case "f16":
		if v > 65504 || v < -65504 {
			v = math.Copysign(65504, v)
		}
		return uint64(halfBits(v))
	}
	switch { // eight bits and less: nothing, a small number, or one with every bit but the sign and the last
	case v == 0:
		return 0
	case v > 0:
		return uint64(pick(v >= 1, 0x3d, 1))
	}
	return uint64(pick(v <= -1, 0xbd, 0x81))
}

// wideAt is element i of the wide floats, from 1e-30 to 1e30: it fits a half less than
// a float, and what does not fit is infinite.
func wideAt(i int64) float64 {
	const steps = 61
	v := 1.0
	for range abs(i/2%steps - steps/2) {
		v *= 10
	}
	if i/2%steps < steps/2 {
		v = 1 / v
	}
	switch {
	case i%7 == 6:
		return 0
	case i%2 == 1:
		return -v
	}
	return v
}

func abs(i int64) int64 { return max(i, -i) }

// lengthAt is element i of mixed lengths up to a bound, the seed's turn of them first.
func lengthAt(i, bound int64, seed uint64) int64 {
	list := [...]int64{bound, 0, bound / 2, 1, bound - 1, bound/4 + 1, 2, bound/8 - 1, 3, bound/2 + 1, bound / 4, bound/16 + 1, bound / 8}
	return min(max(list[(uint64(i)+seed*5)%uint64(len(list))], 0), bound)
}

// stated lists the recipes of the set for one operand, each as a ladder: the first
// that stays inside of the buffers stands for all of it, since an index or a length
// that leaves them is no legal one.
func (p *kernelPlan) stated(n int) [][]Recipe {
	b := &p.Buffers[n]
	recipe := func(kind string, bound int64) Recipe {
		return Recipe{Operand: n, Kind: kind, Seed: uint64(n) + 1, Bound: bound}
	}
	switch {
	case b.Element.String() == "pred":
		return [][]Recipe{{recipe(RandomInput, 0)}, {recipe(ZerosInput, 0)}, {recipe(EqualInput, 1)}}
	case !isInteger(b.Element):
		return [][]Recipe{{recipe(RandomInput, 0)}, {recipe(ZerosInput, 0)}, {recipe(WideInput, 0)},
			{recipe(EqualInput, 1)}, {recipe(EqualInput, -1)}}
	}
	ladder := func(kind string, least int64, bounds []int64) (out []Recipe) {
		for _, bound := range bounds {
			if bound >= least {
				out = append(out, recipe(kind, bound))
			}
		}
		return out
	}
	bounds := p.bounds(n)
	if !slices.Contains(bounds, b.count()) && b.count() > 1 {
		bounds = append(bounds, b.count())
		slices.SortFunc(bounds, func(x, y int64) int { return int(min(max(y-x, -1), 1)) })
	}
	var tops []int64 // the largest that an index, or a length, may be
	for _, bound := range bounds {
		tops = append(tops, bound, bound-1)
	}
	tops = append(tops, 3, 2, 1)
	slices.SortFunc(tops, func(x, y int64) int { return int(min(max(y-x, -1), 1)) })
	tops = slices.Compact(tops)
	return slices.DeleteFunc([][]Recipe{
		{recipe(PermutationInput, 0)},
		ladder(EqualInput, 1, tops),
		{recipe(ZerosInput, 0)},
		ladder(SortedInput, 1, tops),
		ladder(DescendingInput, 1, tops),
		ladder(SmallInput, 1, tops),
		ladder(LengthsInput, 2, tops),
		{recipe(EqualInput, 1)},
		{recipe(EqualInput, 2)},
		{recipe(SortedInput, max(b.count()/4, 1)), recipe(SortedInput, 3), recipe(SortedInput, 1)}, // segments that repeat
		{recipe(NegativeInput, max(slices.Min(tops), 1))},
		ladder(BeyondInput, 1, bounds),
	}, func(l []Recipe) bool { return len(l) == 0 })
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
	return fmt.Sprintf("the %s at %s: %s", first.What, where(&first.Access), first.Missing())
}

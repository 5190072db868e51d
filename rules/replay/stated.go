package replay

import (
	"fmt"
	"math"
	"strings"

	"aliascheck/hlo"
)

// The kinds of a Recipe that only the stated set has: together with the others they stand for every way in which an
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
	if !IsInteger(element) && element.String() != "pred" {
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

// Words says what a recipe makes.
func (r Recipe) Words() string {
	switch r.Kind {
	case RandomInput:
		return "random"
	case PermutationInput:
		return "a permutation"
	case SortedInput:
		return fmt.Sprintf("ascending to %d", r.Bound)
	case DescendingInput:
		return fmt.Sprintf("descending from %d", r.Bound)
	case SmallInput:
		return fmt.Sprintf("random below %d", r.Bound)
	case ZerosInput:
		return "zeros"
	case EqualInput:
		return fmt.Sprintf("all %d", r.Bound)
	case LengthsInput:
		return fmt.Sprintf("lengths from 0 to %d", r.Bound)
	case NegativeInput:
		return fmt.Sprintf("below %d and -1", r.Bound)
	case BeyondInput:
		return fmt.Sprintf("below %d and beyond", r.Bound)
	case WideInput:
		return "floats of every size"
	}
	return strings.TrimSpace("from a " + r.Kind + " " + r.Source)
}

package replay

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"

	"aliascheck/hlo"
)

// The kinds of a Recipe that Contents can make. "literal", "file" and "snapshot"
// are contents that were found: Recipe.Source says where.
const (
	RandomInput      = "random"      // floats in [-1, 1), integers of any bits
	PermutationInput = "permutation" // of 0 to the number of elements - 1
	SortedInput      = "sorted"      // rises evenly from 0 to the bound
	SmallInput       = "small"       // random, from 0 to the bound - 1
	ZerosInput       = "zeros"
	LiteralInput     = "literal"
	FileInput        = "file"
	SnapshotInput    = "snapshot"
)

// Contents makes count elements of a type by a recipe, little endian and dense:
// the same bytes for the same arguments, in every release and on every machine, so
// that a replay elsewhere can start from them. Types of less than a byte take a
// whole one each. The caller has checked count against its memory.
func Contents(r Recipe, element hlo.ElementType, count int64) []byte {
	size := (element.Bits() + 7) / 8
	out := make([]byte, size*count)
	g := generator{state: r.Seed}
	switch r.Kind {
	case PermutationInput:
		fillPermutation(out, size, &g)
	case SortedInput:
		fillEach(out, size, func(i int64) uint64 { return sortedAt(i, count, r.Bound) })
	case SmallInput:
		fillEach(out, size, func(int64) uint64 { return g.below(uint64(max(r.Bound, 1))) })
	case RandomInput:
		fillRandom(out, element, size, &g)
	default:
		fillStated(out, r, element, size, count, &g)
	}
	return out
}

// sortedAt is element i of count that rise from 0 to bound, both included.
func sortedAt(i, count, bound int64) uint64 {
	if count < 2 || bound <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(bound), uint64(i))
	at, _ := bits.Div64(hi, lo, uint64(count-1)) // at most bound: i is at most count-1
	return at
}

// IsInteger reports whether an element can be an index.
func IsInteger(e hlo.ElementType) bool {
	name := e.String()
	return len(name) >= 2 && (name[0] == 's' || name[0] == 'u') && strings.Trim(name[1:], "0123456789") == ""
}

// generator is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, OOPSLA 2014): small, and fixed for ever by its paper.
type generator struct{ state uint64 }

func (g *generator) next() uint64 {
	g.state += 0x9e3779b97f4a7c15
	z := g.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below gives a number less than n; the tiny bias of the remainder does not matter here.
func (g *generator) below(n uint64) uint64 { return g.next() % n }

// put writes the low size bytes of v.
func put(out []byte, size int64, v uint64) {
	switch size {
	case 1:
		out[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(out, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(out, uint32(v))
	default:
		binary.LittleEndian.PutUint64(out, v) // of a complex number, the real part
	}
}

func fillEach(out []byte, size int64, value func(i int64) uint64) {
	if size == 0 {
		return
	}
	for i := int64(0); i*size < int64(len(out)); i++ {
		put(out[i*size:], size, value(i))
	}
}

// fillPermutation shuffles 0 to n-1. A type too narrow for n wraps.
func fillPermutation(out []byte, size int64, g *generator) {
	fillEach(out, size, func(i int64) uint64 { return uint64(i) })
	if size == 0 || size > 8 {
		return
	}
	var a, b [8]byte
	for i := int64(len(out))/size - 1; i > 0; i-- {
		j := int64(g.below(uint64(i + 1)))
		copy(a[:size], out[i*size:])
		copy(b[:size], out[j*size:])
		copy(out[i*size:], b[:size])
		copy(out[j*size:], a[:size])
	}
}

// fillRandom keeps floats finite and near one, so that sums stay comparable.
func fillRandom(out []byte, element hlo.ElementType, size int64, g *generator) {
	unit := func() float64 { return float64(int64(g.next())>>11) / (1 << 52) } // [-1, 1)
	fill := func(width int64, value func() uint64) {
		fillEach(out, width, func(int64) uint64 { return value() })
	}
	switch element.String() {
	case "pred":
		fill(1, func() uint64 { return g.next() & 1 })
	case "f64", "c128":
		fill(8, func() uint64 { return math.Float64bits(unit()) })
	case "f32", "c64":
		fill(4, func() uint64 { return uint64(math.Float32bits(float32(unit()))) })
	case "bf16":
		fill(2, func() uint64 { return uint64(math.Float32bits(float32(unit())) >> 16) })
	case "f16":
		fill(2, func() uint64 { return uint64(halfBits(unit())) })
	case "f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "f8e4m3", "f8e3m4", "f8e8m0fnu":
		// Without the exponent's highest bit there is no infinity and no NaN, but
		// for the unsigned-zero types' 0x80.
		fill(1, func() uint64 { return g.next() & 0x3f })
	case "s4", "u4", "f4e2m1fn":
		fill(1, func() uint64 { return g.next() & 0xf })
	default:
		fill(size, g.next)
	}
}

// halfBits rounds a value of magnitude below two to IEEE binary16, towards zero.
func halfBits(v float64) uint16 {
	bits := math.Float64bits(v)
	sign := uint16(bits >> 48 & 0x8000)
	exponent := int(bits>>52&0x7ff) - 1023 + 15
	mantissa := uint16(bits >> 42 & 0x3ff)
	if exponent <= 0 { // too small to be normal: none of the tests needs it
		return sign
	}
	return sign | uint16(exponent)<<10 | mantissa
}

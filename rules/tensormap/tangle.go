package tensormap

import (
	"math/bits"
	"slices"
)

// tangle gathers prints that cannot be told apart. Where every parameter has as many
// lines as every other, the prints are whole; and whoever printed which line, a value
// that stands in all the lines of a parameter then stands in every print.
type tangle struct {
	first, last int64
	prints      int
	dialect     dialect
	seen        Field // parameters that stood in a line
	differ      Field // those with several values, or one that cannot be read
	lines       [16]int64
	values      values
	codes       []Code // the first that a message gave
	codeless    bool   // a message gave another, or none
}

// add gathers a block.
func (t *tangle) add(b *block) {
	t.first, t.last = min(t.first, b.first), max(t.last, b.last)
	if t.prints == 0 {
		t.dialect = b.dialect
	} else if t.dialect != b.dialect {
		t.differ |= TiledFields
	}
	t.prints++
	t.differ |= b.seen &^ b.good
	for f := FieldTensorMap; f <= FieldOOBFill; f <<= 1 {
		if b.seen&f != 0 {
			t.lines[bits.TrailingZeros32(uint32(f))]++
		}
		switch {
		case b.good&f == 0:
		case t.seen&f == 0:
			t.values.copy(f, &b.values)
		case !t.values.same(f, &b.values):
			t.differ |= f
		}
	}
	t.seen |= b.seen
	if b.message {
		t.message(&message{line: b.last, code: b.code, hasCode: b.hasCode})
	}
}

// message gathers an error message.
func (t *tangle) message(m *message) {
	t.last = max(t.last, m.line)
	if !m.hasCode || len(t.codes) > 0 && t.codes[0] != m.code {
		t.codeless = true
	}
	if len(t.codes) == 0 {
		t.codes = append(t.codes, m.code)
	}
}

// whole reports whether every parameter has as many lines.
func (t *tangle) whole() bool {
	n := t.lines[bits.TrailingZeros32(uint32(FieldDims))]
	for i, lines := range t.lines {
		if t.dialect.required()&(1<<i) != 0 && lines != n {
			return false
		}
	}
	return true
}

// entry gives what the lines agree on.
func (t *tangle) entry(stream string) Entry {
	agreed := block{dialect: t.dialect, first: t.first, last: t.last, seen: t.seen, good: t.seen &^ t.differ, values: t.values}
	if len(t.codes) > 0 && !t.codeless {
		agreed.hasCode, agreed.code = true, t.codes[0]
	}
	const mixed = "lines of several prints are mixed and carry no mark of their process, such as a rank: they cannot be told apart"
	if !t.whole() {
		return Entry{Kind: Entangled, Stream: stream, Dialect: t.dialect.String(), First: t.first, Last: t.last, Prints: t.prints,
			HasCode: agreed.hasCode, Code: agreed.code, Problems: []string{mixed, "some of the prints are cut short"}}
	}
	e := agreed.entry(stream)
	e.Kind, e.Prints = Entangled, int(t.lines[bits.TrailingZeros32(uint32(FieldDims))])
	e.Problems = []string{mixed}
	if t.differ != 0 {
		e.Problems = append(e.Problems, "the lines do not agree on "+(t.differ&t.seen).String())
	}
	return e
}

// copy copies one parameter.
func (v *values) copy(f Field, from *values) {
	switch f {
	case FieldTensorMap:
		v.tensorMap = from.tensorMap
	case FieldDataType:
		v.dataType = from.dataType
	case FieldRank:
		v.rank = from.rank
	case FieldAddress:
		v.address = from.address
	case FieldDims:
		v.dims = from.dims
	case FieldStrides:
		v.strides = from.strides
	case FieldBox:
		v.box = from.box
	case FieldElementStrides:
		v.steps = from.steps
	case FieldInterleave:
		v.interleave = from.interleave
	case FieldSwizzle:
		v.swizzle = from.swizzle
	case FieldL2Promotion:
		v.promo = from.promo
	case FieldOOBFill:
		v.fill = from.fill
	}
}

// same compares one parameter.
func (v *values) same(f Field, w *values) bool {
	switch f {
	case FieldTensorMap:
		return v.tensorMap == w.tensorMap
	case FieldDataType:
		return v.dataType == w.dataType
	case FieldRank:
		return v.rank == w.rank
	case FieldAddress:
		return v.address == w.address
	case FieldDims:
		return slices.Equal(v.dims, w.dims)
	case FieldStrides:
		return slices.Equal(v.strides, w.strides)
	case FieldBox:
		return slices.Equal(v.box, w.box)
	case FieldElementStrides:
		return slices.Equal(v.steps, w.steps)
	case FieldInterleave:
		return v.interleave == w.interleave
	case FieldSwizzle:
		return v.swizzle == w.swizzle
	case FieldL2Promotion:
		return v.promo == w.promo
	case FieldOOBFill:
		return v.fill == w.fill
	}
	return false
}

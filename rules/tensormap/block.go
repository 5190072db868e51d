package tensormap

import "fmt"

// Kind says what stood in a log.
type Kind string

// The kinds of entries.
const (
	Printed   Kind = "printed"   // a descriptor's parameters
	Bare      Kind = "bare"      // an error message without parameters
	Entangled Kind = "entangled" // lines of several prints that cannot be told apart
)

// Entry is one thing that a log says about a descriptor.
type Entry struct {
	Kind        Kind
	Stream      string // the marks by which the process was told apart; "" for none
	Dialect     string // whose print it is
	First, Last int64  // lines, from 1

	Descriptor Descriptor // Printed; of Entangled, what all of the lines agree on
	Problems   []string   // parameters that are missing or cannot be read
	HasCode    bool
	Code       Code
	Name       string // what an error message calls the descriptor: "A_desc"
	Prints     int    // Entangled: how many prints were begun, at least
}

// Judgement judges an entry by its parameters and its code. Of entangled prints it
// holds for each of them.
func (e *Entry) Judgement() Judgement {
	if e.HasCode {
		return JudgeFailure(e.Descriptor, e.Code)
	}
	return Judge(e.Descriptor)
}

// block is a print that is being read.
type block struct {
	dialect     dialect
	first, last int64
	lead        Field // the parameter that it began with
	order       int   // where the last parameter stands in the dialect's order
	seen        Field // parameters whose line was there
	good        Field // those that could be read
	strong      bool  // one of them is no everyday word
	promoted    bool  // taken for a print
	tainted     bool  // another print's lines may be among them
	values      values
	problems    []string
	message     bool // it has its error message
	hasCode     bool
	code        Code
	name        string
}

// add takes in one parameter.
func (b *block) add(sp spelling, text string, line int64) {
	b.last = line
	b.seen |= sp.field
	b.order = b.dialect.order(sp.field)
	b.strong = b.strong || !sp.weak
	if err := b.values.set(sp, text); err != nil {
		b.problems = append(b.problems, fmt.Sprintf("line %d: %s: %v", line, sp.text, err))
		return
	}
	b.good |= sp.field
}

// take takes an error message, before or after the parameters.
func (b *block) take(m *message) {
	b.message, b.hasCode, b.code, b.name = true, m.hasCode, m.code, m.name
	b.first, b.last = min(b.first, m.line), max(b.last, m.line)
}

// ended reports whether the last parameter of the dialect was there.
func (b *block) ended() bool { return b.seen&b.dialect.final() != 0 }

// suffix reports whether the print is whole from its first line here to its end.
func (b *block) suffix() bool {
	for f := FieldTensorMap; f <= FieldOOBFill; f <<= 1 {
		if b.dialect.required()&f != 0 && b.dialect.order(f) >= b.dialect.order(b.lead) && b.seen&f == 0 {
			return false
		}
	}
	return true
}

func (b *block) complete() bool { return b.seen&b.dialect.required() == b.dialect.required() }

// entry turns a finished block into an entry.
func (b *block) entry(stream string) Entry {
	e := Entry{Kind: Printed, Stream: stream, Dialect: b.dialect.String(), First: b.first, Last: b.last,
		Problems: b.problems, HasCode: b.hasCode, Code: b.code, Name: b.name}
	e.Descriptor = b.descriptor(&e)
	if lack := b.dialect.required() &^ b.seen; lack != 0 {
		e.Problems = append(e.Problems, "the print is cut short: no "+lack.String())
	}
	return e
}

// descriptor cuts the printed arrays to what the driver was given.
func (b *block) descriptor(e *Entry) Descriptor {
	v := &b.values
	d := Descriptor{
		Known:     b.good &^ (FieldDims | FieldStrides | FieldBox | FieldElementStrides),
		TensorMap: v.tensorMap, DataType: DataType(v.dataType), Rank: v.rank, Address: v.address,
		Interleave: Interleave(v.interleave), Swizzle: Swizzle(v.swizzle),
		L2Promotion: L2Promotion(v.promo), OOBFill: OOBFill(v.fill),
	}
	if b.good&FieldSwizzle != 0 && v.swizzle > int(Swizzle128BAtom64B) {
		d.Swizzle = 1 << 16 // 96 is this package's own
	}
	if b.dialect == trtllm { // its only call has these, and prints none of them
		d.Known |= FieldInterleave | FieldL2Promotion | FieldOOBFill
		d.L2Promotion = 2
	}
	if !d.Has(FieldRank) || d.Rank < 1 || d.Rank > MaxRank {
		return d
	}
	strides := v.strides
	if b.dialect == cutlass && len(strides) > 0 {
		strides = strides[1:] // the element's own stride is printed and not passed
	}
	cut := func(f Field, name string, from []uint64, n int, to *[]uint64) {
		if b.good&f == 0 {
			return
		}
		if len(from) < n {
			e.Problems = append(e.Problems, fmt.Sprintf("%s prints %d of the %d entries that rank %d has", name, len(from), n, d.Rank))
			return
		}
		*to, d.Known = append([]uint64(nil), from[:n]...), d.Known|f
	}
	cut(FieldDims, "globalDim", v.dims, d.Rank, &d.Dims)
	cut(FieldStrides, "globalStrides", strides, d.Rank-1, &d.Strides)
	cut(FieldBox, "boxDim", v.box, d.Rank, &d.Box)
	cut(FieldElementStrides, "elementStrides", v.steps, d.Rank, &d.ElementStrides)
	return d
}

package hlo

// builder holds one module while it is read: the two readers (proto and text) append
// what they find, with the ids that the file uses, and link and check do the rest.
// Everything in it is reused by the next read.
//
// A reader fills, in this order of appending:
//
//   - wire: bytes that spans point into. The proto reader's is the file itself. The
//     text reader encodes what it parsed into the same messages (ShapeProto,
//     OpMetadata, LiteralProto), so that shapes and metadata have one decoder;
//   - m.Name, entryID;
//   - m.Computations and comps, in parallel; m.Instructions and insts, in parallel,
//     each computation's instructions in one run [First, End);
//   - customs, pairs: custom calls and their declared pairs;
//   - m.Values and values, in parallel; m.Allocations and allocs, in parallel; assigned;
//   - m.Donated and donatedIndex, in parallel; m.Frames.
//
// Lists of ids and shape indices are spans into ids. Ids may be any numbers that are
// unique among the computations, the instructions, the values: the file's own in the
// proto; the text reader counts.
type builder struct {
	m Module

	wire    []byte
	entryID int64

	comps    []rawComputation
	insts    []rawInstruction
	customs  []CustomCall
	pairs    []DeclaredPair
	rawPairs []rawPair // parallel to pairs
	values   []rawValue
	allocs   []rawAllocation
	assigned []rawAssigned
	donated  []span // parallel to m.Donated: the shape index, in ids

	ids  []int64 // what spans of ids and of shape indices point into
	refs []int32 // ids turned into indices, at the same places; made by link

	// place renders where a thing was found for an error, from the number that the
	// reader put into the raw structs' at: "x.hlo.pb: HloProto... at byte 8123".
	place func(at int32) string
}

// span is a half-open interval [start, end) of one of the builder's arenas.
type span struct{ start, end int32 }

func (s span) len() int32 { return s.end - s.start }

// rawComputation is what a Computation needs for linking.
type rawComputation struct {
	rootID      int64
	schedule    span // of ids
	hasSchedule bool
	at          int32 // for place
}

// rawInstruction is what an Instruction needs for linking.
type rawInstruction struct {
	operands span  // of ids: instruction ids
	control  span  // of ids: instruction ids
	called   span  // of ids: computation ids
	custom   int32 // index into customs, -1: none
	at       int32
}

// rawPair has the shape indices of a DeclaredPair, as spans of ids.
type rawPair struct {
	call         int32 // index into customs; a call's pairs stand together
	result       span
	operandIndex span
}

// rawValue is what a Value needs for linking.
type rawValue struct {
	instruction int64 // id of the defining instruction
	index       span  // of ids: shape index
	at          int32
}

// rawAllocation is what an Allocation needs for linking.
type rawAllocation struct {
	parameterIndex span // of ids
	at             int32
}

// rawAssigned lays a value out in an allocation.
type rawAssigned struct {
	value      int64 // Value.ID
	allocation int32 // index into m.Allocations
	offset     int64 // bytes
	size       int64 // bytes
	at         int32
}

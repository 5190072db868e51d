package hlo

import (
	"fmt"
	"hash/maphash"
	"unsafe"
)

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
//   - schedules: one for each computation that has one;
//   - customs, and pairs with rawPairs in parallel: custom calls and their declared pairs;
//   - m.Values and values, in parallel; m.Allocations and allocs, in parallel; assigned;
//   - m.Donated and donated, in parallel; m.Frames.
//
// Lists of ids and shape indices are spans into ids. Ids may be any numbers that are
// unique among the computations, the instructions, the values: the file's own in the
// proto; the text reader counts.
type builder struct {
	m      Module
	limits Limits

	wire    []byte
	entryID int64
	// entryName is the entry computation's, empty where the file does not say.
	entryName string

	comps     []rawComputation
	insts     []rawInstruction
	schedules []rawSchedule
	customs   []CustomCall
	pairs     []DeclaredPair
	rawPairs  []rawPair // parallel to pairs
	values    []rawValue
	allocs    []rawAllocation
	assigned  []rawAssigned
	donated   []rawDonated // parallel to m.Donated

	left       int64 // bytes that the model may still take
	everything bool  // decode all computations
	fromText   bool  // wire was made of text

	// Scratch of link and check.
	compIDs, instIDs, valueIDs idTable
	counts, callers, order     []int32
	params                     []int32 // the computations' Parameters
	laidOut                    []int32 // the allocations' lists of values
	sorted                     []Value
	keys                       []int64 // of one allocation: sortByOffset
	running                    []bool  // by computation: findRunning
	shapes                     [256]knownShape
	seed                       maphash.Seed

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
	rootID int64
	body   span // of wire
	custom bool // a custom call stands in it
	// strange: an opcode stands in it that XLA does not have.
	strange bool
	needed  bool  // it is the entry, or something that runs calls it
	at      int32 // for place

	instructions int32 // how many it has
}

// rawSchedule is the order in which one computation's instructions run.
type rawSchedule struct {
	computation  int64 // id
	instructions span  // of ids
	at           int32
}

// rawInstruction is what an Instruction needs for linking.
type rawInstruction struct {
	operands span  // of ids: instruction ids
	control  span  // of ids: instruction ids
	called   span  // of ids: computation ids
	custom   int32 // index into customs, -1: none
	at       int32
	opcode   opcode
	takes    int8 // operands that its opcode has, anyNumber where they differ
	declares bool // it has declared pairs, be it a custom call or not

	layouts   int32 // operand_shapes_with_layout that a custom call has: one an operand, or none
	positions int32 // arrays and tuples in the shape; set by check
	arity     int32 // elements of a tuple shape, -1: no tuple; set by check
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

// rawDonated is what a ParameterLeaf of Donated needs for linking.
type rawDonated struct {
	index, output span // of ids: shape indices
	at            int32
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

// errorf is an error about the thing that a reader found at a place.
func (b *builder) errorf(at int32, format string, args ...any) error {
	return fmt.Errorf("%s: %s", b.place(at), fmt.Sprintf(format, args...))
}

// reset forgets the last module and keeps its memory.
func (b *builder) reset() {
	m := &b.m
	b.everything = false
	b.left = b.limits.ModelBytes
	*m = Module{
		Path:         m.Path,
		file:         m.file,
		Companions:   m.Companions,
		Computations: m.Computations[:0],
		Instructions: m.Instructions[:0],
		Values:       m.Values[:0],
		Allocations:  m.Allocations[:0],
		Donated:      m.Donated[:0],
		Frames:       m.Frames,
		leaves:       m.leaves[:0],
		numbers:      m.numbers[:0],
		leafLists:    m.leafLists[:0],
	}
	m.Frames.reset()
	b.entryID, b.entryName = 0, ""
	b.comps, b.insts, b.schedules = b.comps[:0], b.insts[:0], b.schedules[:0]
	b.customs, b.pairs, b.rawPairs = b.customs[:0], b.pairs[:0], b.rawPairs[:0]
	b.values, b.allocs, b.assigned = b.values[:0], b.allocs[:0], b.assigned[:0]
	b.donated, b.ids = b.donated[:0], b.ids[:0]
}

// text is part of wire as a string without a copy: the one place where strings come
// to lie in memory that the next read overwrites, as Module says.
func (b *builder) text(s span) string { return view(b.wire, s) }

// maxName bounds a name in bytes. XLA's are made of a few words; each is printed in every
// finding that speaks of it.
const maxName = 1 << 16

// name is the text of a field that names something.
func (b *builder) name(fs fields, f field) string {
	if f.end-f.start > maxName {
		fs.failed(f.start, "name is longer than 65536 bytes")
		return ""
	}
	return b.text(f.span())
}

// view is part of data as a string that shares its memory.
func view(data []byte, s span) string {
	if s.len() <= 0 {
		return ""
	}
	return unsafe.String(&data[s.start], int(s.len()))
}

// What one of each takes of memory in bytes, scratch of link and check included.
const (
	instructionBytes = 320
	valueBytes       = 320
	allocationBytes  = 160
	assignedBytes    = 72
	computationBytes = 240
	smallBytes       = 64 // whatever else is listed
	idBytes          = 12
	leafBytes        = 72 + 8*maxShapeDepth
)

// spend takes bytes of memory off what the model may take; without any left it ends the
// messages being read.
func (b *builder) spend(fs fields, bytes int64) {
	if b.left -= bytes; b.left < 0 {
		fs.failed(fs.start, "module takes more memory than the limit")
	}
}

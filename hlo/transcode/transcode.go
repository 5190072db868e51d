// Package transcode writes what XLA's text dumps of a module and of its buffer
// assignment stand for as the HloProto that a proto dump would have been.
//
// In: the two files' bytes, or three. Out: wire bytes, and for each place in them the
// file, line and column that it came from. Everything is bounded by Limits and by the
// size of the text.
//
// Formats: HloModule::ToString and BufferAssignment::ToString; xla/service/hlo.proto.
package transcode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
)

// Transcoder turns a text pair into the HloProto that it stands for, so that shapes,
// linking and checks have one way for both formats. It writes what the proto reader
// reads and no more: no literals, no shardings.
//
// Where the text leaves a get-tuple-element out (%x#1), one is put before its first
// user. Its memory is reused by the next pair.
type Transcoder struct {
	// Element gives the number of an element type by its name in HLO text
	// (xla_data.proto, PrimitiveType).
	Element func(name []byte) (number int32, ok bool)

	scan scanner // over the module, then over the assignment
	path string  // of what scan is over

	out wireWriter // the HloProto, up to the last finished computation
	cur wireWriter // the computation that is being read
	// attrs are the attributes of the instruction that is being read, and open the mark
	// of a wrapped one.
	attrs wireWriter
	open  int

	comps     []computation
	compNames map[string]int32 // into comps
	entry     int32            // into comps, -1: none
	scheduled bool
	insts     []instruction
	instNames map[string]int32 // into insts
	wrapped   []wrappedCall
	donated   map[string]bool // leaves that entries of input_output_alias name: leafKey

	total    int64   // bytes of the allocations
	valueIDs []int64 // of the values in them
	listed   bool    // the list of the used values was there too

	// Scratch: the current computation's shapes and the tuples being read, the lists of
	// the instruction that is being read and any other, an unescaped string.
	nodes, stack            []shapeNode
	operandIDs, called, ids []int64
	text                    []byte

	places []sourcePlace
	later  []sourcePlace // of the allocation that is being read, in cur
	limits Limits
	errs   []error
}

// Limits are the most of each that a pair may have.
type Limits struct {
	Bytes        int64 // of the HloProto
	Instructions int
	Computations int
}

// sourcePlace says that the wire from offset wire on stands at offset text of a file.
type sourcePlace struct {
	wire, text int32
	assignment bool // of the pair's second file
}

// computation is a computation that was named: its id is its number and one.
type computation struct {
	name       string
	first, end int32 // its instructions, in insts
	fusion     bool  // a fusion calls it
	flagAt     int   // offset of the flag's byte in out, 0: not written yet
	written    bool  // begun, at least
}

// instruction is an instruction whose id is its number and one.
type instruction struct {
	computation int32
	node        int32 // its shape's, into nodes, while its computation is the current one
}

// Pair is the files of one module.
type Pair struct {
	Path, AssignmentPath     string
	ValuesPath               string // empty: there is no such file
	Text, Assignment, Values []byte
}

const (
	MaxErrors = 10
	// maxGrowth bounds the wire to this many times the text, and a little more: real
	// modules need less than one, but %x#0 stands for a shape of any size.
	maxGrowth = 8
	// maxWrapped bounds the asynchronous instructions whose name is looked for. XLA on
	// a GPU makes tens.
	maxWrapped = 4096
)

// Transcode writes the HloProto of a pair. The bytes are valid until the next call.
// The error joins up to ten, each with file, line and column.
func (t *Transcoder) Transcode(p Pair, limits Limits) ([]byte, error) {
	t.reset()
	size := len(p.Text) + len(p.Assignment)
	t.limits = limits
	t.limits.Bytes = min(limits.Bytes, int64(size)*maxGrowth+1<<16)
	t.path, t.scan = p.Path, scanner{text: p.Text}
	module := t.out.begin(1)
	t.module()
	t.out.end(module)
	if t.fail() {
		return nil, errors.Join(t.errs...)
	}
	t.path, t.scan = p.AssignmentPath, scanner{text: p.Assignment}
	assignment := t.out.begin(3)
	t.assignment()
	t.out.end(assignment)
	if !t.fail() && p.ValuesPath != "" {
		t.path, t.scan = p.ValuesPath, scanner{text: p.Values}
		t.listed = true
		t.usedValues()
		t.fail()
	}
	return t.out.buf, errors.Join(t.errs...)
}

// reset forgets the last pair.
func (t *Transcoder) reset() {
	if t.compNames == nil {
		t.compNames, t.instNames = map[string]int32{}, map[string]int32{}
		t.donated = map[string]bool{}
	}
	clear(t.donated)
	clear(t.compNames)
	clear(t.instNames)
	t.out.buf, t.cur.buf = t.out.buf[:0], t.cur.buf[:0]
	t.comps, t.insts, t.nodes = t.comps[:0], t.insts[:0], t.nodes[:0]
	t.wrapped = t.wrapped[:0]
	t.places, t.errs = t.places[:0], nil
	t.entry, t.scheduled = -1, false
	t.total, t.valueIDs, t.listed = 0, t.valueIDs[:0], false
}

// fail moves the scanner's problem to the errors; it reports whether there are any.
func (t *Transcoder) fail() bool {
	s := &t.scan
	if s.problem != "" {
		t.errs = append(t.errs, fmt.Errorf("%s: %s", Position(t.path, s.text, s.at), s.problem))
	}
	return len(t.errs) > 0
}

// recovered takes the scanner's problem, if there is one, and makes the scanner go on
// with the next line. It reports false when there have been too many.
func (t *Transcoder) recovered() bool {
	if t.scan.problem == "" {
		return true
	}
	if len(t.errs) >= MaxErrors-1 {
		return false
	}
	t.fail()
	t.scan.resume()
	return true
}

// bound fails where there is too much of something.
func (t *Transcoder) bound() {
	switch {
	case int64(len(t.out.buf)+len(t.cur.buf)) > t.limits.Bytes:
		t.scan.failed(t.scan.pos, "more than %d bytes of shapes and numbers", t.limits.Bytes)
	case len(t.insts) > t.limits.Instructions || len(t.comps) > t.limits.Computations || len(t.wrapped) > maxWrapped:
		t.scan.failed(t.scan.pos, "module takes more memory than the limit")
	}
}

// computation returns the number of a computation, which may have yet to come.
func (t *Transcoder) computation(name []byte) int32 {
	n, ok := t.compNames[string(name)]
	if !ok {
		n = int32(len(t.comps))
		t.comps = append(t.comps, computation{name: string(name)})
		t.compNames[t.comps[n].name] = n
		t.bound()
	}
	return n
}

// placed records that the wire of w from here on stands where the scanner is.
func (t *Transcoder) placed(w *wireWriter, at int, assignment bool) {
	t.places = append(t.places, sourcePlace{int32(len(w.buf)), int32(at), assignment})
}

// Place renders where in the pair the thing at a place of the wire stands.
func (t *Transcoder) Place(p Pair, at int32) string {
	n := sort.Search(len(t.places), func(i int) bool { return t.places[i].wire > at })
	if n == 0 {
		return p.Path
	}
	found := t.places[n-1]
	if found.assignment {
		return Position(p.AssignmentPath, p.Assignment, int(found.text))
	}
	return Position(p.Path, p.Text, int(found.text))
}

// Position is file:line:column of an offset; columns count bytes.
func Position(path string, text []byte, at int) string {
	before := text[:min(at, len(text))]
	line, start := 1, 0
	for i, c := range before {
		if c == '\n' {
			line, start = line+1, i+1
		}
	}
	return fmt.Sprintf("%s:%d:%d", path, line, len(before)-start+1)
}

// leafKey stands for a parameter's leaf.
func leafKey(parameter int64, index []int64) string {
	key := binary.AppendVarint(nil, parameter)
	for _, n := range index {
		key = binary.AppendVarint(key, n)
	}
	return string(key)
}

// Listed reports whether the last pair had the list of its used values.
func (t *Transcoder) Listed() bool { return t.listed }

// Names, numbers and bounds that the text has in common with the proto.
const (
	customCall = "custom-call"
	asyncStart = "async-start"

	wireVarint = 0
	wireBytes  = 2

	tupleType  = 13
	bufferType = 34 // wraps an array shape: a mutable buffer of newer XLA

	// MaxShapeDepth bounds how deep tuples nest.
	MaxShapeDepth = 32
	// DumpHint says how to get what is missing.
	DumpHint = `Dump it with XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_proto --xla_dump_hlo_as_text"`
)

// span is a half-open interval of bytes.
type span struct{ start, end int32 }

package hlo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
)

// transcoder turns a text pair into the HloProto that it stands for, so that shapes,
// linking and checks have one way for both formats. It writes what the proto reader
// reads and no more: no literals, no shardings.
//
// Where the text leaves a get-tuple-element out (%x#1), one is put before its first
// user. Its memory is reused by the next pair.
type transcoder struct {
	scan scanner // over the module, then over the assignment
	path string  // of what scan is over

	out wireWriter // the HloProto, up to the last finished computation
	cur wireWriter // the computation that is being read
	// attrs are the attributes of the instruction that is being read, and open the mark
	// of a wrapped one.
	attrs wireWriter
	open  int

	comps     []textComputation
	compNames map[string]int32 // into comps
	entry     int32            // into comps, -1: none
	scheduled bool
	insts     []textInstruction
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

	places []textPlace
	later  []textPlace // of the allocation that is being read, in cur
	limits textLimits
	errs   []error
}

// textLimits are the most of each that a pair may have.
type textLimits struct {
	wire         int // bytes
	insts, comps int
}

// textPlace says that the wire from offset wire on stands at offset text of a file.
type textPlace struct {
	wire, text int32
	assignment bool // of the pair's second file
}

// textComputation is a computation that was named: its id is its number and one.
type textComputation struct {
	name       string
	first, end int32 // its instructions, in insts
	fusion     bool  // a fusion calls it
	flagAt     int   // offset of the flag's byte in out, 0: not written yet
	written    bool  // begun, at least
}

// textInstruction is an instruction whose id is its number and one.
type textInstruction struct {
	computation int32
	node        int32 // its shape's, into nodes, while its computation is the current one
}

// textPair is the files of one module.
type textPair struct {
	path, assignmentPath     string
	valuesPath               string // empty: there is no such file
	text, assignment, values []byte
}

const (
	maxTextErrors = 10
	// textGrowth bounds the wire to this many times the text, and a little more: real
	// modules need less than one, but %x#0 stands for a shape of any size.
	textGrowth = 8
	// maxWrapped bounds the asynchronous instructions whose name is looked for. XLA on
	// a GPU makes tens.
	maxWrapped = 4096
)

// transcode writes the HloProto of a pair. The bytes are valid until the next call.
// The error joins up to ten, each with file, line and column.
func (t *transcoder) transcode(p textPair, limits Limits) ([]byte, error) {
	t.reset()
	size := len(p.text) + len(p.assignment)
	t.limits = textLimits{
		wire:  int(min(limits.FileBytes, int64(size)*textGrowth+1<<16)),
		insts: int(limits.ModelBytes / instructionBytes),
		comps: int(limits.ModelBytes / computationBytes),
	}
	t.path, t.scan = p.path, scanner{text: p.text}
	module := t.out.begin(1)
	t.module()
	t.out.end(module)
	if t.fail() {
		return nil, errors.Join(t.errs...)
	}
	t.path, t.scan = p.assignmentPath, scanner{text: p.assignment}
	assignment := t.out.begin(3)
	t.assignment()
	t.out.end(assignment)
	if !t.fail() && p.valuesPath != "" {
		t.path, t.scan = p.valuesPath, scanner{text: p.values}
		t.listed = true
		t.usedValues()
		t.fail()
	}
	return t.out.buf, errors.Join(t.errs...)
}

// reset forgets the last pair.
func (t *transcoder) reset() {
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
func (t *transcoder) fail() bool {
	s := &t.scan
	if s.problem != "" {
		t.errs = append(t.errs, fmt.Errorf("%s: %s", position(t.path, s.text, s.at), s.problem))
	}
	return len(t.errs) > 0
}

// recovered takes the scanner's problem, if there is one, and makes the scanner go on
// with the next line. It reports false when there have been too many.
func (t *transcoder) recovered() bool {
	if t.scan.problem == "" {
		return true
	}
	if len(t.errs) >= maxTextErrors-1 {
		return false
	}
	t.fail()
	t.scan.resume()
	return true
}

// bound fails where there is too much of something.
func (t *transcoder) bound() {
	switch {
	case len(t.out.buf)+len(t.cur.buf) > t.limits.wire:
		t.scan.failed(t.scan.pos, "more than %d bytes of shapes and numbers", t.limits.wire)
	case len(t.insts) > t.limits.insts || len(t.comps) > t.limits.comps || len(t.wrapped) > maxWrapped:
		t.scan.failed(t.scan.pos, "module takes more memory than the limit")
	}
}

// computation returns the number of a computation, which may have yet to come.
func (t *transcoder) computation(name []byte) int32 {
	n, ok := t.compNames[string(name)]
	if !ok {
		n = int32(len(t.comps))
		t.comps = append(t.comps, textComputation{name: string(name)})
		t.compNames[t.comps[n].name] = n
		t.bound()
	}
	return n
}

// place records that the wire of w from here on stands where the scanner is.
func (t *transcoder) placed(w *wireWriter, at int, assignment bool) {
	t.places = append(t.places, textPlace{int32(len(w.buf)), int32(at), assignment})
}

// place renders where in the pair the thing at a place of the wire stands.
func (t *transcoder) place(p textPair, at int32) string {
	n := sort.Search(len(t.places), func(i int) bool { return t.places[i].wire > at })
	if n == 0 {
		return p.path
	}
	found := t.places[n-1]
	if found.assignment {
		return position(p.assignmentPath, p.assignment, int(found.text))
	}
	return position(p.path, p.text, int(found.text))
}

// position is file:line:column of an offset; columns count bytes.
func position(path string, text []byte, at int) string {
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
func leafKey(parameter int64, index ShapeIndex) string {
	key := binary.AppendVarint(nil, parameter)
	for _, n := range index {
		key = binary.AppendVarint(key, n)
	}
	return string(key)
}

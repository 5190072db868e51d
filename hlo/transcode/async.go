package transcode

import (
	"bytes"
	"slices"
)

// Older XLA, and newer with --xla_syntax_sugar_async_ops, prints an instruction that
// runs asynchronously in place of the computation that wraps it:
//
//	%s = ((f32[8]{0}), f32[8]{0}, s32[]) custom-call-start(%a), custom_call_target="f"
//	%d = f32[8]{0} custom-call-done(%s)
//
// The reader puts the computation back. Its root has another name in the buffer
// assignment, one that the module's text lacks: see bindWrapped.

// wrappedCall is the root of a computation that was put back.
type wrappedCall struct {
	root  int32  // into insts
	shape []byte // its shape, as the proto has it
	name  string // in the buffer assignment, empty: not known
}

// asyncPhase splits an opcode such as custom-call-start into what is wrapped and the
// opcode of the instruction. Other opcodes come back as they are, with nothing wrapped.
func asyncPhase(opcode []byte) (wrapped, own []byte) {
	for _, phase := range [...]string{"-start", "-update", "-done"} {
		base, ok := bytes.CutSuffix(opcode, []byte(phase))
		if !ok {
			continue
		}
		switch string(base) {
		case "async", "all-gather", "all-reduce", "collective-permute", "copy", "send", "recv":
			return nil, opcode
		}
		return base, []byte("async" + phase)
	}
	return nil, opcode
}

// wrap writes the computation that async-start n runs: parameters like the operands,
// and the instruction itself, with the attributes of the start. It returns the id.
func (t *Transcoder) wrap(n int32, name, opcode []byte, operands, called []int64) int64 {
	shape := t.nodes[t.insts[n].node]
	if !shape.tuple || shape.count < 2 {
		t.scan.failed(t.scan.pos, "shape of an async-start is no tuple of operands and results")
		return 0
	}
	comp := t.computation(append([]byte("wrapped "), name...))
	w := &t.out
	mark := w.begin(3)
	t.comps[comp].written = true
	t.comps[comp].first = int32(len(t.insts))
	w.string(1, t.comps[comp].name)
	w.int64(5, int64(comp)+1)
	var parameters []int64
	for k, operand := range operands {
		node := t.nodes[max(t.insts[operand-1].node, 0)] // below 0: its line is in error
		id := t.wrappedInstruction(comp, name, []byte("parameter"), node.wire.of(t.cur.buf))
		w.int64(9, int64(k))
		w.end(t.open)
		parameters = append(parameters, id)
	}
	result := t.nodes[shape.first+1]
	root := t.wrappedInstruction(comp, name, opcode, result.wire.of(t.cur.buf))
	w.ints(36, parameters)
	w.ints(38, called)
	w.buf = append(w.buf, t.attrs.buf...)
	w.end(t.open)
	w.int64(6, root)
	w.end(mark)
	t.comps[comp].end = int32(len(t.insts))
	t.wrapped = append(t.wrapped, wrappedCall{root: int32(root - 1), shape: slices.Clone(result.wire.of(t.cur.buf))})
	return int64(comp) + 1
}

// wrappedInstruction begins an instruction of a computation that is put back, and
// leaves its mark in open. It bears the start's name, which is the one in the text.
func (t *Transcoder) wrappedInstruction(comp int32, name, opcode, shape []byte) (id int64) {
	w := &t.out
	t.insts = append(t.insts, instruction{computation: comp, node: -1})
	id = int64(len(t.insts))
	t.open = w.begin(2)
	w.bytes(1, name)
	w.bytes(2, opcode)
	w.bytes(3, shape)
	w.int64(35, id)
	t.bound()
	return id
}

// bindWrapped finds which names in the buffer assignment are those of wrapped
// instructions: names that the module lacks, by the shape of the value. Where two of
// one shape leave a choice, nothing is guessed.
func (t *Transcoder) bindWrapped() {
	if len(t.wrapped) == 0 {
		return
	}
	s := &t.scan
	start := s.pos
	for s.problem == "" {
		n := bytes.Index(s.text[s.pos:], []byte(" value: <"))
		if n < 0 {
			break
		}
		s.pos += n + len(" value: <")
		t.bindValue()
	}
	if s.problem == "" {
		s.pos = start
	}
}

// bindValue looks at one value of the assignment.
func (t *Transcoder) bindValue() {
	s := &t.scan
	v := t.valueHead()
	if s.problem != "" || len(t.ids) > 0 {
		return
	}
	if _, ok := t.instNames[string(v.name)]; ok {
		return
	}
	t.cur.buf, t.nodes = t.cur.buf[:0], t.nodes[:0]
	node := t.nodes[t.shape(1)]
	shape := node.wire.of(t.cur.buf)
	var found []int
	for i := range t.wrapped {
		if t.wrapped[i].name == "" && bytes.Equal(t.wrapped[i].shape, shape) {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
		s.failed(v.at, "the module has no instruction %q", v.name)
	case 1:
		t.wrapped[found[0]].name = string(v.name)
		t.instNames[string(v.name)] = t.wrapped[found[0]].root
	default:
		s.failed(v.at, "%q is one of %d asynchronous instructions of one shape, and the text does not say which. %s",
			v.name, len(found), DumpHint)
	}
}

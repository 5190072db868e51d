package hlo

import (
	"fmt"
	"slices"
)

// decodeProto appends what HloProto in b.wire holds to the builder. Ids stay ids, and
// nothing is checked but the encoding.
func (b *builder) decodeProto() error {
	b.m.in = input{data: b.wire}
	fs := fields{&b.m.in, 0, len(b.wire)}
	var module, assignment fields
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 1<<3 | wireBytes:
			fs.once(&module, f)
		case 3<<3 | wireBytes:
			fs.once(&assignment, f)
		}
	}
	fail := &b.m.in.fail
	switch {
	case fail.what != "":
	case module.in == nil:
		return fmt.Errorf("%s: %w", b.m.Path, errNoModule)
	case assignment.in == nil:
		return fmt.Errorf("%s: %w", b.m.Path, errNoAssignment)
	default:
		b.decodeModule(module)
		b.decodeAssignment(assignment)
	}
	if fail.what != "" {
		return b.errorf(int32(fail.at), "%s", fail.what)
	}
	return nil
}

// once reads a message field that may stand but once.
func (fs fields) once(m *fields, f field) {
	if m.in != nil {
		fs.failed(f.start, "field stands twice")
		return
	}
	*m = fs.message(f)
}

// decodeModule reads HloModuleProto: of every computation the outline, and then of
// those that can matter the instructions.
func (b *builder) decodeModule(fs fields) {
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 1<<3 | wireBytes: // name
			b.m.Name = b.name(fs, f)
		case 3<<3 | wireBytes: // computations
			b.outline(fs.message(f))
		case 2<<3 | wireBytes: // entry_computation_name
			b.entryName = b.name(fs, f)
		case 6<<3 | wireVarint: // entry_computation_id
			b.entryID = int64(f.number)
		case 7<<3 | wireBytes: // schedule
			b.decodeSchedules(fs.message(f))
		case 8<<3 | wireBytes: // input_output_alias: output 1, parameter number 2, its index 3
			b.decodeDonated(fs.message(f), 2, 3, 1)
		case 17<<3 | wireBytes: // stack_frame_index
			b.decodeFrames(fs.message(f))
		case 18<<3 | wireBytes: // buffer_donor: parameter number 1, its index 2
			b.decodeDonated(fs.message(f), 1, 2, 0)
		}
	}
	b.decodeComputations(fs)
}

// outline reads HloComputationProto but for its instructions, in which it only looks
// for custom calls.
func (b *builder) outline(fs fields) {
	b.spend(fs, computationBytes)
	raw := rawComputation{at: int32(fs.start), body: span{int32(fs.start), int32(fs.end)}}
	comp := Computation{Root: -1}
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 2<<3 | wireBytes: // instructions
			custom, known := opcodeIn(fs.message(f))
			raw.custom, raw.strange = raw.custom || custom, raw.strange || !known
			raw.instructions++
		case 1<<3 | wireBytes: // name
			comp.Name = b.name(fs, f)
		case 5<<3 | wireVarint: // id
			comp.ID = int64(f.number)
		case 6<<3 | wireVarint: // root_id
			raw.rootID = int64(f.number)
		case 7<<3 | wireVarint: // is_fusion_computation
			comp.Fusion = f.number != 0
		}
	}
	b.m.Computations = append(b.m.Computations, comp)
	b.comps = append(b.comps, raw)
}

// opcodeIn reports whether an HloInstructionProto is a custom call, and whether its
// opcode is one of XLA's. Name and opcode are the first fields of what XLA writes, each of
// less than 128 bytes, so that this touches one line of memory; else it goes the long way.
func opcodeIn(fs fields) (custom, known bool) {
	d := fs.in.data[fs.start:fs.end]
	if len(d) < 2 || d[0] != 1<<3|wireBytes || d[1] >= 0x80 || len(d) < int(d[1])+4 {
		return fs.opcodeIn()
	}
	opcode := d[2+d[1]:]
	if opcode[0] != 2<<3|wireBytes || opcode[1] >= 0x80 || len(opcode) < 2+int(opcode[1]) {
		return fs.opcodeIn()
	}
	return tellOpcode(view(opcode, span{2, 2 + int32(opcode[1])}))
}

// opcodeIn looks for an instruction's opcode wherever it stands.
func (fs fields) opcodeIn() (custom, known bool) {
	name := ""
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 2<<3 | wireBytes:
			name = view(fs.in.data, f.span()) // the last one counts
		}
	}
	return tellOpcode(name)
}

// tellOpcode is opcodeIn of a name.
func tellOpcode(name string) (custom, known bool) {
	op, _ := opcodeOf(name)
	return op == opCustomCall, op != opUnknown
}

// decodeComputations decodes the computations that can matter: the entry, what is
// called from them but by fusions, and whatever has a custom call in it. Callers stand
// behind what they call, so that the last is decoded first.
func (b *builder) decodeComputations(fs fields) {
	b.compIDs.reset(len(b.comps))
	for i := range b.comps {
		b.compIDs.add(b.m.Computations[i].ID, int32(i))
	}
	b.need(b.entryID)
	for i := len(b.comps) - 1; i >= 0 && fs.in.fail.what == ""; i-- {
		comp := &b.m.Computations[i]
		comp.First = int32(len(b.m.Instructions))
		if raw := &b.comps[i]; raw.needed || raw.custom || raw.strange || b.everything {
			comp.Decoded = true
			room := int(min(int64(raw.instructions), b.left/instructionBytes))
			b.m.Instructions, b.insts = slices.Grow(b.m.Instructions, room), slices.Grow(b.insts, room)
			b.decodeComputation(int32(i), fields{fs.in, int(raw.body.start), int(raw.body.end)})
		}
		comp.End = int32(len(b.m.Instructions))
	}
}

// need marks a computation as one to decode, if there is one of this id.
func (b *builder) need(id int64) {
	if i := b.compIDs.index(id); i >= 0 {
		b.comps[i].needed = true
	}
}

// decodeComputation decodes the instructions of the i-th computation, and marks what
// they call.
func (b *builder) decodeComputation(i int32, fs fields) {
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 2<<3 | wireBytes:
			b.decodeInstruction(i, fs.message(f))
			n := len(b.insts) - 1
			called := b.insts[n].called
			if called.len() == 0 || b.insts[n].opcode == opFusion {
				continue
			}
			for _, id := range b.ids[called.start:called.end] {
				b.need(id)
			}
		}
	}
}

// decodeInstruction reads HloInstructionProto. Shape, literal and metadata stay as
// they are until somebody asks.
func (b *builder) decodeInstruction(comp int32, fs fields) {
	b.spend(fs, instructionBytes)
	in, raw := extend(&b.m.Instructions), extend(&b.insts)
	in.Computation, in.Position = comp, -1
	raw.custom, raw.at = -1, int32(fs.start)
	pairs := len(b.pairs)
	var call rawCustom
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 1<<3 | wireBytes:
			in.Name = b.name(fs, f)
		case 2<<3 | wireBytes:
			in.Opcode = b.name(fs, f)
			raw.opcode, raw.takes = opcodeOf(in.Opcode)
		case 3<<3 | wireBytes:
			in.shape = f.span()
		case 7<<3 | wireBytes:
			in.metadata = f.span()
		case 8<<3 | wireBytes:
			in.literal = f.span()
		case 9<<3 | wireVarint: // parameter_number
			in.Parameter = fs.int32(f)
		case 13<<3 | wireVarint: // tuple_index
			in.TupleIndex = fs.int32(f)
		case 35<<3 | wireVarint:
			in.ID = int64(f.number)
		case 36<<3 | wireBytes, 36<<3 | wireVarint: // operand_ids
			b.more(fs, &raw.operands, f)
		case 37<<3 | wireBytes, 37<<3 | wireVarint: // control_predecessor_ids
			b.more(fs, &raw.control, f)
		case 38<<3 | wireBytes, 38<<3 | wireVarint: // called_computation_ids
			b.more(fs, &raw.called, f)
		case 57<<3 | wireBytes: // operand_shapes_with_layout
			raw.layouts++
		case 28<<3 | wireBytes: // custom_call_target
			call.target = f.span()
		case 43<<3 | wireBytes: // backend_config
			call.config = f.span()
		case 65<<3 | wireVarint: // custom_call_has_side_effect
			call.sideEffect = f.number != 0
		case 74<<3 | wireBytes: // output_operand_aliasing
			b.decodePair(fs.message(f))
		case 77<<3 | wireVarint: // custom_call_api_version
			call.version = fs.int32(f)
		}
	}
	raw.declares = len(b.pairs) > pairs
	if raw.opcode == opCustomCall || raw.opcode == opAsyncStart {
		b.addCustom(raw, call)
	} else {
		b.dropPairs(pairs) // a fusion declares too, but is no custom call
	}
}

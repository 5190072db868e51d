package hlo

// rawCustom is what an instruction has of a custom call, be it one or not: fusions
// and dots have a backend_config as well.
type rawCustom struct {
	target, config span
	sideEffect     bool
	version        int32
}

// addCustom makes raw's instruction a custom call, with the pairs decoded since.
func (b *builder) addCustom(raw *rawInstruction, call rawCustom) {
	raw.custom = int32(len(b.customs))
	b.customs = append(b.customs, CustomCall{
		Target:        b.text(call.target),
		Config:        b.wire[call.config.start:call.config.end:call.config.end],
		APIVersion:    call.version,
		HasSideEffect: call.sideEffect,
	})
}

// dropPairs forgets the declared pairs from the n-th on.
func (b *builder) dropPairs(n int) {
	b.pairs = b.pairs[:n]
	b.rawPairs = b.rawPairs[:n]
}

// decodePair reads OutputOperandAliasing of the instruction that is being decoded.
func (b *builder) decodePair(fs fields) {
	b.spend(fs, smallBytes)
	raw := rawPair{call: int32(len(b.customs))}
	var pair DeclaredPair
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 1<<3 | wireBytes, 1<<3 | wireVarint: // output_shape_index
			b.more(fs, &raw.result, f)
		case 2<<3 | wireVarint: // operand_index
			pair.Operand = int64(f.number)
		case 3<<3 | wireBytes, 3<<3 | wireVarint: // operand_shape_index
			b.more(fs, &raw.operandIndex, f)
		}
	}
	b.pairs = append(b.pairs, pair)
	b.rawPairs = append(b.rawPairs, raw)
}

// decodeSchedules reads HloScheduleProto: a map from computation id to instruction ids.
func (b *builder) decodeSchedules(fs fields) {
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		if f.tag != 1<<3|wireBytes {
			continue
		}
		entry := fs.message(f)
		raw := rawSchedule{at: int32(entry.start)}
		b.spend(entry, smallBytes)
		for f := entry.first(); f.tag != 0; f = entry.after(f) {
			switch f.tag {
			case 1<<3 | wireVarint:
				raw.computation = int64(f.number)
			case 2<<3 | wireBytes:
				sequence := entry.message(f)
				for f := sequence.first(); f.tag != 0; f = sequence.after(f) {
					switch f.tag {
					case 1<<3 | wireBytes, 1<<3 | wireVarint:
						b.more(sequence, &raw.instructions, f)
					}
				}
			}
		}
		b.schedules = append(b.schedules, raw)
	}
}

// decodeDonated reads HloInputOutputAliasProto or HloBufferDonorProto: entries 1 with
// a parameter number and a shape index in the given fields, and of an alias the index of
// the output in field output; donors have none: 0.
func (b *builder) decodeDonated(fs fields, number, index, output uint64) {
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		if f.tag != 1<<3|wireBytes {
			continue
		}
		entry := fs.message(f)
		raw := rawDonated{at: int32(entry.start)}
		b.spend(entry, smallBytes)
		leaf := ParameterLeaf{Aliased: output != 0}
		for f := entry.first(); f.tag != 0; f = entry.after(f) {
			switch f.tag {
			case number<<3 | wireVarint:
				leaf.Parameter = int64(f.number)
			case index<<3 | wireBytes, index<<3 | wireVarint:
				b.more(entry, &raw.index, f)
			case output<<3 | wireBytes, output<<3 | wireVarint:
				if output != 0 {
					b.more(entry, &raw.output, f)
				}
			}
		}
		b.m.Donated = append(b.m.Donated, leaf)
		b.donated = append(b.donated, raw)
	}
}

// more appends a repeated int64 to ids and to its span. A field that is not packed
// comes in many parts, which must follow one another: joining scattered ones would
// cost the square of their number.
func (b *builder) more(fs fields, s *span, f field) {
	if s.len() == 0 {
		*s = span{int32(len(b.ids)), int32(len(b.ids))}
	} else if s.end != int32(len(b.ids)) {
		fs.failed(f.start, "parts of a repeated field do not stand together")
		return
	}
	most := 1
	if f.tag&7 == wireBytes {
		most = f.end - f.start // a number of the list takes a byte or more
	}
	b.spend(fs, int64(most)*idBytes)
	b.ids = fs.ints(b.ids, f)
	s.end = int32(len(b.ids))
}

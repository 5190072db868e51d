package hlo

// decodeAssignment reads BufferAssignmentProto. buffer_aliases and the heap
// simulator's traces say nothing that forwarding does not, and are skipped.
func (b *builder) decodeAssignment(fs fields) {
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 1<<3 | wireBytes: // logical_buffers
			b.decodeValue(fs.message(f))
		case 3<<3 | wireBytes: // buffer_allocations
			b.decodeAllocation(fs.message(f))
		}
	}
}

// decodeValue reads LogicalBufferProto.
func (b *builder) decodeValue(fs fields) {
	b.spend(fs, valueBytes)
	value, raw := extend(&b.m.Values), extend(&b.values)
	value.Allocation, raw.at = -1, int32(fs.start)
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 1<<3 | wireVarint:
			value.ID = int64(f.number)
		case 2<<3 | wireVarint:
			value.Size = int64(f.number)
		case 3<<3 | wireBytes: // defined_at
			location := fs.message(f)
			for f := location.first(); f.tag != 0; f = location.after(f) {
				switch f.tag {
				case 3<<3 | wireBytes, 3<<3 | wireVarint: // shape_index
					b.more(location, &raw.index, f)
				case 4<<3 | wireVarint: // instruction_id
					raw.instruction = int64(f.number)
				}
			}
		case 4<<3 | wireVarint:
			value.Color = int64(f.number)
		}
	}
}

// decodeAllocation reads BufferAllocationProto.
func (b *builder) decodeAllocation(fs fields) {
	b.spend(fs, allocationBytes)
	number := int32(len(b.m.Allocations))
	a, raw := extend(&b.m.Allocations), extend(&b.allocs)
	raw.at = int32(fs.start)
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 9<<3 | wireBytes:
			b.decodeAssigned(fs.message(f), number)
		case 10<<3 | wireBytes, 10<<3 | wireVarint: // parameter_shape_index
			b.more(fs, &raw.parameterIndex, f)
		case 1<<3 | wireVarint:
			a.Index = int64(f.number)
		case 2<<3 | wireVarint:
			a.Size = int64(f.number)
		case 3<<3 | wireVarint:
			a.ThreadLocal = f.number != 0
		case 5<<3 | wireVarint:
			a.EntryParameter = f.number != 0
		case 6<<3 | wireVarint:
			a.Parameter = int64(f.number)
		case 7<<3 | wireVarint:
			a.MaybeLiveOut = f.number != 0
		case 8<<3 | wireVarint:
			a.Color = int64(f.number)
		case 11<<3 | wireVarint:
			a.Tuple = f.number != 0
		case 12<<3 | wireVarint:
			a.Constant = f.number != 0
		case 13<<3 | wireVarint:
			a.ParameterAliased = f.number != 0
		}
	}
}

// decodeAssigned reads BufferAllocationProto.Assigned of the allocation-th allocation.
func (b *builder) decodeAssigned(fs fields, allocation int32) {
	b.spend(fs, assignedBytes)
	a := extend(&b.assigned)
	a.allocation, a.at = allocation, int32(fs.start)
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 1<<3 | wireVarint:
			a.value = int64(f.number)
		case 2<<3 | wireVarint:
			a.offset = int64(f.number)
		case 3<<3 | wireVarint:
			a.size = int64(f.number)
		}
	}
}

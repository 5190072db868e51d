package hlo

// decodeAssignment reads BufferAssignmentProto. buffer_aliases and the heap
// simulator's traces say nothing that forwarding does not, and are skipped.
func (b *builder) decodeAssignment(c cursor) {
	for f := c.next(); f.tag != 0; f = c.next() {
		switch f.tag {
		case 1<<3 | wireBytes: // logical_buffers
			b.decodeValue(c.over(f.span))
		case 3<<3 | wireBytes: // buffer_allocations
			b.decodeAllocation(c.over(f.span))
		}
	}
}

// decodeValue reads LogicalBufferProto.
func (b *builder) decodeValue(c cursor) {
	b.spend(&c, valueBytes)
	raw := rawValue{at: int32(c.pos)}
	value := Value{Allocation: -1}
	for f := c.next(); f.tag != 0; f = c.next() {
		switch f.tag {
		case 1<<3 | wireVarint:
			value.ID = int64(f.number)
		case 2<<3 | wireVarint:
			value.Size = int64(f.number)
		case 3<<3 | wireBytes: // defined_at
			location := c.over(f.span)
			for f := location.next(); f.tag != 0; f = location.next() {
				switch f.tag {
				case 3<<3 | wireBytes, 3<<3 | wireVarint: // shape_index
					b.more(&location, &raw.index, f)
				case 4<<3 | wireVarint: // instruction_id
					raw.instruction = int64(f.number)
				}
			}
		case 4<<3 | wireVarint:
			value.Color = int64(f.number)
		}
	}
	b.m.Values, b.values = push(b.m.Values, value), push(b.values, raw)
}

// decodeAllocation reads BufferAllocationProto.
func (b *builder) decodeAllocation(c cursor) {
	b.spend(&c, allocationBytes)
	raw := rawAllocation{at: int32(c.pos)}
	number := int32(len(b.m.Allocations))
	var a Allocation
	for f := c.next(); f.tag != 0; f = c.next() {
		switch f.tag {
		case 9<<3 | wireBytes:
			b.decodeAssigned(c.over(f.span), number)
		case 10<<3 | wireBytes, 10<<3 | wireVarint: // parameter_shape_index
			b.more(&c, &raw.parameterIndex, f)
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
	b.m.Allocations, b.allocs = push(b.m.Allocations, a), push(b.allocs, raw)
}

// decodeAssigned reads BufferAllocationProto.Assigned of the allocation-th allocation.
func (b *builder) decodeAssigned(c cursor, allocation int32) {
	b.spend(&c, assignedBytes)
	a := rawAssigned{allocation: allocation, at: int32(c.pos)}
	for f := c.next(); f.tag != 0; f = c.next() {
		switch f.tag {
		case 1<<3 | wireVarint:
			a.value = int64(f.number)
		case 2<<3 | wireVarint:
			a.offset = int64(f.number)
		case 3<<3 | wireVarint:
			a.size = int64(f.number)
		}
	}
	b.assigned = push(b.assigned, a)
}

package hlo

// decodeAssignment reads BufferAssignmentProto. buffer_aliases and the heap
// simulator's traces say nothing that forwarding does not, and are skipped.
func (b *builder) decodeAssignment(c cursor) {
	for c.more() {
		switch tag := c.tag(); tag {
		case 1<<3 | wireBytes: // logical_buffers
			b.decodeValue(c.message())
		case 3<<3 | wireBytes: // buffer_allocations
			b.decodeAllocation(c.message())
		default:
			c.skip(tag)
		}
	}
}

// decodeValue reads LogicalBufferProto.
func (b *builder) decodeValue(c cursor) {
	b.spend(&c, valueBytes)
	raw := rawValue{at: int32(c.pos)}
	value := Value{Allocation: -1}
	for c.more() {
		switch tag := c.tag(); tag {
		case 1<<3 | wireVarint:
			value.ID = c.int64()
		case 2<<3 | wireVarint:
			value.Size = c.int64()
		case 3<<3 | wireBytes: // defined_at
			location := c.message()
			for location.more() {
				switch tag := location.tag(); tag {
				case 3<<3 | wireBytes, 3<<3 | wireVarint: // shape_index
					b.more(&location, &raw.index, tag)
				case 4<<3 | wireVarint: // instruction_id
					raw.instruction = location.int64()
				default:
					location.skip(tag)
				}
			}
		case 4<<3 | wireVarint:
			value.Color = c.int64()
		default:
			c.skip(tag)
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
	for c.more() {
		switch tag := c.tag(); tag {
		case 9<<3 | wireBytes:
			b.decodeAssigned(c.message(), number)
		case 10<<3 | wireBytes, 10<<3 | wireVarint: // parameter_shape_index
			b.more(&c, &raw.parameterIndex, tag)
		case 1<<3 | wireVarint:
			a.Index = c.int64()
		case 2<<3 | wireVarint:
			a.Size = c.int64()
		case 3<<3 | wireVarint:
			a.ThreadLocal = c.varint() != 0
		case 5<<3 | wireVarint:
			a.EntryParameter = c.varint() != 0
		case 6<<3 | wireVarint:
			a.Parameter = c.int64()
		case 7<<3 | wireVarint:
			a.MaybeLiveOut = c.varint() != 0
		case 8<<3 | wireVarint:
			a.Color = c.int64()
		case 11<<3 | wireVarint:
			a.Tuple = c.varint() != 0
		case 12<<3 | wireVarint:
			a.Constant = c.varint() != 0
		case 13<<3 | wireVarint:
			a.ParameterAliased = c.varint() != 0
		default:
			c.skip(tag)
		}
	}
	b.m.Allocations, b.allocs = push(b.m.Allocations, a), push(b.allocs, raw)
}

// decodeAssigned reads BufferAllocationProto.Assigned of the allocation-th allocation.
func (b *builder) decodeAssigned(c cursor, allocation int32) {
	b.spend(&c, assignedBytes)
	a := rawAssigned{allocation: allocation, at: int32(c.pos)}
	for c.more() {
		switch tag := c.tag(); tag {
		case 1<<3 | wireVarint:
			a.value = c.int64()
		case 2<<3 | wireVarint:
			a.offset = c.int64()
		case 3<<3 | wireVarint:
			a.size = c.int64()
		default:
			c.skip(tag)
		}
	}
	b.assigned = push(b.assigned, a)
}

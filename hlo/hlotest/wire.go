package hlotest

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of a message, undecoded: varints in value, all else in data.
type field struct {
	number protowire.Number
	wire   protowire.Type
	value  uint64
	data   []byte
}

type message []field

// parse panics on what is no message: it reads dumps that the tests bring along.
func parse(b []byte) message {
	var m message
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		must(n)
		b = b[n:]
		f := field{number: number, wire: wire}
		switch wire {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			f.data, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(number, wire, b)
			must(n)
			f.data = b[:n]
		}
		must(n)
		b = b[n:]
		m = append(m, f)
	}
	return m
}

func must(n int) {
	if n < 0 {
		panic(protowire.ParseError(n))
	}
}

func (m message) encode() []byte {
	var b []byte
	for _, f := range m {
		b = protowire.AppendTag(b, f.number, f.wire)
		switch f.wire {
		case protowire.VarintType:
			b = protowire.AppendVarint(b, f.value)
		case protowire.BytesType:
			b = protowire.AppendBytes(b, f.data)
		default:
			b = append(b, f.data...)
		}
	}
	return b
}

// get returns a varint field, 0 where it is absent.
func (m message) get(number protowire.Number) int64 {
	for _, f := range m {
		if f.number == number {
			return int64(f.value)
		}
	}
	return 0
}

// set sets a varint field.
func (m *message) set(number protowire.Number, value int64) {
	for i := range *m {
		if (*m)[i].number == number {
			(*m)[i].value = uint64(value)
			return
		}
	}
	*m = append(*m, field{number: number, wire: protowire.VarintType, value: uint64(value)})
}

// each edits every sub-message of a number; edit returns what it shall be.
func (m *message) each(number protowire.Number, edit func(message) message) {
	for i := range *m {
		if (*m)[i].number == number && (*m)[i].wire == protowire.BytesType {
			(*m)[i].data = edit(parse((*m)[i].data)).encode()
		}
	}
}

func sub(number protowire.Number, m message) field {
	return field{number: number, wire: protowire.BytesType, data: m.encode()}
}

// Field numbers of xla/service/hlo.proto.
const (
	hloModule        = 1
	bufferAssignment = 3
	allocations      = 3 // of BufferAssignmentProto
	allocationIndex  = 1
	allocationSize   = 2
	assigned         = 9
	assignedBuffer   = 1
	assignedOffset   = 2
	assignedSize     = 3
	logicalBuffers   = 1 // of BufferAssignmentProto
	bufferID         = 1
	bufferSize       = 2
	computations     = 3 // of HloModuleProto
	instructions     = 2 // of HloComputationProto
	instructionID    = 35
	outputAliasing   = 74
	aliasedOperand   = 2
)

func (d *Dump) editAssignment(edit func(message) message) {
	m := parse(d.Proto)
	m.each(bufferAssignment, edit)
	d.Proto = m.encode()
}

func (d *Dump) moveInProto(value, allocation, offset, size int64) error {
	moved := 0
	d.editAssignment(func(a message) message {
		a.each(logicalBuffers, func(b message) message {
			if b.get(bufferID) == value {
				b.set(bufferSize, size)
			}
			return b
		})
		a.each(allocations, func(al message) message {
			var out message
			for _, f := range al {
				if f.number == assigned && parse(f.data).get(assignedBuffer) == value {
					moved++
					continue
				}
				out = append(out, f)
			}
			if out.get(allocationIndex) == allocation {
				out.set(allocationSize, max(out.get(allocationSize), offset+size))
				var s message
				s.set(assignedBuffer, value)
				s.set(assignedOffset, offset)
				s.set(assignedSize, size)
				out = append(out, sub(assigned, s))
				moved++
			}
			return out
		})
		return a
	})
	if moved != 2 {
		return fmt.Errorf("%s: value %d or allocation %d is not there", d.Name, value, allocation)
	}
	return nil
}

func (d *Dump) allocateInProto(size int64) int64 {
	next := int64(0)
	d.editAssignment(func(a message) message {
		a.each(allocations, func(al message) message {
			next = max(next, al.get(allocationIndex)+1)
			return al
		})
		var al message
		al.set(allocationIndex, next)
		al.set(allocationSize, size)
		return append(a, sub(allocations, al))
	})
	return next
}

func (d *Dump) redeclareInProto(id, operand int64) error {
	done := false
	m := parse(d.Proto)
	m.each(hloModule, func(mod message) message {
		mod.each(computations, func(c message) message {
			c.each(instructions, func(in message) message {
				if in.get(instructionID) == id {
					in.each(outputAliasing, func(p message) message {
						p.set(aliasedOperand, operand)
						done = true
						return p
					})
				}
				return in
			})
			return c
		})
		return mod
	})
	d.Proto = m.encode()
	if !done {
		return fmt.Errorf("%s: instruction %d declares nothing", d.Name, id)
	}
	return nil
}

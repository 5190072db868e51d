package hlo

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// message builds a protobuf message, field by field.
type message []byte

func (m message) num(field protowire.Number, v int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(v))
}

func (m message) bytes(field protowire.Number, v []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
}

func (m message) str(field protowire.Number, v string) message { return m.bytes(field, []byte(v)) }

func (m message) ints(field protowire.Number, list ...int64) message {
	var packed []byte
	for _, v := range list {
		packed = protowire.AppendVarint(packed, uint64(v))
	}
	return m.bytes(field, packed)
}

// with appends further fields.
func (m message) with(more message) message { return append(m, more...) }

// array is the shape f32[dims].
func array(dims ...int64) message { return message{}.num(2, int64(F32)).ints(3, dims...) }

// tuple is the shape of a tuple.
func tuple(elements ...message) message {
	m := message{}.num(2, int64(TupleType))
	for _, e := range elements {
		m = m.bytes(4, e)
	}
	return m
}

// instruction is an instruction; more are fields beyond name, opcode, shape and id.
func instruction(id int64, opcode string, shape, more message) message {
	return message{}.str(1, opcode).str(2, opcode).bytes(3, shape).num(35, id).with(more)
}

// computation is a computation whose root is its last instruction.
func computation(id, root int64, instructions ...message) message {
	m := message{}.str(1, "c")
	for _, in := range instructions {
		m = m.bytes(2, in)
	}
	return m.num(5, id).num(6, root)
}

// schedule is one entry of the module's schedule.
func schedule(computation int64, instructions ...int64) message {
	return message{}.bytes(1, message{}.num(1, computation).bytes(2, message{}.ints(1, instructions...)))
}

// buffer is a logical buffer at a shape index.
func buffer(id, size, instruction int64, index ...int64) message {
	at := message{}.num(4, instruction)
	if len(index) > 0 {
		at = at.ints(3, index...)
	}
	return message{}.num(1, id).num(2, size).bytes(3, at)
}

// allocation is an allocation with (value, offset, size) triples.
func allocation(index, size int64, assigned ...[3]int64) message {
	m := message{}.num(1, index).num(2, size)
	for _, a := range assigned {
		m = m.bytes(9, message{}.num(1, a[0]).num(2, a[1]).num(3, a[2]))
	}
	return m
}

// module is an HloProto in pieces, so that tests can change one.
type module struct {
	computations []message
	entry        int64
	more         message // further fields of HloModuleProto: the schedule
	buffers      []message
	allocations  []message
	assignment   message // further fields of BufferAssignmentProto
}

// call is the smallest module with a custom call: its parameter of 16 bytes and its
// result have an allocation each.
func call() module {
	return module{
		computations: []message{computation(1, 11,
			instruction(10, "parameter", array(4), nil),
			instruction(11, "custom-call", array(4), message{}.ints(36, 10).str(28, "target")))},
		entry:       1,
		more:        message{}.bytes(7, schedule(1, 10, 11)),
		buffers:     []message{buffer(1, 16, 10), buffer(2, 16, 11)},
		allocations: []message{allocation(0, 16, [3]int64{1, 0, 16}), allocation(1, 16, [3]int64{2, 0, 16})},
	}
}

// encode is the HloProto.
func (m module) encode() []byte {
	hlo := message{}.str(1, "synthetic")
	for _, c := range m.computations {
		hlo = hlo.bytes(3, c)
	}
	hlo = hlo.num(6, m.entry).with(m.more)
	assignment := m.assignment
	for _, b := range m.buffers {
		assignment = assignment.bytes(1, b)
	}
	for _, a := range m.allocations {
		assignment = assignment.bytes(3, a)
	}
	return message{}.bytes(1, hlo).bytes(3, assignment)
}

// read reads an HloProto from memory.
func (r *Reader) read(data []byte) (*Module, error) {
	return r.Read(Source{Path: "x.hlo.pb", member: &member{image: image{wire: data}}})
}

// accept reads an HloProto that must be good.
func accept(t *testing.T, data []byte) *Module {
	t.Helper()
	m, err := NewReader(Limits{}).read(data)
	require.NoError(t, err)
	requireSound(t, m)
	return m
}

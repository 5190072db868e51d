package alias_test

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// The random program as an HloProto; field numbers of xla/service/hlo.proto.

func num(b []byte, field protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}

func str(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func msg(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

func packed(b []byte, field protowire.Number, list ...int64) []byte {
	var p []byte
	for _, v := range list {
		p = protowire.AppendVarint(p, uint64(v))
	}
	return msg(b, field, p)
}

func (p *program) encode() []byte {
	m := str(nil, 1, "random")
	m = str(m, 2, fmt.Sprintf("main.%d", p.entry.id))
	for _, c := range slices.Backward(p.comps) { // those that are called stand first
		m = msg(m, 3, c.encode(p))
	}
	m = num(m, 5, 1)
	m = num(m, 6, p.entry.id)
	var schedule []byte
	for _, c := range p.comps {
		var ids []int64
		for _, o := range c.ops {
			ids = append(ids, o.id)
		}
		schedule = msg(schedule, 1, msg(num(nil, 1, c.id), 2, packed(nil, 1, ids...)))
	}
	m = msg(m, 7, schedule)
	var donors []byte
	for n, donated := range p.donated {
		if donated {
			donors = msg(donors, 1, num(nil, 1, n))
		}
	}
	m = msg(m, 18, donors)
	return msg(msg(nil, 1, m), 3, p.encodeAssignment())
}

func (c *comp) encode(p *program) []byte {
	name := "computation"
	if c == p.entry {
		name = "main"
	}
	b := str(nil, 1, fmt.Sprintf("%s.%d", name, c.id))
	for _, o := range c.ops {
		b = msg(b, 2, o.encode())
	}
	return num(num(b, 5, c.id), 6, c.root.id)
}

func (o *op) encode() []byte {
	b := str(nil, 1, o.name())
	b = str(b, 2, o.opcode)
	b = msg(b, 3, o.shape.encode())
	if o.opcode == "parameter" {
		b = num(b, 9, o.number)
	}
	if o.opcode == "get-tuple-element" {
		b = num(b, 13, o.number)
	}
	if o.opcode == "custom-call" {
		b = str(b, 28, "random_call")
	}
	b = num(b, 35, o.id)
	for _, in := range o.operands {
		b = num(b, 36, in.id)
	}
	for _, c := range o.called {
		b = num(b, 38, c.id)
	}
	return b
}

func (s shape) encode() []byte {
	const u8, tuple = 6, 13
	if s.tuple == nil {
		return msg(packed(num(nil, 2, u8), 3, s.size), 5, packed(nil, 1, 0))
	}
	b := num(nil, 2, tuple)
	for _, size := range s.tuple {
		b = msg(b, 4, shape{size: size}.encode())
	}
	return b
}

func (p *program) encodeAssignment() []byte {
	var b []byte
	for _, v := range p.vals {
		at := num(nil, 4, v.op.id)
		if v.index >= 0 {
			at = packed(at, 3, int64(v.index))
		}
		b = msg(b, 1, msg(num(num(nil, 1, v.id), 2, v.size), 3, at))
	}
	for n, a := range p.allocs {
		m := num(num(nil, 1, int64(n)), 2, a.size)
		if a.parameter >= 0 {
			m = num(num(m, 5, 1), 6, a.parameter)
		}
		if a.constant {
			m = num(m, 12, 1)
		}
		for _, v := range p.vals {
			if v.alloc == int64(n) {
				m = msg(m, 9, num(num(num(nil, 1, v.id), 2, v.offset), 3, v.size))
			}
		}
		b = msg(b, 3, m)
	}
	return b
}

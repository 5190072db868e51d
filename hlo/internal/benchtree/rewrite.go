package main

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// rules say what becomes of the fields of a message; fields without one are kept.
type rules map[protowire.Number]rule

// rule changes one field.
type rule struct {
	message rules                        // a message: its fields' rules
	number  func(int64) int64            // a number, or each of a packed list
	bytes   func([]byte) ([]byte, error) // anything else
}

// apply writes a message anew.
func (r rules) apply(message []byte) ([]byte, error) {
	out := make([]byte, 0, len(message)+64)
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		size := protowire.ConsumeFieldValue(number, kind, message[n:])
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		field, value := message[:n+size], message[n:n+size]
		message = message[n+size:]
		change, ok := r[number]
		if !ok {
			out = append(out, field...)
			continue
		}
		out = protowire.AppendTag(out, number, kind)
		var err error
		if out, err = change.append(out, kind, value); err != nil {
			return nil, fmt.Errorf("field %d: %w", number, err)
		}
	}
	return out, nil
}

// append appends a field's changed value.
func (r rule) append(out []byte, kind protowire.Type, value []byte) ([]byte, error) {
	if kind == protowire.VarintType {
		v, _ := protowire.ConsumeVarint(value)
		return protowire.AppendVarint(out, uint64(r.number(int64(v)))), nil
	}
	content, _ := protowire.ConsumeBytes(value)
	var err error
	switch {
	case r.message != nil:
		content, err = r.message.apply(content)
	case r.number != nil:
		content = r.list(content)
	default:
		content, err = r.bytes(content)
	}
	return protowire.AppendBytes(out, content), err
}

// list changes each number of a packed list.
func (r rule) list(packed []byte) []byte {
	var out []byte
	for len(packed) > 0 {
		v, n := protowire.ConsumeVarint(packed)
		if n < 0 {
			return out
		}
		out = protowire.AppendVarint(out, uint64(r.number(int64(v))))
		packed = packed[n:]
	}
	return out
}

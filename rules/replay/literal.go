package replay

import (
	"encoding/binary"
	"fmt"

	"aliascheck/hlo"

	"google.golang.org/protobuf/encoding/protowire"
)

// literalField says where a LiteralProto keeps the elements of a type: the number
// of its field, and how many bytes an element takes in an array. Floating-point
// numbers and plain bytes stand there as in memory (raw); the others are varints.
type literalField struct {
	number protowire.Number
	size   int64
	raw    bool
}

// fieldOf returns the field of an element type (xla_data.proto, LiteralProto).
func fieldOf(e hlo.ElementType) (literalField, bool) {
	switch e.String() {
	case "pred":
		return literalField{2, 1, false}, true
	case "s32":
		return literalField{4, 4, false}, true
	case "s64":
		return literalField{5, 8, false}, true
	case "u32":
		return literalField{6, 4, false}, true
	case "u64":
		return literalField{7, 8, false}, true
	case "f32":
		return literalField{8, 4, true}, true
	case "c64":
		return literalField{12, 4, true}, true
	case "f64":
		return literalField{9, 8, true}, true
	case "c128":
		return literalField{18, 8, true}, true
	case "u8":
		return literalField{3, 1, true}, true
	case "s8":
		return literalField{15, 1, true}, true
	case "f16":
		return literalField{11, 2, true}, true
	case "bf16":
		return literalField{13, 2, true}, true
	case "u16":
		return literalField{16, 2, true}, true
	case "s16":
		return literalField{17, 2, true}, true
	}
	return literalField{}, false
}

// decodeLiteral gives the bytes that an array of this type and size has in memory:
// little endian, dense, in the literal's own layout, which is the array's. The
// literal may be hostile: nothing is allocated beyond size, which the caller bounds.
func decodeLiteral(literal []byte, e hlo.ElementType, size int64) ([]byte, error) {
	field, ok := fieldOf(e)
	if !ok {
		return nil, fmt.Errorf("literals of %s are not read", e)
	}
	out := make([]byte, 0, min(size, int64(len(literal))*8))
	for pos := 0; pos < len(literal); {
		number, wire, n := protowire.ConsumeTag(literal[pos:])
		if n < 0 {
			return nil, fmt.Errorf("literal at byte %d: %w", pos, protowire.ParseError(n))
		}
		length := protowire.ConsumeFieldValue(number, wire, literal[pos+n:])
		if length < 0 {
			return nil, fmt.Errorf("literal at byte %d, field %d: %w", pos, number, protowire.ParseError(length))
		}
		value := literal[pos+n : pos+n+length]
		pos += n + length
		if number != field.number {
			continue
		}
		if wire == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(value)
		}
		var err error
		if out, err = field.append(out, value, size); err != nil {
			return nil, err
		}
	}
	if int64(len(out)) != size {
		return nil, fmt.Errorf("literal of %s: %d bytes for an array of %d", e, len(out), size)
	}
	return out, nil
}

// append adds the elements in value, a field's contents: packed numbers, one
// number that is not packed, or the bytes themselves.
func (f literalField) append(out, value []byte, size int64) ([]byte, error) {
	if f.raw {
		if int64(len(out)+len(value)) > size {
			return nil, fmt.Errorf("literal: more than the array's %d bytes", size)
		}
		return append(out, value...), nil
	}
	var element [8]byte
	for len(value) > 0 {
		v, n := protowire.ConsumeVarint(value)
		if n < 0 {
			return nil, fmt.Errorf("literal, field %d: %w", f.number, protowire.ParseError(n))
		}
		value = value[n:]
		if int64(len(out))+f.size > size {
			return nil, fmt.Errorf("literal: more than the array's %d bytes", size)
		}
		binary.LittleEndian.PutUint64(element[:], v)
		out = append(out, element[:f.size]...)
	}
	return out, nil
}

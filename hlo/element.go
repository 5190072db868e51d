package hlo

import "strconv"

// ElementType is xla.PrimitiveType: what the elements of an array are.
type ElementType int32

// The element types that the reader itself must know; String names all of them.
const (
	Pred       ElementType = 1
	S32        ElementType = 4
	S64        ElementType = 5
	U8         ElementType = 6
	F32        ElementType = 11
	TupleType  ElementType = 13
	OpaqueType ElementType = 14
	TokenType  ElementType = 17
	BufferType ElementType = 34 // wraps an array shape: a mutable buffer of newer XLA
)

// name is the row of t in xla_data.proto's enumeration, as HLO text spells it; an
// unknown type has none.
func (t ElementType) name() string {
	names := [...]string{
		1: "pred", 2: "s8", 3: "s16", 4: "s32", 5: "s64", 6: "u8", 7: "u16", 8: "u32", 9: "u64",
		10: "f16", 11: "f32", 12: "f64", 13: "tuple", 14: "opaque", 15: "c64", 16: "bf16",
		17: "token", 18: "c128", 19: "f8e5m2", 20: "f8e4m3fn", 21: "s4", 22: "u4",
		23: "f8e4m3b11fnuz", 24: "f8e5m2fnuz", 25: "f8e4m3fnuz", 26: "s2", 27: "u2",
		28: "f8e4m3", 29: "f8e3m4", 30: "s1", 31: "u1", 32: "f4e2m1fn", 33: "f8e8m0fnu", 34: "b",
	}
	if t <= 0 || int(t) >= len(names) {
		return ""
	}
	return names[t]
}

// String is the name that HLO text uses: f32, bf16, token.
func (t ElementType) String() string {
	if name := t.name(); name != "" {
		return name
	}
	return "element type " + strconv.Itoa(int(t))
}

// Known reports whether t is an element type of this reader's xla_data.proto.
func (t ElementType) Known() bool { return t >= Pred && t <= BufferType }

// Bits is the size of one element: 1, 2 and 4 for the packed types, which an array
// whose layout does not pack them holds in a byte each; 0 for tuples, tokens, opaques.
func (t ElementType) Bits() int64 {
	switch t {
	case F32, S32, 8:
		return 32
	case 10, 16, 3, 7: // f16, bf16, s16, u16
		return 16
	case S64, 9, 12, 15: // u64, f64, c64
		return 64
	case 18: // c128
		return 128
	case 21, 22, 32: // s4, u4, f4e2m1fn
		return 4
	case 26, 27: // s2, u2
		return 2
	case 30, 31: // s1, u1
		return 1
	case TupleType, OpaqueType, TokenType, BufferType:
		return 0
	}
	if t.Known() {
		return 8
	}
	return 0
}

// ParseElementType is the inverse of String.
func ParseElementType(name string) (ElementType, bool) {
	for t := ElementType(1); t.Known(); t++ {
		if t.String() == name {
			return t, true
		}
	}
	return 0, false
}

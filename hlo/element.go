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

// elementInfo is one row of xla_data.proto's enumeration.
type elementInfo struct {
	name string
	bits int64
}

// info returns the row of t; an unknown type has no name.
func (t ElementType) info() elementInfo {
	rows := [...]elementInfo{
		1: {"pred", 8}, 2: {"s8", 8}, 3: {"s16", 16}, 4: {"s32", 32}, 5: {"s64", 64},
		6: {"u8", 8}, 7: {"u16", 16}, 8: {"u32", 32}, 9: {"u64", 64},
		10: {"f16", 16}, 11: {"f32", 32}, 12: {"f64", 64},
		13: {"tuple", 0}, 14: {"opaque", 0}, 15: {"c64", 64}, 16: {"bf16", 16},
		17: {"token", 0}, 18: {"c128", 128},
		19: {"f8e5m2", 8}, 20: {"f8e4m3fn", 8}, 21: {"s4", 4}, 22: {"u4", 4},
		23: {"f8e4m3b11fnuz", 8}, 24: {"f8e5m2fnuz", 8}, 25: {"f8e4m3fnuz", 8},
		26: {"s2", 2}, 27: {"u2", 2}, 28: {"f8e4m3", 8}, 29: {"f8e3m4", 8},
		30: {"s1", 1}, 31: {"u1", 1}, 32: {"f4e2m1fn", 4}, 33: {"f8e8m0fnu", 8},
		34: {"b", 0},
	}
	if t <= 0 || int(t) >= len(rows) {
		return elementInfo{}
	}
	return rows[t]
}

// String is the name that HLO text uses: f32, bf16, token.
func (t ElementType) String() string {
	if name := t.info().name; name != "" {
		return name
	}
	return "element type " + strconv.Itoa(int(t))
}

// Known reports whether t is an element type of this reader's xla_data.proto.
func (t ElementType) Known() bool { return t.info().name != "" }

// Bits is the size of one element: 1, 2 and 4 for the packed types, which an array
// whose layout does not pack them holds in a byte each; 0 for tuples, tokens, opaques.
func (t ElementType) Bits() int64 { return t.info().bits }

// ParseElementType is the inverse of String.
func ParseElementType(name string) (ElementType, bool) {
	for t := ElementType(1); t.Known(); t++ {
		if t.String() == name {
			return t, true
		}
	}
	return 0, false
}

package hlo

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestElementTypes(t *testing.T) {
	for e := ElementType(1); e <= BufferType; e++ {
		parsed, ok := ParseElementType(e.String())
		assert.True(t, ok, e)
		assert.Equal(t, e, parsed)
	}
	for name, bits := range map[string]int64{
		"pred": 8, "s4": 4, "u8": 8, "bf16": 16, "f16": 16, "s16": 16, "u32": 32, "f32": 32, "f64": 64, "c64": 64,
		"c128": 128, "s1": 1, "u2": 2, "f8e4m3fn": 8, "f8e8m0fnu": 8, "f4e2m1fn": 4, "tuple": 0, "token": 0,
	} {
		e, ok := ParseElementType(name)
		assert.True(t, ok, name)
		assert.Equal(t, bits, e.Bits(), name)
	}
	assert.Equal(t, "element type 99", ElementType(99).String())
	assert.False(t, ElementType(0).Known() || ElementType(35).Known() || ElementType(-1).Known())
	_, ok := ParseElementType("f7")
	assert.False(t, ok)
}

package hlo

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/encoding/protowire"
)

// FuzzVarint holds the fast way to protowire's.
func FuzzVarint(f *testing.F) {
	for _, v := range []uint64{0, 1, 127, 128, 16383, 16384, 1 << 21, 1 << 32, 1<<42 + 7, 1<<56 - 1, 1 << 56, 1 << 63, math.MaxUint64} {
		whole := protowire.AppendVarint(nil, v)
		f.Add(whole)
		f.Add(append(whole, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))
		f.Add(whole[:len(whole)-1])
	}
	f.Add([]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02})
	f.Add([]byte{0x80, 0x80, 0x00, 1, 2, 3, 4, 5, 6, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		want, n := protowire.ConsumeVarint(data)
		c := cursor{data, 0, &failure{}}
		got := c.varint()
		if n < 0 {
			assert.NotEmpty(t, c.fail.what)
			assert.Zero(t, got)
			return
		}
		assert.Equal(t, want, got)
		assert.Equal(t, n, c.pos)
		if len(data) > 0 {
			c = cursor{data, 0, &failure{}}
			assert.Equal(t, want, c.tag())
		}
	})
}

// FuzzBytes holds lengths to protowire's.
func FuzzBytes(f *testing.F) {
	for _, n := range []int{0, 1, 127, 128, 300, 16383, 16384, 70000} {
		whole := protowire.AppendBytes(nil, make([]byte, n))
		f.Add(whole)
		f.Add(append(whole, 1, 2, 3))
		f.Add(whole[:len(whole)-1])
	}
	f.Add([]byte{0x80})
	f.Add([]byte{0x80, 0x80, 0x00, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		want, n := protowire.ConsumeBytes(data)
		c := cursor{data, 0, &failure{}}
		got := c.bytes()
		assert.Equal(t, n < 0, c.fail.what != "")
		if n >= 0 {
			assert.Equal(t, n, c.pos)
			assert.True(t, bytes.Equal(want, data[got.start:got.end]))
		}
	})
}

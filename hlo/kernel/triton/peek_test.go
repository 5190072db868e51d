package triton

import "testing"

// FuzzPrefix: any bytes give some bytes and no panic.
func FuzzPrefix(f *testing.F) {
	f.Add([]byte("x\x9c\x03\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Decoder
		d.Peek(string(TargetRaw), data)
		d.Peek(string(TargetFFI), data)
	})
}

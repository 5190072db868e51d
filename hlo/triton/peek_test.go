package triton

import (
	"bytes"
	"compress/zlib"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPrefixInflater holds the prefix to compress/zlib's: texts that compress well
// and not at all, every level, cut anywhere.
func TestPrefixInflater(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		text := make([]byte, rnd.IntN(5000))
		spread := 1 + rnd.IntN(256)
		for i := range text {
			text[i] = byte(rnd.IntN(spread))
			if i > 40 && rnd.IntN(3) > 0 {
				text[i] = text[i-1-rnd.IntN(40)]
			}
		}
		var packed bytes.Buffer
		w, err := zlib.NewWriterLevel(&packed, rnd.IntN(12)-2)
		require.NoError(t, err)
		_, err = w.Write(text)
		require.NoError(t, err)
		require.NoError(t, w.Close())

		out := make([]byte, rnd.IntN(6000))
		var p prefixInflater
		n := p.inflate(packed.Bytes(), out)
		require.Equal(t, min(len(text), len(out)), n)
		require.Equal(t, text[:n], out[:n])

		cut := rnd.IntN(packed.Len() + 1)
		p = prefixInflater{}
		n = p.inflate(packed.Bytes()[:cut], out)
		require.Equal(t, text[:n], out[:n], "what comes of a cut stream is its beginning")
	}
}

// FuzzPrefix: any bytes give some bytes and no panic.
func FuzzPrefix(f *testing.F) {
	f.Add([]byte("x\x9c\x03\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		out := make([]byte, peekBytes)
		var p prefixInflater
		kernelName(out[:p.inflate(data, out)])
		var d Decoder
		d.Peek(string(TargetFFI), data)
	})
}

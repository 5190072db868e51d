package triton

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/adler32"
	"io"
	mathbits "math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// text makes a text that compresses well, or not at all.
func text(rnd *rand.Rand, most int) []byte {
	text := make([]byte, rnd.IntN(most))
	spread, repeats := 1+rnd.IntN(256), rnd.IntN(5)
	for i := range text {
		text[i] = byte(rnd.IntN(spread))
		if i > 40 && rnd.IntN(4) < repeats {
			text[i] = text[i-1-rnd.IntN(40)]
		}
		if rnd.IntN(200) < repeats && i > 0 {
			copy(text[i:], text[rnd.IntN(i):i])
		}
	}
	return text
}

func deflate(t testing.TB, text []byte, level int) []byte {
	var packed bytes.Buffer
	w, err := zlib.NewWriterLevel(&packed, level)
	require.NoError(t, err)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return packed.Bytes()
}

// TestInflatePrefix holds the prefix to compress/zlib's: every level, asked for in
// pieces, cut anywhere.
func TestInflatePrefix(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		text := text(rnd, 5000)
		packed := deflate(t, text, rnd.IntN(12)-2)
		for _, in := range [][]byte{packed, packed[:rnd.IntN(len(packed)+1)]} {
			out := make([]byte, rnd.IntN(6000))
			var f inflater
			f.start(in, out)
			for f.n < len(out) && f.err == nil && !f.ended() {
				f.until(min(f.n+1+rnd.IntN(3000), len(out)))
			}
			require.Equal(t, text[:f.n], out[:f.n], "what comes of a cut stream is its beginning")
			if len(in) == len(packed) {
				require.Equal(t, min(len(text), len(out)), f.n)
				require.NoError(t, f.err)
			}
		}
	}
}

// TestInflateWhole holds the whole to compress/zlib's: every level, several streams
// one after the other, with text behind the end, cut anywhere and with a bit turned.
func TestInflateWhole(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var f inflater
	var buf []byte
	for range 300 {
		text := text(rnd, 60000)
		packed := deflate(t, text, rnd.IntN(12)-2)
		var err error
		buf, err = f.whole(append(packed, "behind"...), buf, 60000)
		require.NoError(t, err)
		require.True(t, bytes.Equal(text, buf))
		require.Equal(t, len(packed), f.pos)

		_, err = f.whole(packed[:rnd.IntN(len(packed))], buf, 60000)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		if len(text) > 0 {
			buf, err = f.whole(packed, nil, len(text)-1)
			require.ErrorContains(t, err, "inflates to more than")
			require.Len(t, buf, len(text))
		}
		packed[rnd.IntN(len(packed))] ^= 1 << rnd.IntN(8)
		sameAsLibrary(t, packed)
	}
}

// sameAsLibrary holds what comes of any bytes to what compress/zlib makes of them.
func sameAsLibrary(t *testing.T, packed []byte) {
	const limit = 1 << 20
	var f inflater
	got, err := f.whole(packed, nil, limit)
	source := bytes.NewReader(packed)
	r, refused := zlib.NewReader(source)
	var want []byte
	if refused == nil {
		want, refused = io.ReadAll(io.LimitReader(r, limit+1))
	}
	if len(want) > limit {
		require.ErrorContains(t, err, "inflates to more than")
		return
	}
	if refused != nil {
		require.Error(t, err, "compress/zlib: %v", refused)
		return
	}
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))
	require.Equal(t, len(packed)-source.Len(), f.pos)
}

// FuzzInflate holds the inflater to compress/zlib, and prefixes to the whole. What it
// is given is a stream without header and checksum: few of those that are made of
// others would have the right one.
func FuzzInflate(f *testing.F) {
	f.Add([]byte("\x03\x00"), uint16(0))
	rnd := rand.New(rand.NewPCG(5, 6))
	for level := -2; level <= 9; level++ {
		packed := deflate(f, text(rnd, 4000), level)
		f.Add(packed[2:len(packed)-4], uint16(300))
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint16) {
		packed := append([]byte("x\x9c"), data...)
		var whole, prefix inflater
		whole.start(packed, make([]byte, 1<<16))
		whole.until(len(whole.out))
		all := whole.out[:whole.n]
		if whole.err == nil && whole.ended() {
			whole.giveBack()
			packed = binary.BigEndian.AppendUint32(packed[:whole.pos], adler32.Checksum(all))
		}
		sameAsLibrary(t, packed)

		prefix.start(packed, make([]byte, n))
		prefix.until(int(n) / 2)
		prefix.until(int(n))
		require.Equal(t, min(len(all), int(n)), prefix.n)
		require.True(t, bytes.Equal(all[:prefix.n], prefix.out[:prefix.n]))
	})
}

// TestFixedCodesAreMadeOnce: a block with the fixed codes behind another one takes them
// over, be it with what was changed in them.
func TestFixedCodesAreMadeOnce(t *testing.T) {
	// Two blocks of one literal each: 3 bits of header, 8 of code, 7 of end, lowest first.
	packed := []byte{0x78, 0x9c}
	var bits uint64
	put := func(v uint64, at uint) { bits |= v << at }
	for i, literal := range []byte{'a', 'b'} {
		put(uint64(i)|1<<1, uint(18*i))
		put(uint64(mathbits.Reverse8(literal+0x30)), uint(18*i+3))
	}
	packed = binary.LittleEndian.AppendUint64(packed, bits)
	var f inflater
	f.start(packed, make([]byte, 4))
	f.until(1)
	require.Equal(t, "a", string(f.out[:f.n]))
	f.literals.of(8)['b'] = 'c'
	f.until(2)
	require.NoError(t, f.err)
	require.Equal(t, "ac", string(f.out[:f.n]))
	_, err := f.whole(deflate(t, text(rand.New(rand.NewPCG(7, 8)), 9000), 9), nil, 9000)
	require.NoError(t, err)
	require.False(t, f.preset, "the text has codes of its own")
	f.start(packed, make([]byte, 4))
	f.until(2)
	require.Equal(t, "ab", string(f.out[:f.n]))
}

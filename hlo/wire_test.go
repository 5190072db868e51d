package hlo

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// seedFields are fields of every width and wire type, whole and cut off.
func seedFields(add func(data []byte)) {
	var whole []byte
	for _, number := range []protowire.Number{1, 15, 16, 77, 2047, 2048, 1<<29 - 1} {
		for _, v := range []uint64{0, 1, 127, 128, 16383, 16384, 1 << 21, 1 << 32, 1<<42 + 7, 1<<56 - 1, 1 << 56, 1 << 63, math.MaxUint64} {
			whole = protowire.AppendVarint(protowire.AppendTag(whole, number, protowire.VarintType), v)
		}
		for _, n := range []int{0, 1, 127, 128, 300, 16383, 16384, 70000} {
			whole = protowire.AppendBytes(protowire.AppendTag(whole[:min(len(whole), 90)], number, protowire.BytesType), make([]byte, n))
			add(whole)
			add(whole[:len(whole)-1])
		}
		whole = protowire.AppendFixed32(protowire.AppendTag(whole[:40], number, protowire.Fixed32Type), 7)
		whole = protowire.AppendFixed64(protowire.AppendTag(whole, number, protowire.Fixed64Type), 7)
		add(whole)
		add(whole[:len(whole)-1])
	}
	add([]byte{0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02})
	add([]byte{0x08, 0x80, 0x80, 0x00, 0x0a, 0x83, 0x80, 0x00, 4, 5, 6, 0x88, 0x80, 0x00, 1})
	add([]byte{0x00, 1, 0x0b, 0x0c})
}

// FuzzFields holds the fields of a message to protowire's: of one that ends where its
// data does, and of the same with more data behind it.
func FuzzFields(f *testing.F) {
	seedFields(func(data []byte) { f.Add(data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		more := append(data[:len(data):len(data)], 0x12, 0x05, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 2, 3, 4, 5, 6, 7)
		sameFields(t, newFields(data), data)
		sameFields(t, fields{&input{data: more}, 0, len(data)}, data)
	})
}

// sameFields holds fields to those of data.
func sameFields(t *testing.T, fs fields, data []byte) {
	got := fs.first()
	for rest := data; len(rest) > 0; got = fs.after(got) {
		number, kind, n := protowire.ConsumeField(rest)
		if kind == protowire.StartGroupType || kind == protowire.EndGroupType || !number.IsValid() {
			n = -1 // XLA writes none, and protowire lets pass what is too big
		}
		if n < 0 {
			require.NotEmpty(t, fs.in.fail.what)
			require.Zero(t, got)
			return
		}
		require.Empty(t, fs.in.fail.what)
		require.Equal(t, uint64(number)<<3|uint64(kind), got.tag)
		_, _, width := protowire.ConsumeTag(rest)
		sameContents(t, got, kind, rest[width:n], data)
		rest = rest[n:]
		require.Equal(t, len(data)-len(rest), got.end)
	}
	require.Zero(t, got)
	require.Empty(t, fs.in.fail.what)
}

// sameContents holds a field's contents to its bytes.
func sameContents(t *testing.T, got field, kind protowire.Type, contents, data []byte) {
	switch kind {
	case protowire.VarintType:
		want, _ := protowire.ConsumeVarint(contents)
		require.Equal(t, want, got.number)
	case protowire.BytesType:
		want, _ := protowire.ConsumeBytes(contents)
		require.Equal(t, string(want), view(data, got.span()))
	}
}

// FuzzNumbers holds packed lists to protowire's varints.
func FuzzNumbers(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{4})
	f.Add(protowire.AppendVarint(protowire.AppendVarint(nil, 1<<32|7), math.MaxUint64), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add([]byte{1, 0x80}, []byte{0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, list, behind []byte) {
		data := append(list[:len(list):len(list)], behind...)
		fs := fields{&input{data: data}, 0, len(list)}
		got := fs.ints(nil, field{tag: 1<<3 | wireBytes, end: len(list)})
		for _, v := range got {
			want, n := protowire.ConsumeVarint(list)
			if n < 0 {
				require.NotEmpty(t, fs.in.fail.what)
				return
			}
			require.Equal(t, int64(want), v)
			list = list[n:]
		}
		require.Empty(t, list)
		require.Empty(t, fs.in.fail.what)
	})
}

package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"testing"

	"aliascheck/hlo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

func element(t testing.TB, name string) hlo.ElementType {
	t.Helper()
	e, ok := hlo.ParseElementType(name)
	require.True(t, ok, name)
	return e
}

func int32s(data []byte) []int32 {
	var out []int32
	for ; len(data) >= 4; data = data[4:] {
		out = append(out, int32(binary.LittleEndian.Uint32(data)))
	}
	return out
}

func TestContentsInts(t *testing.T) {
	s32 := element(t, "s32")
	perm := int32s(Contents(Recipe{Kind: PermutationInput, Seed: 3}, s32, 1000))
	assert.NotEqual(t, int32(0), perm[0], "a permutation that moves nothing shows nothing")
	moved := 0
	for i, v := range perm {
		if int32(i) != v {
			moved++
		}
	}
	assert.Greater(t, moved, 900)
	slices.Sort(perm)
	for i, v := range perm {
		require.Equal(t, int32(i), v)
	}
	small := int32s(Contents(Recipe{Kind: SmallInput, Seed: 3, Bound: 7}, s32, 1000))
	assert.Equal(t, int32(0), slices.Min(small))
	assert.Equal(t, int32(6), slices.Max(small))
	sorted := int32s(Contents(Recipe{Kind: SortedInput, Bound: 512}, s32, 9))
	assert.Equal(t, []int32{0, 64, 128, 192, 256, 320, 384, 448, 512}, sorted)
	assert.Equal(t, []int32{0}, int32s(Contents(Recipe{Kind: SortedInput, Bound: 512}, s32, 1)))
	assert.Equal(t, make([]byte, 40), Contents(Recipe{Kind: ZerosInput, Seed: 9}, s32, 10))
}

func TestContentsFloatsAreFinite(t *testing.T) {
	const n = 4096
	f32 := Contents(Recipe{Kind: RandomInput, Seed: 1}, element(t, "f32"), n)
	low, high := float32(2), float32(-2)
	for i := range n {
		v := math.Float32frombits(binary.LittleEndian.Uint32(f32[i*4:]))
		low, high = min(low, v), max(high, v)
	}
	assert.InDelta(t, -1, low, 0.01)
	assert.InDelta(t, 1, high, 0.01)
	for _, tt := range []struct {
		name     string
		exponent uint16 // its bits: all ones is infinity or NaN
	}{{"f16", 0x7c00}, {"bf16", 0x7f80}} {
		data := Contents(Recipe{Kind: RandomInput, Seed: 1}, element(t, tt.name), n)
		require.Len(t, data, 2*n)
		for i := range n {
			v := binary.LittleEndian.Uint16(data[i*2:])
			require.NotEqual(t, tt.exponent, v&tt.exponent, "%s element %d", tt.name, i)
		}
	}
}

func TestHalfBits(t *testing.T) {
	for v, want := range map[float64]uint16{1: 0x3c00, -1: 0xbc00, 0.5: 0x3800, 1.5: 0x3e00, 0: 0, -0.25: 0xb400, 0.333251953125: 0x3555} {
		assert.Equal(t, want, halfBits(v), "%v", v)
	}
}

// TestContentsStayTheSame holds the generator to the bytes of its first release:
// evidence that names a recipe must stay repeatable.
func TestContentsStayTheSame(t *testing.T) {
	for _, tt := range []struct {
		recipe Recipe
		name   string
		want   string
	}{
		{Recipe{Kind: PermutationInput, Seed: 2}, "s32", "af2318af80cd"},
		{Recipe{Kind: SmallInput, Seed: 2, Bound: 100}, "s64", "ea1e6904c20c"},
		{Recipe{Kind: SortedInput, Bound: 12345}, "s32", "4a7b1a8b9002"},
		{Recipe{Kind: RandomInput, Seed: 2}, "f32", "d98e8ea4bc1a"},
		{Recipe{Kind: RandomInput, Seed: 2}, "bf16", "52a506670c89"},
		{Recipe{Kind: RandomInput, Seed: 2}, "f16", "0a9e00d95f99"},
		{Recipe{Kind: RandomInput, Seed: 2}, "u8", "24d4857495ab"},
		{Recipe{Kind: RandomInput, Seed: 2}, "pred", "395beea74bd0"},
	} {
		sum := sha256.Sum256(Contents(tt.recipe, element(t, tt.name), 1001))
		assert.Equal(t, tt.want, hex.EncodeToString(sum[:6]), "%s of %s", tt.recipe.Kind, tt.name)
	}
}

func TestDecodeLiteral(t *testing.T) {
	packed := func(number protowire.Number, values ...uint64) []byte {
		var b []byte
		for _, v := range values {
			b = protowire.AppendVarint(b, v)
		}
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), b)
	}
	single := func(number protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
	}
	minus := ^uint64(0)
	for _, tt := range []struct {
		name, element string
		literal       []byte
		size          int64
		want          []byte
		err           string
	}{
		{"packed", "s32", packed(4, 1, minus), 8, []byte{1, 0, 0, 0, 255, 255, 255, 255}, ""},
		{"one by one, after a shape", "s32", slices.Concat(packed(1, 9), single(4, 2), single(4, 3)), 8, []byte{2, 0, 0, 0, 3, 0, 0, 0}, ""},
		{"bool", "pred", packed(2, 1, 0, 1), 3, []byte{1, 0, 1}, ""},
		{"u64", "u64", packed(7, minus), 8, []byte{255, 255, 255, 255, 255, 255, 255, 255}, ""},
		{"floats as they stand", "f32", packed(8, 1, 2, 3, 4), 4, []byte{1, 2, 3, 4}, ""},
		{"bytes", "bf16", packed(13, 1, 2), 2, []byte{1, 2}, ""},
		{"too few", "s32", packed(4, 1), 8, nil, "4 bytes for an array of 8"},
		{"too many", "s32", packed(4, 1, 2, 3), 8, nil, "more than the array's 8 bytes"},
		{"too many bytes", "u8", packed(3, 1, 2, 3), 2, nil, "more than the array's 2 bytes"},
		{"cut", "s32", packed(4, 1, 2)[:3], 8, nil, "literal at byte 0, field 4"},
		{"cut number", "s32", protowire.AppendBytes(protowire.AppendTag(nil, 4, protowire.BytesType), []byte{1, 128}), 8, nil, "literal, field 4"},
		{"huge size", "s32", packed(4, 1), 1 << 50, nil, "4 bytes for an array of 1125899906842624"},
		{"not read", "f8e5m2", nil, 8, nil, "literals of f8e5m2 are not read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decodeLiteral(tt.literal, element(t, tt.element), tt.size)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

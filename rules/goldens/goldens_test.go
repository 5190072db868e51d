package goldens

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func floats(v ...float32) []byte {
	var out []byte
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

func TestCheckExactly(t *testing.T) {
	data := floats(1, 2, 3)
	b, err := NewBuffer(4, "f32", 4, data, nil)
	require.NoError(t, err)
	assert.Equal(t, 3, b.Count)
	assert.Empty(t, b.Sample)
	assert.NoError(t, b.Check(data))
	data[11] ^= 0x80
	assert.ErrorContains(t, b.Check(data), "buffer 4: 12 bytes with SHA-256")
	assert.Error(t, b.Check(nil))
}

func TestCheckClosely(t *testing.T) {
	ulp := float32(math.Ldexp(1, -23)) // of 1
	want := floats(1, -2, 0, float32(math.NaN()))
	for _, tt := range []struct {
		name string
		near Distance
		got  []byte
		err  string
	}{
		{"the same", Distance{Units: 1}, want, ""},
		{"one unit", Distance{Units: 1}, floats(1+ulp, -2+2*ulp, 0, float32(math.NaN())), ""},
		{"two units", Distance{Units: 1}, floats(1+2*ulp, -2, 0, float32(math.NaN())), "element 0 is 1.000000238418579, a GPU has 1, which is 2 times too far"},
		{"near zero no unit helps", Distance{Units: 1000}, floats(1, -2, 1e-20, float32(math.NaN())), "element 2"},
		{"but a distance does", Distance{Units: 1, Absolute: 1e-19}, floats(1, -2, 1e-20, float32(math.NaN())), ""},
		{"a number for NaN", Distance{Units: 1}, floats(1, -2, 0, 0), "element 3"},
		{"infinity", Distance{Units: 1}, floats(float32(math.Inf(1)), -2, 0, float32(math.NaN())), "element 0"},
		{"too short", Distance{Units: 1}, want[:12], "12 bytes for 4 elements of f32"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := NewBuffer(0, "f32", 4, want, &tt.near)
			require.NoError(t, err)
			if err := b.Check(tt.got); tt.err == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, tt.err)
			}
		})
	}
	_, err := NewBuffer(0, "s32", 4, want, &Distance{Units: 1})
	assert.ErrorContains(t, err, "no sample of s32")
}

// A sample has the first element and the last, and finds what is wrong at its places.
func TestSample(t *testing.T) {
	data := floats(make([]float32, 3*samples)...)
	b, err := NewBuffer(0, "f32", 4, data, &Distance{Units: 1})
	require.NoError(t, err)
	assert.Len(t, b.Sample, 4*samples)
	assert.Equal(t, 0, b.at(0))
	assert.Equal(t, 3*samples-1, b.at(samples-1))
	copy(data[len(data)-4:], floats(1))
	assert.ErrorContains(t, b.Check(data), "element 12287 is 1")
}

func TestFloats(t *testing.T) {
	for _, tt := range []struct {
		element string
		bits    uint64
		want    float64
	}{
		{"f64", math.Float64bits(-0.1), -0.1},
		{"f32", 0x40490fdb, float64(float32(math.Pi))},
		{"bf16", 0xc000, -2},
		{"f16", 0x3c01, 1 + 1.0/1024},
		{"f16", 0x8001, -math.Ldexp(1, -24)},
		{"f16", 0x7bff, 65504},
		{"f16", 0xfc00, math.Inf(-1)},
	} {
		got, err := float(tt.element, binary.LittleEndian.AppendUint64(nil, tt.bits))
		require.NoError(t, err)
		assert.Equal(t, tt.want, got, tt.element)
	}
	got, err := float("f16", []byte{1, 0x7c})
	require.NoError(t, err)
	assert.True(t, math.IsNaN(got))
	assert.Equal(t, math.Ldexp(1, -10), unit("f16", 1.5))
	assert.Equal(t, math.Ldexp(1, -6), unit("bf16", -2))
	assert.Equal(t, math.Ldexp(1, -149), unit("f32", 0))
	assert.Equal(t, math.Ldexp(1, -24), unit("f16", math.Ldexp(3, -24)))
}

func TestFiles(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, specials), []byte(`[{"dump": "more/x", "skip": "why"}]`), 0o644))
	g := Golden{Dump: "more/x", Instruction: "call.1", Configuration: 2, Kernel: "k", Inputs: []Input{{Kind: "random", Seed: 1}},
		Buffers: []Buffer{{Buffer: 1, Element: "f32", Count: 1, Close: &Distance{Units: 3}, Sample: floats(1)}}}
	require.NoError(t, g.Write(folder))
	all, err := Load(folder)
	require.NoError(t, err)
	assert.Equal(t, []Golden{g}, all)
	special, err := LoadSpecials(folder)
	require.NoError(t, err)
	assert.Equal(t, "why", special["more/x"].Skip)
	file := filepath.Join(folder, g.fileName())
	require.NoError(t, os.Rename(file, filepath.Join(folder, "other.json")))
	_, err = Load(folder)
	assert.ErrorContains(t, err, "belongs into more-x.call.1.2.json")
	require.NoError(t, os.Rename(filepath.Join(folder, "other.json"), file))
	require.NoError(t, Remove(folder))
	all, err = Load(folder)
	require.NoError(t, err)
	assert.Empty(t, all)
}

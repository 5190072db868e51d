package mlir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// module reads a file of testdata: modules as JAX put them in calls of the lab's programs.
func module(t *testing.T, name string) *Module {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	m, err := Read(data)
	require.NoError(t, err)
	return m
}

func TestTriton(t *testing.T) {
	m := module(t, "pt_reverse_blocks.mlirbc")
	require.Equal(t, "builtin.module", m.Ops[0].Name)
	type access struct {
		name   string
		line   uint64
		column uint64
	}
	var got []access
	for i := range m.Ops {
		if m.Ops[i].Name == "tt.load" || m.Ops[i].Name == "tt.store" {
			frames := m.Frames(i)
			require.NotEmpty(t, frames)
			assert.Equal(t, "programs.py", filepath.Base(frames[0].File))
			assert.Equal(t, "pt_reverse_blocks.<locals>.k", frames[0].Name)
			got = append(got, access{m.Ops[i].Name, frames[0].Line, frames[0].Column})
		}
	}
	assert.Equal(t, []access{{"tt.load", 55, 37}, {"tt.load", 55, 8}, {"tt.store", 55, 8}}, got)
}

// TestValues follows a load's pointer to the argument that it came from.
func TestValues(t *testing.T) {
	m := module(t, "pt_reverse_blocks.mlirbc")
	for i := range m.Ops {
		if m.Ops[i].Name != "tt.load" {
			continue
		}
		v := m.Values[m.Ops[i].Operands[0]]
		for v.IsResult {
			require.NotEmpty(t, m.Ops[v.Op].Operands)
			v = m.Values[m.Ops[v.Op].Operands[0]]
		}
		assert.Equal(t, "tt.func", m.Ops[v.Op].Name)
		assert.True(t, v.Entry)
		assert.Zero(t, v.Argument, "the first load is of the operand")
		return
	}
	t.Fatal("no load")
}

func TestMosaic(t *testing.T) {
	m := module(t, "mg_late_copy_apart.mlirbc")
	assert.Zero(t, m.version, "written for any reader")
	name, ok := m.Attribute(0, "mosaic_gpu.dump_basename")
	assert.True(t, ok)
	assert.Equal(t, "late_6", name)
	_, ok = m.Attribute(0, "mosaic_gpu.arch_major")
	assert.False(t, ok, "it is no string")
	_, ok = m.Attribute(0, "nothing")
	assert.False(t, ok)
}

// TestDamage cuts files and turns their bytes: an error or a module, no panic, and no
// more operations than bytes.
func TestDamage(t *testing.T) {
	for _, name := range []string{"pt_reverse_blocks.mlirbc", "mg_late_copy_apart.mlirbc"} {
		whole, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		for i := 0; i < len(whole)*9/10; i++ { // sections that nobody needs are the last
			_, err := Read(whole[:i])
			require.Error(t, err, "the first %d bytes of %s", i, name)
		}
		for i := 0; i < len(whole); i += 13 {
			data := append([]byte(nil), whole...)
			data[i] ^= 0xff
			look(t, data)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"nothing", "", "no magic number"},
		{"text", "module {}", "no magic number"},
		{"of the future", "ML\xefR\x0fx\x00", "version 7; 6 is the last one known"},
		{"without a producer", "ML\xefR\x01MLIR", "the producer's name has no end"},
		{"without sections", "ML\xefR\x01MLIR\x00", "strings: byte 0: it ends too early"},
		{"more strings than bytes", "ML\xefR\x01MLIR\x00\x00\x05\xff\x03", "127 things in 1 bytes"},
		{"a section too long", "ML\xefR\x01MLIR\x00\x00\xff", "it ends too early"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read([]byte(tt.data))
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestVarint(t *testing.T) {
	for _, tt := range []struct {
		data string
		want uint64
	}{
		{"\x01", 0}, {"\xff", 127}, {"\x02\x01", 64}, {"\xfe\xff", 1<<14 - 1}, {"\x04\x00\x01", 1 << 13},
		{"\x80\xff\xff\xff\xff\xff\xff\xff", 1<<56 - 1}, {"\x00\xff\xff\xff\xff\xff\xff\xff\xff", 1<<64 - 1},
	} {
		r := reader{data: []byte(tt.data)}
		assert.Equal(t, tt.want, r.varint(), "%x", tt.data)
		require.NoError(t, r.err)
		assert.Zero(t, r.left())
	}
}

// look reads a module that may be anything, and all that it says.
func look(t *testing.T, data []byte) {
	m, err := Read(data)
	if err != nil {
		return
	}
	require.LessOrEqual(t, len(m.Ops), len(data))
	require.LessOrEqual(t, len(m.Values), len(data))
	for i := range m.Ops {
		require.LessOrEqual(t, len(m.Frames(i)), maxFrames)
		m.Attribute(i, "sym_name")
		require.Less(t, m.Ops[i].Parent, i, "an operation stands behind the one around it")
		for _, v := range m.Ops[i].Operands {
			require.Less(t, v, len(m.Values))
		}
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.mlirbc")
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { look(t, data) })
}

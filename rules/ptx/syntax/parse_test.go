package syntax

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parseFile(t testing.TB, name string) *Module {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", name))
	require.NoError(t, err)
	m, err := Parse(name, text)
	require.NoError(t, err)
	return m
}

func TestParseEveryKernel(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.ptx")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		m := parseFile(t, filepath.Base(f))
		require.NotEmpty(t, m.Entries, f)
		for _, e := range m.Entries {
			require.NotEmpty(t, e.Params, f)
			require.NotEmpty(t, e.Function.Body, f)
		}
	}
}

func TestParseSort(t *testing.T) {
	m := parseFile(t, "transformer_step.ptx")
	require.Len(t, m.Entries, 1)
	e := m.Entries[0]
	assert.Equal(t, "_sort_chunks_by_map_kernel", e.Name)
	assert.Equal(t, [3]uint32{128, 1, 1}, e.ReqThreads)
	assert.Equal(t, "8.7", m.Version)
	assert.Equal(t, "sm_90a", m.Target)
	require.Len(t, e.Params, 5)
	assert.Equal(t, Param{Name: "_sort_chunks_by_map_kernel_param_0", Type: "u64", Size: 8, Align: 1, Pointer: true}, e.Params[0])
	last := e.Function.Body[len(e.Function.Body)-2]
	assert.Equal(t, "st.global.v2.b32", last.Name)
	assert.Equal(t, Location{1, 21}, last.Source)
	assert.Equal(t, "/src/kernels.py", m.Files[1])
}

func TestParseErrorsHavePlaces(t *testing.T) {
	_, err := Parse("k.ptx", []byte(".version 8.0\n.entry k() {\n  .reg .b32 %r<2>;\n  mov.b32 %r1, %%;\n  bra nowhere;\n}\n"))
	require.Error(t, err)
	assert.Contains(t, err.Error(), "k.ptx:4:")
	assert.Contains(t, err.Error(), "k.ptx:5:7: nowhere is not declared")
}

func TestParseScopesAndTables(t *testing.T) {
	m, err := Parse("k", []byte(`.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 table[3] = {1, -2, 0x10};
.entry k(.param .u64 p, .param .align 8 .b8 q[24]) .maxntid 64, 2 {
  .reg .b32 %r<4>; .reg .pred p1;
  { .reg .b32 %r<2>; L: mov.b32 %r1, 7; bra L; }
  { L: add.s32 %r1, %r2, -1; @!p1 bra L; }
  ts: .branchtargets A, B;
  brx.idx %r1, ts;
A: ld.param.u32 %r3, [q+4];
B: shfl.sync.bfly.b32 %r1|p1, %r2, 16, 31, -1;
  mov.f32 %r1, 0f3F800000; mov.b32 %r2, {%r1, _};
  ret;
}`))
	require.NoError(t, err)
	f := m.Entries[0].Function
	assert.Equal(t, uint64(0), f.Body[1].Operands[0].Bits)
	assert.Equal(t, uint64(2), f.Body[3].Operands[0].Bits)
	assert.NotEqual(t, f.Body[0].Operands[0].Register, f.Body[2].Operands[0].Register)
	assert.Len(t, f.Body[5].Operands[1].Sub, 2)
	assert.Equal(t, []byte{1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0x10, 0, 0, 0}, m.Globals[0].Init)
	assert.Equal(t, [3]uint32{64, 2, 1}, m.Entries[0].MaxThreads)
	assert.Equal(t, 24, m.Entries[0].Params[1].Size)
	assert.Equal(t, KindPair, f.Body[7].Operands[0].Kind)
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("../testdata/*.ptx")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse("fuzz", text)
		if (m == nil) == (err == nil) {
			t.Fatal("either a module or an error")
		}
	})
}

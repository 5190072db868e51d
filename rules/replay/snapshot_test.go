package replay

import (
	"os"
	"path/filepath"
	"testing"

	"aliascheck/alias"
	"aliascheck/hlo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

func field(number protowire.Number, parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), all)
}

// snapshotCall is a call whose operand 0 is parameter 1 leaf {}, and operand 1 is
// parameter 2 leaf {1}, of the module at path.
func snapshotCall(t *testing.T, path string) *alias.Call {
	s32 := element(t, "s32")
	m := &hlo.Module{Path: path,
		Instructions: []hlo.Instruction{{Opcode: "parameter", Parameter: 1}, {Opcode: "parameter", Parameter: 2}, {Opcode: "add"}},
		Values:       []hlo.Value{{Instruction: 0}, {Instruction: 1, Index: hlo.ShapeIndex{1}}, {Instruction: 2}}}
	leaf := func(value int32) alias.Leaf { return alias.Leaf{Value: value, Element: s32, Bytes: 8} }
	return &alias.Call{Module: m, Operands: []alias.Leaf{leaf(0), leaf(1), leaf(2), {Value: -1}}}
}

func TestSnapshots(t *testing.T) {
	dir := t.TempDir()
	ints := func(a, b byte) []byte { return field(4, []byte{a, b}) }
	whole := append(field(1, make([]byte, 1000)), field(2, ints(9, 9))...)
	whole = append(whole, field(2, ints(1, 2))...)
	whole = append(whole, field(2, field(10, ints(3, 4)), field(10, ints(5, 6)))...)
	whole = append(whole, field(3, ints(7, 7))...)
	write := func(name string, data []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	write("1753.module_0012.jit_step.execution_0001.hlo_snapshot.pb", field(2, ints(8, 8)))
	write("1753.module_0012.jit_step.execution_0000.hlo_snapshot.pb", whole)
	write("1753.module_0013.jit_step.execution_0000.hlo_snapshot.pb", whole[:len(whole)-1])
	write("1753.module_0014.jit_step.execution_0000.hlo_snapshot.pb", []byte{0xff})

	var s Snapshots
	c := snapshotCall(t, filepath.Join(dir, "module_0012.jit_step.sm_9.0a_gpu_after_optimizations.hlo.pb"))
	data, recipe := s.Lookup(c, 0)
	assert.Equal(t, []byte{1, 0, 0, 0, 2, 0, 0, 0}, data)
	assert.Equal(t, Recipe{Kind: SnapshotInput, Source: "1753.module_0012.jit_step.execution_0000.hlo_snapshot.pb"}, recipe)
	data, _ = s.Lookup(c, 1)
	assert.Equal(t, []byte{5, 0, 0, 0, 6, 0, 0, 0}, data, "a leaf inside a tuple")
	for operand, why := range []string{2: "no parameter", 3: "no value"} {
		if why != "" {
			data, _ = s.Lookup(c, operand)
			assert.Nil(t, data, why)
		}
	}
	for name, why := range map[string]string{
		"module_0013.jit_step.sm_9.0a_gpu_after_optimizations.hlo.pb":   "the snapshot is cut",
		"module_0014.jit_step.sm_9.0a_gpu_after_optimizations.hlo.pb":   "the snapshot is none",
		"module_0015.jit_step.sm_9.0a_gpu_after_optimizations.hlo.pb":   "no snapshot",
		"after_optimizations.hlo.pb":                                    "no module's name",
		"dump.zip!/module_0012.jit_step.gpu_after_optimizations.hlo.pb": "in an archive",
	} {
		data, _ = s.Lookup(snapshotCall(t, filepath.Join(dir, name)), 0)
		assert.Nil(t, data, why)
	}
}

func TestLiteralAt(t *testing.T) {
	inner := field(10, field(10, []byte("a")), field(10, []byte("b")))
	got, err := literalAt(inner, hlo.ShapeIndex{0, 1})
	require.NoError(t, err)
	assert.Equal(t, "b", string(got))
	_, err = literalAt(inner, hlo.ShapeIndex{0, 2})
	require.ErrorContains(t, err, "no literal at")
	_, err = literalAt(inner[:3], hlo.ShapeIndex{0})
	require.Error(t, err)
}

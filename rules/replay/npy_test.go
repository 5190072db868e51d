package replay

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"aliascheck/alias"
	"aliascheck/hlo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// npy makes an .npy file as numpy.save writes it.
func npy(version byte, header string, data []byte) []byte {
	out := []byte{0x93, 'N', 'U', 'M', 'P', 'Y', version, 0}
	if version == 1 {
		out = binary.LittleEndian.AppendUint16(out, uint16(len(header)))
	} else {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(header)))
	}
	return append(append(out, header...), data...)
}

func TestNpyElements(t *testing.T) {
	good := "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }   \n"
	for _, tt := range []struct {
		name string
		in   []byte
		err  string
	}{
		{"version 1", npy(1, good, []byte{1, 2}), ""},
		{"version 2", npy(2, good, []byte{1, 2}), ""},
		{"bytes", npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", []byte{1, 2}), ""},
		{"version 9", npy(9, good, nil), "version 9 is not read"},
		{"big endian", npy(1, "{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }", nil), "'>i4' are not read"},
		{"Fortran", npy(1, "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 2), }", nil), "Fortran order"},
		{"records", npy(1, "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2,), }", nil), "are not read"},
		{"no header", []byte("\x93NUMPY"), "no .npy file"},
		{"header cut", npy(1, good, nil)[:20], "cut in its header"},
		{"header length cut", []byte{0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 0, 0}, "cut in its header"},
		{"not npy", []byte("PK\x03\x04 and more"), "no .npy file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := npyElements(tt.in)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []byte{1, 2}, got)
		})
	}
}

func TestParseOperandFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "map.npy")
	require.NoError(t, os.WriteFile(path, npy(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }", []byte{5, 0, 0, 0}), 0o644))
	f, err := ParseOperandFile("sort*:1=" + path)
	require.NoError(t, err)
	m := &hlo.Module{Name: "jit_f", Instructions: []hlo.Instruction{{Name: "sort.3"}, {Name: "other"}}}
	lookup := FromFiles([]OperandFile{f})
	data, recipe := lookup(&alias.Call{Module: m}, 1)
	assert.Equal(t, []byte{5, 0, 0, 0}, data)
	assert.Equal(t, Recipe{Kind: FileInput, Source: path}, recipe)
	data, _ = lookup(&alias.Call{Module: m}, 0)
	assert.Nil(t, data, "another operand")
	data, _ = lookup(&alias.Call{Module: m, Instruction: 1}, 1)
	assert.Nil(t, data, "another call")
	for flag, want := range map[string]string{
		"sort":             "CALL:N=FILE.npy was expected",
		"sort:1":           "CALL:N=FILE.npy was expected",
		":1=x.npy":         "CALL:N=FILE.npy was expected",
		"sort:x=y.npy":     `"x" is no operand number`,
		"sort:-1=y.npy":    `"-1" is no operand number`,
		"sort:1=/nowhere/": "no such file",
		"sort:1=.":         "a regular file",
	} {
		_, err := ParseOperandFile(flag)
		require.ErrorContains(t, err, want, flag)
	}
}

func FuzzNpy(f *testing.F) {
	f.Add(npy(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", []byte{1, 2}))
	f.Add(npy(3, "{'descr': '|b1'}", nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		if out, err := npyElements(data); err == nil {
			require.LessOrEqual(t, len(out), len(data))
		}
	})
}

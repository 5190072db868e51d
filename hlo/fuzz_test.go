package hlo

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzProto reads anything as an HloProto: it is refused, or the model is sound, and
// reading it piece by piece, with the smallest literals left out, gives the same.
func FuzzProto(f *testing.F) {
	for _, name := range []string{"histogram", "sort_in_cond", "sort_in_loop", "builtin_lib"} {
		data, err := os.ReadFile(one(f, name))
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte(call().encode()))
	limits := Limits{ModelBytes: 64 << 20, LiteralBytes: 4}
	r, s := NewReader(limits), NewReader(limits)
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, err := r.read(data)
		l := loader{limits: s.limits}
		loadErr := l.loadStream(bytes.NewReader(data))
		if err != nil {
			return
		}
		requireSound(t, whole)
		if loadErr != nil {
			return // it looks for literals where nothing is decoded, too
		}
		pieces, err := s.Read(Source{Path: "x.hlo.pb", member: &member{image: l.image}})
		require.NoError(t, err)
		requireSame(t, whole, pieces)
	})
}

// FuzzArchive finds and reads what is in anything: no panic, and something is said of it.
func FuzzArchive(f *testing.F) {
	data, err := os.ReadFile(one(f, "histogram"))
	require.NoError(f, err)
	members := [][2]string{
		{"a/" + stepProto, string(data)}, {"b/" + stepText, "HloModule b"}, {"b/" + stepAssignment, "BufferAssignment:"},
	}
	f.Add(tarred(f, members...))
	f.Add(gzipped(f, tarred(f, members...)))
	f.Add(zipped(f, members...))
	f.Add(gzipped(f, data))
	limits := Limits{ArchiveBytes: 1 << 20, ArchiveMembers: 100, ModelBytes: 16 << 20}
	path := filepath.Join(f.TempDir(), "x")
	r := NewReader(limits)
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		said := 0
		for src, err := range Find([]string{path}, limits) {
			said++
			require.Contains(t, src.Path, path)
			if err != nil {
				continue
			}
			if m, err := r.Read(src); err == nil {
				requireSound(t, m)
			}
		}
		require.Positive(t, said)
	})
}

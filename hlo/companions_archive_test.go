package hlo

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestArchivedCompanions looks at what lies beside modules in archives.
func TestArchivedCompanions(t *testing.T) {
	dumps, err := filepath.Glob("../testdata/dumps/scale_inplace/*after_optimizations.hlo.pb")
	require.NoError(t, err)
	dump, err := os.ReadFile(dumps[0])
	require.NoError(t, err)
	const prefix = "module_0007.jit_scale"
	module := prefix + ".sm_9.0a_gpu_after_optimizations.hlo.pb"
	members := []struct{ name, text string }{
		{"job/mosaic/k_0.ptx", "// k"}, {"job/" + module, string(dump)}, {"job/" + prefix + ".0.ptx", "// ptx"},
		{"job/" + prefix + ".thunk_sequence.txt", ""}, {"other/" + prefix + ".0.ptx", "// other"}, {"job/a/b/deep.ptx", ""}, {"job/notes.md", "words"},
	}
	var zipped, tarred bytes.Buffer
	z := zip.NewWriter(&zipped)
	g := gzip.NewWriter(&tarred)
	w := tar.NewWriter(g)
	for _, m := range members {
		f, err := z.Create(m.name)
		require.NoError(t, err)
		_, err = f.Write([]byte(m.text))
		require.NoError(t, err)
		require.NoError(t, w.WriteHeader(&tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.text)), Typeflag: tar.TypeReg}))
		_, err = w.Write([]byte(m.text))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	require.NoError(t, w.Close())
	require.NoError(t, g.Close())
	for name, data := range map[string][]byte{"job.zip": zipped.Bytes(), "job.tar.gz": tarred.Bytes()} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(path, data, 0o644))
			reader := NewReader(Limits{})
			seen := 0
			for src, err := range Find([]string{path}, Limits{}) {
				require.NoError(t, err)
				m, err := reader.Read(src)
				require.NoError(t, err)
				seen++
				assert.Equal(t, prefix, m.Companions.Prefix())
				names, err := m.Companions.Names("")
				require.NoError(t, err)
				assert.Equal(t, []string{module[:len(prefix)] + ".0.ptx", module, prefix + ".thunk_sequence.txt", "mosaic/k_0.ptx", "notes.md"}, names)
				text, err := m.Companions.Read("mosaic/k_0.ptx", 4)
				require.NoError(t, err)
				assert.Equal(t, "// k", string(text))
				_, err = m.Companions.Read("mosaic/k_0.ptx", 3)
				require.ErrorContains(t, err, "4 bytes, over the limit of 3")
				_, err = m.Companions.Read("notes.md", 9)
				require.ErrorContains(t, err, "not among the files that are read of an archive")
				_, err = m.Companions.Read("../other/"+prefix+".0.ptx", 9)
				require.ErrorContains(t, err, "not beside the module")
			}
			assert.Equal(t, 1, seen)
		})
	}
}

// TestArchivedBytes holds that an archive keeps no more than it may.
func TestArchivedBytes(t *testing.T) {
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	for _, name := range []string{"a.ptx", "b.ptx"} {
		f, err := z.Create(name)
		require.NoError(t, err)
		_, err = f.Write(make([]byte, 1000))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	path := filepath.Join(t.TempDir(), "x.zip")
	require.NoError(t, os.WriteFile(path, zipped.Bytes(), 0o644))
	for most, fits := range map[int64]bool{2000: true, 1999: false} {
		limits := Limits{}.orDefault()
		limits.ArchiveBytes = most
		files := &archivedFiles{path: path, limits: limits}
		_, err := newArchiveFolder(files, "m").read("a.ptx", 2000)
		if fits {
			require.NoError(t, err)
		} else {
			require.Error(t, err)
		}
	}
}

package hlo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCompanions looks at what lies beside a real module, found and named.
func TestCompanions(t *testing.T) {
	dumps, err := filepath.Glob("../testdata/dumps/scale_inplace/*after_optimizations.hlo.pb")
	require.NoError(t, err)
	require.Len(t, dumps, 1)
	dump, err := os.ReadFile(dumps[0])
	require.NoError(t, err)
	dir := t.TempDir()
	const prefix = "module_0007.jit_scale"
	module := prefix + ".sm_9.0a_gpu_after_optimizations.hlo.pb"
	for name, data := range map[string][]byte{
		module: dump, prefix + ".0.ptx": []byte("// ptx"), prefix + ".thunk_sequence.txt": nil,
		"module_0008.jit_other.0.ptx": nil, "mosaic/k_0.ptx": []byte("// k"), "a/b/deep.ptx": nil,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	reader := NewReader(Limits{})
	for _, path := range []string{dir, filepath.Join(dir, module)} {
		seen := 0
		for src, err := range Find([]string{path}, Limits{}) {
			require.NoError(t, err)
			m, err := reader.Read(src)
			require.NoError(t, err)
			seen++
			assert.Equal(t, prefix, m.Companions.Prefix())
			names, err := m.Companions.Names(prefix + ".")
			require.NoError(t, err)
			assert.Equal(t, []string{prefix + ".0.ptx", module, prefix + ".thunk_sequence.txt"}, names)
			names, err = m.Companions.Names("mosaic/")
			require.NoError(t, err)
			assert.Equal(t, []string{"mosaic/k_0.ptx"}, names)
			data, err := m.Companions.Read("mosaic/k_0.ptx", 4)
			require.NoError(t, err)
			assert.Equal(t, "// k", string(data))
			for name, want := range map[string]string{
				"mosaic/k_0.ptx": "4 bytes, over the limit of 3", "../x": "not beside the module", "/etc/passwd": "not beside the module",
				"absent": "no such file", "mosaic": "not a regular file",
			} {
				_, err = m.Companions.Read(name, 3)
				assert.ErrorContains(t, err, want)
			}
		}
		assert.Equal(t, 1, seen)
	}
	_, err = Companions{}.Names("")
	assert.Error(t, err)
}

// TestCompanionsStayInTheirFolder: a link out of the dump is not read, nor what lies
// behind a folder that is one.
func TestCompanionsStayInTheirFolder(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret.ptx"), []byte("// secret"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "own.ptx"), []byte("// own"), 0o644))
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret.ptx"), filepath.Join(dir, "link.ptx")))
	require.NoError(t, os.Symlink("own.ptx", filepath.Join(dir, "inside.ptx")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "mosaic")))
	c := Companions{path: filepath.Join(dir, "module_0001.jit_f.hlo.pb"), entries: 100}
	for _, name := range []string{"link.ptx", "mosaic/secret.ptx"} {
		_, err := c.Read(name, 100)
		require.ErrorContains(t, err, "leads out of the module's folder", name)
	}
	for _, name := range []string{"own.ptx", "inside.ptx"} {
		data, err := c.Read(name, 100)
		require.NoError(t, err, name)
		assert.Equal(t, "// own", string(data))
	}
}

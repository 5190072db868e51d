package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestLine(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	path := write(t, root, "models/attention.py", "import jax\r\n\r\ndef attend(q):\r\n    return kernel(q)  # 注\r\n")
	f := New(root, filepath.Join(root, "missing"))
	for _, c := range []struct {
		name, file, function string
		line                 int
		want                 string
	}{
		{"as it is", path, "attend", 4, "return kernel(q)  # 注"},
		{"below the root", "models/attention.py", "", 1, "import jax"},
		{"another checkout", "/src/project/models/attention.py", "attend", 4, "return kernel(q)  # 注"},
		{"a method", "/src/models/attention.py", "Model.attend", 1, "import jax"},
		{"another file of that name", "/src/models/attention.py", "other", 1, ""},
		{"an empty line", path, "attend", 2, ""},
		{"past the end", path, "attend", 99, ""},
		{"line 0", path, "attend", 0, ""},
	} {
		text, at, ok := f.Line(c.file, c.line, c.function)
		assert.Equal(t, c.want, text, c.name)
		assert.Equal(t, c.want != "", ok, c.name)
		if ok {
			assert.Equal(t, path, at, c.name)
		}
	}
}

// A dump names any file that it likes.
func TestOnlySourceBelowTheRootsIsRead(t *testing.T) {
	outside := t.TempDir()
	secret := write(t, outside, "secret.py", "TOKEN = 1\n")
	root := t.TempDir()
	require.NoError(t, os.Symlink(secret, filepath.Join(root, "link.py")))
	write(t, root, "key.pem", "PRIVATE\n")
	require.NoError(t, os.Symlink(filepath.Join(root, "key.pem"), filepath.Join(root, "key.py")))
	write(t, root, "binary.py", "a\x00b\n")
	write(t, root, "long.py", strings.Repeat("x", maxFile+1))
	require.NoError(t, os.Mkdir(filepath.Join(root, "folder.py"), 0o755))
	f := New(root)
	for _, name := range []string{secret, "../" + filepath.Base(outside) + "/secret.py", "link.py", "key.pem", "key.py", "binary.py", "long.py", "folder.py", "/dev/zero.py", ""} {
		_, _, ok := f.Line(name, 1, "")
		assert.False(t, ok, name)
	}
	_, _, ok := f.Line(write(t, outside, "lib/python3.12/site-packages/p/k.py", "x\n"), 1, "")
	assert.True(t, ok, "an installed package")
	var none *Files
	_, _, ok = none.Line("x.py", 1, "")
	assert.False(t, ok)
}

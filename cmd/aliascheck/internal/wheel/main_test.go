package main

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPythonVersion(t *testing.T) {
	for release, want := range map[string]string{
		"v1.2.3": "1.2.3", "v1.2.3-rc.1": "1.2.3rc1", "v1.0.0-alpha2": "1.0.0a2", "v1.0.0-beta.10": "1.0.0b10",
		"v0.0.0-dev.abc123": "0.0.0.dev0+abc123", "v0.0.0-3-gabc": "0.0.0.dev0+3.gabc",
	} {
		got, err := pythonVersion(release)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, bad := range []string{"", "1.2.3", "v1.2", "devel", "v1.2.3 "} {
		_, err := pythonVersion(bad)
		assert.Error(t, err, bad)
	}
}

func TestWheelHoldsWhatItRecords(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for _, name := range []string{"LICENSE", "README.md", "man/aliascheck.1", "completion/aliascheck.bash", "completion/aliascheck.zsh", "completion/aliascheck.fish"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(from, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(from, name), []byte(name), 0o644))
	}
	for platform, tag := range tags() {
		require.NoError(t, run([]string{"-binary", filepath.Join(from, "LICENSE"), "-files", from, "-platform", platform, "-version", "v1.2.3", "-to", to}))
		r, err := zip.OpenReader(filepath.Join(to, "aliascheck-1.2.3-py3-none-"+tag+".whl"))
		require.NoError(t, err)
		text := map[string]string{}
		for _, f := range r.File {
			in, err := f.Open()
			require.NoError(t, err)
			data, err := io.ReadAll(in)
			require.NoError(t, err)
			text[f.Name] = string(data)
			if f.Name == "aliascheck-1.2.3.data/scripts/aliascheck" {
				assert.EqualValues(t, 0o755, f.Mode().Perm())
			}
		}
		require.NoError(t, r.Close())
		recorded := regexp.MustCompile(`(?m)^([^,]+),`).FindAllStringSubmatch(text["aliascheck-1.2.3.dist-info/RECORD"], -1)
		assert.Len(t, recorded, len(text))
		for _, m := range recorded {
			assert.Contains(t, text, m[1])
		}
		assert.Contains(t, text["aliascheck-1.2.3.dist-info/METADATA"], "\nVersion: 1.2.3\n")
		assert.Contains(t, text["aliascheck-1.2.3.dist-info/WHEEL"], "Tag: py3-none-"+regexp.MustCompile(`[^.]+`).FindString(tag)+"\n")
	}
	assert.Error(t, run([]string{"-platform", "plan9/386", "-version", "v1.2.3"}))
}

package main

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a project copies to use aliascheck is run here as it will be run there, with
// a release that .ci/release builds and a web server gives out.

// need skips a test where a program that it runs is missing.
func need(t *testing.T, programs ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds a release")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skip(err)
		}
	}
}

// script runs a shell script and returns its output and exit code.
func script(t *testing.T, dir, text string, env ...string) (string, int) {
	t.Helper()
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		require.NoError(t, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func repository(t *testing.T) string {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	return root
}

// buildRelease builds this machine's release archive.
func buildRelease(t *testing.T) (dir, archive string) {
	dir = t.TempDir()
	out, code := script(t, repository(t), `.ci/release "$OUT"`, "OUT="+dir,
		"PLATFORMS="+runtime.GOOS+"/"+runtime.GOARCH, "SOURCE_DATE_EPOCH=1700000000", "VERSION=v1.2.3")
	require.Zero(t, code, out)
	return dir, "aliascheck-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
}

func TestReleaseIsTheSameTwice(t *testing.T) {
	need(t, "bash", "tar", "gzip", "sha256sum")
	first, archive := buildRelease(t)
	second, _ := buildRelease(t)
	sums := func(dir string) string {
		text, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
		require.NoError(t, err)
		return string(text)
	}
	assert.Equal(t, sums(first), sums(second))
	assert.Regexp(t, `(?m)^[0-9a-f]{64}  `+regexp.QuoteMeta(archive)+"$", sums(first))
	assert.Regexp(t, `(?m)^[0-9a-f]{64}  aliascheck-1\.2\.3-py3-none-\S+\.whl$`, sums(first))

	f, err := os.Open(filepath.Join(first, archive))
	require.NoError(t, err)
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	require.NoError(t, err)
	sizes := map[string]int64{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		assert.EqualValues(t, 1700000000, h.ModTime.Unix(), h.Name)
		assert.Zero(t, h.Uid+h.Gid, h.Name)
		sizes[strings.TrimPrefix(h.Name, strings.TrimSuffix(archive, ".tar.gz")+"/")] = h.Size
	}
	for _, name := range []string{"aliascheck", "LICENSE", "README.md", "CHANGELOG.md", "man/aliascheck.1",
		"completion/aliascheck.bash", "completion/aliascheck.zsh", "completion/aliascheck.fish", "completion/aliascheck.powershell"} {
		assert.Positive(t, sizes[name], name)
	}
}

// serve gives out a release as GitHub does, and returns the releases' address.
func serve(t *testing.T, dir string) string {
	mux := http.NewServeMux()
	mux.Handle("/releases/latest/download/", http.StripPrefix("/releases/latest/download/", http.FileServer(http.Dir(dir))))
	mux.Handle("/releases/download/v1.2.3/", http.StripPrefix("/releases/download/v1.2.3/", http.FileServer(http.Dir(dir))))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/releases"
}

// spoil changes one byte of an archive.
func spoil(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	text[len(text)/2] ^= 1
	require.NoError(t, os.WriteFile(path, text, 0o644))
}

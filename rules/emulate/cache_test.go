package emulate

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"aliascheck/hlo/kernel"
	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type cached struct {
	Words []string
	N     int64
}

// recall asks a fresh analyzer for a value, and says whether it had to compute.
func recall(t *testing.T, dir, version string, inputs any) (*cached, bool) {
	t.Helper()
	computed := false
	k := New(Options{CacheDir: dir, Version: version})
	v, err := remember(k, "test", inputs, func() (*cached, error) {
		computed = true
		return &cached{Words: []string{"a", "b"}, N: 7}, nil
	})
	require.NoError(t, err)
	assert.Equal(t, &cached{Words: []string{"a", "b"}, N: 7}, v)
	return v, computed
}

func entryFile(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	return files[0]
}

func TestCacheKeepsAcrossRuns(t *testing.T) {
	dir := t.TempDir()
	_, computed := recall(t, dir, "1", "inputs")
	assert.True(t, computed)
	_, computed = recall(t, dir, "1", "inputs")
	assert.False(t, computed, "the second run reads the first's entry")
	_, computed = recall(t, dir, "1", "others")
	assert.True(t, computed, "other inputs")
	_, computed = recall(t, dir, "2", "inputs")
	assert.True(t, computed, "another version of the program")
	_, computed = recall(t, "", "1", "inputs")
	assert.True(t, computed, "no directory, nothing kept")
}

// TestCacheIsOursOrNotUsed: nothing is believed where somebody else may have written it.
func TestCacheIsOursOrNotUsed(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"others may write the directory": func(t *testing.T, dir string) { require.NoError(t, os.Chmod(dir, 0o777)) },
		"others may write where entries lie": func(t *testing.T, dir string) {
			require.NoError(t, os.Chmod(filepath.Dir(entryFile(t, dir)), 0o770))
		},
		"others may write the entry": func(t *testing.T, dir string) { require.NoError(t, os.Chmod(entryFile(t, dir), 0o666)) },
		"others may read the secret": func(t *testing.T, dir string) { require.NoError(t, os.Chmod(filepath.Join(dir, secretName), 0o644)) },
		"the secret is another": func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, secretName), bytes.Repeat([]byte{1}, secretBytes), 0o600))
		},
		"the secret is cut":         func(t *testing.T, dir string) { require.NoError(t, os.Truncate(filepath.Join(dir, secretName), 3)) },
		"the entry is a link":       linkAway,
		"the directory is not ours": notOurs,
		"a pipe in the secret's place": func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, secretName)))
			require.NoError(t, syscall.Mkfifo(filepath.Join(dir, secretName), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			recall(t, dir, "1", "inputs")
			_, computed := recall(t, dir, "1", "inputs")
			require.False(t, computed)
			spoil(t, dir)
			_, computed = recall(t, dir, "1", "inputs")
			assert.True(t, computed)
		})
	}
}

// linkAway puts a link to a file that others may write in an entry's place.
func linkAway(t *testing.T, dir string) {
	path := entryFile(t, dir)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	other := filepath.Join(t.TempDir(), "entry")
	require.NoError(t, os.WriteFile(other, data, 0o600))
	require.NoError(t, os.Chmod(other, 0o666))
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink(other, path))
}

// notOurs gives a directory to somebody else.
func notOurs(t *testing.T, dir string) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	require.NoError(t, os.Chown(dir, 12345, 12345))
}

// TestCacheKnowsTheBudget: a kernel that one budget could not analyse another may.
func TestCacheKnowsTheBudget(t *testing.T) {
	dir := t.TempDir()
	recall(t, dir, "1", "inputs")
	for _, o := range []Options{{Budget: ptx.Budget{Steps: 5}}, {SampleBlocks: 7}} {
		o.CacheDir, o.Version = dir, "1"
		computed := false
		_, err := remember(New(o), "test", "inputs", func() (*cached, error) {
			computed = true
			return &cached{}, nil
		})
		require.NoError(t, err)
		assert.True(t, computed)
	}
}

// TestForeignAnalysisDoesNotFit: an entry with a good digest, whose numbers are no
// numbers of this call.
func TestForeignAnalysisDoesNotFit(t *testing.T) {
	p := kernelPlan{&replay.Plan{Operands: 1, Buffers: make([]replay.Buffer, 2), Call: &kernel.Call{Configurations: []kernel.Configuration{{Entry: "k"}}}}}
	for name, change := range map[string]func(a *replay.Analysis){
		"":                     func(*replay.Analysis) {},
		"no runs":              func(a *replay.Analysis) { a.Runs = nil },
		"another kernel":       func(a *replay.Analysis) { a.Runs[0].Kernel = "j" },
		"more operands":        func(a *replay.Analysis) { a.Operands = 2 },
		"fewer buffers":        func(a *replay.Analysis) { a.Runs[0].Buffers = a.Runs[0].Buffers[:1] },
		"no such operand":      func(a *replay.Analysis) { a.Runs[0].AddressFrom = []int{1} },
		"a recipe for nothing": func(a *replay.Analysis) { a.Runs[0].Inputs = []replay.Recipe{{Operand: -1}} },
		"garbage in nothing":   func(a *replay.Analysis) { a.Runs[0].Unready = &replay.UnreadyRun{Operands: []int{7}} },
		"a garbage recipe for it": func(a *replay.Analysis) {
			a.Runs[0].Unready = &replay.UnreadyRun{Inputs: []replay.Recipe{{Operand: 7}}}
		},
		"shown by a card": func(a *replay.Analysis) { a.Shown = []replay.PairShown{{Operand: 7}} },
		"not run":         func(a *replay.Analysis) { a.NotRun = true },
		"fewer claimants": func(a *replay.Analysis) { a.Claimant = nil },
	} {
		a := &replay.Analysis{Operands: 1, Claimant: []int{-1, -1}, Runs: []replay.KernelRun{{Kernel: "k", Analysed: true, Buffers: make([]ptx.Effects, 2)}}}
		change(a)
		assert.Equal(t, name == "", p.fits(a), name)
	}
	assert.False(t, p.fits(nil))
}

// TestCacheIgnoresBadEntries damages an entry in every way that a disk, a crash or
// another program may: it is computed again, and the entry is whole afterwards.
func TestCacheIgnoresBadEntries(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, path string, data []byte) []byte
	}{
		{"empty", func(*testing.T, string, []byte) []byte { return nil }},
		{"cut", func(_ *testing.T, _ string, d []byte) []byte { return d[:len(d)-1] }},
		{"a bit flipped", func(_ *testing.T, _ string, d []byte) []byte { d[len(d)-3] ^= 1; return d }},
		{"of another format", func(_ *testing.T, _ string, d []byte) []byte {
			return bytes.Replace(d, []byte(cacheFormat), []byte("aliascheck-cache-0"), 1)
		}},
		{"of other inputs", func(t *testing.T, path string, _ []byte) []byte {
			dir := t.TempDir()
			recall(t, dir, "1", "others")
			data, err := os.ReadFile(entryFile(t, dir))
			require.NoError(t, err)
			return data
		}},
		{"no JSON, but with a digest", func(_ *testing.T, path string, _ []byte) []byte {
			key := filepath.Base(path)
			payload := []byte("{")
			m := newMemo(filepath.Dir(filepath.Dir(path)), "1", 0)
			return append(m.header(key[:len(key)-len(".json")], payload), payload...)
		}},
		{"with a digest, by somebody who does not know the secret", func(_ *testing.T, path string, d []byte) []byte {
			key := filepath.Base(path)
			return append(memo{}.header(key[:len(key)-len(".json")], d[bytes.IndexByte(d, '\n')+1:]), d[bytes.IndexByte(d, '\n')+1:]...)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			recall(t, dir, "1", "inputs")
			path := entryFile(t, dir)
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, tt.damage(t, path, bytes.Clone(whole)), 0o644))
			_, computed := recall(t, dir, "1", "inputs")
			assert.True(t, computed)
			again, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, whole, again, "the entry was not written anew")
		})
	}
}

func TestCacheThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, computed := recall(t, filepath.Join(file, "below"), "1", "inputs")
	assert.True(t, computed)
}

// TestCacheLeavesNothingBehind: only whole entries stand in the directory, and the secret.
func TestCacheLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	recall(t, dir, "1", "inputs")
	var names []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, filepath.Base(path))
		}
		return err
	}))
	assert.Len(t, names, 2)
	assert.Contains(t, names, secretName)
}

// TestEqualInputsComputeOnce asks from many goroutines at once.
func TestEqualInputsComputeOnce(t *testing.T) {
	k := New(Options{CacheDir: t.TempDir()})
	var computed atomic.Int64
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			_, err := remember(k, "test", i%4, func() (*cached, error) {
				computed.Add(1)
				return &cached{}, nil
			})
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Equal(t, int64(4), computed.Load())
}

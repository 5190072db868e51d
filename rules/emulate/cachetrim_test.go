package emulate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// putFile writes a file that was last used so long before now.
func putFile(t *testing.T, path string, bytes int, now time.Time, ago time.Duration) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, make([]byte, bytes), 0o644))
	require.NoError(t, os.Chtimes(path, now.Add(-ago), now.Add(-ago)))
}

func entryName(dir string, n int) string {
	key := fmt.Sprintf("%02x%062x", n, n)
	return filepath.Join(dir, key[:2], key+".json")
}

// TestTrimCache removes what was not used for longest, and nothing that is no entry.
func TestTrimCache(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	for n := range 10 {
		putFile(t, entryName(dir, n), 100, now, time.Duration(n)*24*time.Hour)
	}
	foreign := []string{"thesis.json", "ab/thesis.json", "ab/" + strings.Repeat("z", 64) + ".json", "src/" + strings.Repeat("0", 64) + ".json"}
	for _, name := range foreign {
		putFile(t, filepath.Join(dir, name), 10_000, now, 1000*time.Hour)
	}
	require.NoError(t, os.Symlink("/etc/hostname", entryName(dir, 99)[:len(dir)+3]))
	writing, left := filepath.Join(dir, "00", ".new-1"), filepath.Join(dir, "00", ".new-2")
	putFile(t, writing, 100, now, time.Minute)
	putFile(t, left, 100, now, 2*time.Hour)

	there := func() (list []int) {
		for n := range 10 {
			if _, err := os.Stat(entryName(dir, n)); err == nil {
				list = append(list, n)
			}
		}
		return list
	}
	trimCache(dir, 1000, now)
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, there(), "they fit")
	assert.NoFileExists(t, left)
	trimCache(dir, 800, now)
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 6}, there())
	trimCache(dir, 0, now)
	assert.Empty(t, there())
	for _, name := range foreign {
		assert.FileExists(t, filepath.Join(dir, name))
	}
	assert.FileExists(t, writing)
	trimCache(filepath.Join(dir, "nowhere"), 0, now)
}

// TestCacheStaysSmall fills a cache from many processes at the same time: it stays near
// its bound, and every value is right.
func TestCacheStaysSmall(t *testing.T) {
	dir := t.TempDir()
	const most, processes, values = 64 << 10, 4, 200
	var all sync.WaitGroup
	for range processes {
		k := New(Options{CacheDir: dir, CacheBytes: most})
		all.Go(func() {
			for n := range values {
				v, err := remember(k, "test", n, func() (*cached, error) {
					return &cached{Words: []string{strings.Repeat("x", 1000)}, N: int64(n)}, nil
				})
				assert.NoError(t, err)
				assert.EqualValues(t, n, v.N)
			}
		})
	}
	all.Wait()
	_, total := cacheEntries(dir, time.Now())
	assert.Greater(t, total, int64(most/2))
	assert.LessOrEqual(t, total, int64(most+processes*most/trimParts+processes*2000))
}

// TestCacheUseIsNoted: what is read is as good as new.
func TestCacheUseIsNoted(t *testing.T) {
	dir := t.TempDir()
	ask := func(n int) (computed bool) {
		k := New(Options{CacheDir: dir, CacheBytes: 1 << 20})
		_, err := remember(k, "test", n, func() (*cached, error) { computed = true; return &cached{}, nil })
		require.NoError(t, err)
		return computed
	}
	require.True(t, ask(1))
	old := time.Now().Add(-48 * time.Hour)
	file := entryFile(t, dir)
	require.NoError(t, os.Chtimes(file, old, old))
	require.False(t, ask(1))
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Greater(t, info.ModTime(), old.Add(24*time.Hour))
}

// TestCacheLooksSeldom: a process that writes little looks at the directory where nobody
// did for long, and else not.
func TestCacheLooksSeldom(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	unused := entryName(dir, 1)
	store := func(what string) {
		k := New(Options{CacheDir: dir, CacheBytes: 4000})
		_, err := remember(k, "test", what, func() (*cached, error) { return &cached{}, nil })
		require.NoError(t, err)
	}
	store("first") // looks, and marks it
	putFile(t, unused, 5000, now, 1000*time.Hour)
	store("second")
	assert.FileExists(t, unused)
	putFile(t, filepath.Join(dir, trimMark), 0, now, 2*time.Hour)
	store("third")
	assert.NoFileExists(t, unused)
}

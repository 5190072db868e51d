package emulate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// DefaultCacheBytes is about what the cache directory holds where nothing else is said.
const DefaultCacheBytes = 512 << 20

const (
	// trimParts is how often a process that writes looks at the whole directory: each
	// time it has written this part of what may lie there.
	trimParts = 8
	// trimEvery is how long one process's look is good for others that write little.
	trimEvery = time.Hour
	// usedEvery is how exact the time of an entry's last use is kept.
	usedEvery = time.Hour
	// abandoned is the age at which a file that was being written is nobody's any more.
	abandoned = time.Hour

	trimMark = "trimmed" // its time is that of the last look
	newEntry = ".new-"   // begins the names of files that are being written
)

// cacheTrim keeps the cache directory to a size, by removing what was not used for
// longest. Many processes may do so at the same time: an entry that is gone is computed
// again, and one that is being read stays readable.
type cacheTrim struct {
	most int64 // bytes; 0: as many as there are

	mu      sync.Mutex
	written int64 // since the last look
	looked  bool
}

// used notes that an entry was of use: its time is that of its last use.
func (c *cacheTrim) used(path string, info fs.FileInfo) {
	if now := time.Now(); c.most > 0 && now.Sub(info.ModTime()) > usedEvery {
		os.Chtimes(path, now, now) // where it fails, the entry goes early
	}
}

// wrote counts what was written, and trims the directory where it is time to.
func (c *cacheTrim) wrote(dir string, bytes int64) {
	if c.most <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written += bytes
	if c.written < c.most/trimParts && (c.looked || !c.due(dir)) {
		c.looked = true
		return
	}
	c.written, c.looked = 0, true
	if os.WriteFile(filepath.Join(dir, trimMark), nil, 0o644) == nil {
		trimCache(dir, c.most, time.Now())
	}
}

// due reports whether nobody has looked at the directory for long.
func (c *cacheTrim) due(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, trimMark))
	return err != nil || time.Since(info.ModTime()) > trimEvery
}

// trimCache removes entries until all together have seven eighths of most bytes, where
// they have more than most. Files that are no entries are left alone: a user may have
// named any directory.
func trimCache(dir string, most int64, now time.Time) {
	entries, total := cacheEntries(dir, now)
	if total <= most {
		return
	}
	slices.SortFunc(entries, func(a, b cacheEntry) int { return a.used.Compare(b.used) })
	for _, e := range entries {
		if total <= most-most/trimParts {
			return
		}
		// What another process removed meanwhile is gone all the same: it would trim too
		// much to remove another entry in its place.
		if err := os.Remove(e.path); err == nil || errors.Is(err, fs.ErrNotExist) {
			total -= e.size
		}
	}
}

// cacheEntry is an entry's file.
type cacheEntry struct {
	path string
	size int64
	used time.Time
}

// cacheEntries lists the entries of a directory with their size together, and removes
// what was left half written.
func cacheEntries(dir string, now time.Time) (entries []cacheEntry, total int64) {
	folders, _ := os.ReadDir(dir)
	for _, folder := range folders {
		if !folder.IsDir() || !isHex(folder.Name(), 2) {
			continue
		}
		files, _ := os.ReadDir(filepath.Join(dir, folder.Name()))
		for _, file := range files {
			path := filepath.Join(dir, folder.Name(), file.Name())
			info, err := file.Info()
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			key, isEntry := strings.CutSuffix(file.Name(), ".json")
			switch {
			case isEntry && isHex(key, 64):
				entries = append(entries, cacheEntry{path, info.Size(), info.ModTime()})
				total += info.Size()
			case strings.HasPrefix(file.Name(), newEntry) && now.Sub(info.ModTime()) > abandoned:
				os.Remove(path)
			}
		}
	}
	return entries, total
}

// isHex reports whether s is n digits of a digest.
func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}

package emulate

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"aliascheck/rules/ptx"
)

// cacheFormat names the layout of entries and the meaning of what is in them. A
// change of either gets another name.
const cacheFormat = "aliascheck-cache-4"

// maxCacheEntry bounds an entry that is read or written, in bytes.
const maxCacheEntry = 64 << 20

// memo remembers what was computed: in memory for one run, and in files below dir
// across runs, where dir is not empty. An entry's file is named by the digest of
// everything that it depends on, and begins with the digest of what follows.
type memo struct {
	dir     string
	version string
	secret  []byte    // known to this user alone: who does not know it can make no entry
	entries *sync.Map // key: value
	trim    *cacheTrim
}

// newMemo remembers in dir, and keeps about most bytes there. A directory that others may
// write to, or that has no secret of ours, remembers nothing.
func newMemo(dir, version string, most int64) memo {
	m := memo{dir: dir, version: version, entries: new(sync.Map), trim: &cacheTrim{most: most}}
	if dir != "" {
		if m.secret = secretOf(dir); m.secret == nil {
			m.dir = ""
		}
	}
	return m
}

// key is the digest of everything that a value depends on.
func (m memo) key(kind string, inputs any) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%x\n", cacheFormat, m.version, kind, m.secret)
	if err := json.NewEncoder(h).Encode(inputs); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (m memo) path(key string) string { return filepath.Join(m.dir, key[:2], key+".json") }

// header is the first line of an entry's file.
func (m memo) header(key string, payload []byte) []byte {
	sum := hmac.New(sha256.New, m.secret)
	sum.Write(payload)
	return fmt.Appendf(nil, "%s %s %x\n", cacheFormat, key, sum.Sum(nil))
}

// load reads an entry into value, and reports false where there is none, or one
// that is cut, changed, or another's.
func (m memo) load(key string, value any) bool {
	if m.dir == "" {
		return false
	}
	data, info, err := readOurs(m.path(key), maxCacheEntry)
	if err != nil {
		return false
	}
	line := bytes.IndexByte(data, '\n')
	if line < 0 || !hmac.Equal(data[:line+1], m.header(key, data[line+1:])) {
		return false
	}
	if json.Unmarshal(data[line+1:], value) != nil {
		return false
	}
	m.trim.used(m.path(key), info)
	return true
}

// store writes an entry: whole or not at all, also where others write it at the
// same time. A cache that cannot be written is no error: the next run computes again.
func (m memo) store(key string, value any) {
	if m.dir == "" {
		return
	}
	payload, err := json.Marshal(value)
	if err != nil || len(payload) > maxCacheEntry {
		return
	}
	path := m.path(key)
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil || !ours(filepath.Dir(path)) {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), newEntry+"*")
	if err != nil {
		return
	}
	entry := append(m.header(key, payload), payload...)
	_, err = f.Write(entry)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return
	}
	m.trim.wrote(m.dir, int64(len(entry)))
}

// perishable is a value that may not be kept: it was computed under conditions
// that another run need not have, such as a deadline that passed.
type perishable interface{ Perishes() bool }

// remember computes a value once: equal inputs meet in memory, in the cache
// directory, or wait for the one that computes. Values are shared: do not change them.
func remember[T any](k *Engine, kind string, inputs any, compute func() (*T, error)) (*T, error) {
	key, err := k.memory.key(kind, struct {
		Budget ptx.Budget
		Sample int
		Inputs any
	}{k.opts.Budget, k.opts.SampleBlocks, inputs})
	if err != nil {
		return nil, err
	}
	v, err, _ := k.flight.Do(key, func() (any, error) {
		if v, ok := k.memory.entries.Load(key); ok {
			return v, nil
		}
		value := new(T)
		if !k.memory.load(key, value) {
			var err error
			if value, err = compute(); err != nil {
				return nil, err
			}
			if p, ok := any(value).(perishable); !ok || !p.Perishes() {
				k.memory.store(key, value)
			}
		}
		k.memory.entries.Store(key, value)
		return value, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*T), nil
}

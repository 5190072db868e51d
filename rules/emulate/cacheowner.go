package emulate

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"aliascheck/hlo"
)

// What the cache remembers decides verdicts. An entry counts only where nobody else can
// have written it: it, the secret and their directories belong to this user, and no other
// may write there. Code that runs as this user is not kept out by any of it.

const (
	secretName  = "secret"
	secretBytes = 32
)

// secretOf reads the secret of a cache directory, and makes one where there is none; nil
// where the directory is not ours alone.
func secretOf(dir string) []byte {
	if os.MkdirAll(dir, 0o700) != nil || !ours(dir) {
		return nil
	}
	path := filepath.Join(dir, secretName)
	for range 2 {
		secret, info, err := readOurs(path, secretBytes)
		switch {
		case err == nil && len(secret) == secretBytes && info.Mode().Perm()&0o077 == 0:
			return secret
		case err == nil || !errors.Is(err, fs.ErrNotExist):
			return nil // somebody else's, or damaged: no entry can be believed
		}
		if makeSecret(path) != nil {
			return nil
		}
	}
	return nil
}

// makeSecret writes a new secret, whole or not at all. Where two processes make one, the
// first stays.
func makeSecret(path string) error {
	secret := make([]byte, secretBytes)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), newEntry+"*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(secret)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// ours reports whether a directory belongs to this user and nobody else may write there.
func ours(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && mine(info)
}

// mine reports whether a file belongs to this user, and only this user may write it.
func mine(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

// errNotOurs is a file that another may have written, or that is too long to be ours.
const errNotOurs = cacheError("not a file of this user's alone")

type cacheError string

func (e cacheError) Error() string { return string(e) }

// readOurs reads a file of at most limit bytes that this user alone may write, in a
// directory of which the same holds.
func readOurs(path string, limit int64) ([]byte, fs.FileInfo, error) {
	f, size, err := hlo.OpenRegular(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if size > limit || !mine(info) || !ours(filepath.Dir(path)) {
		return nil, nil, errNotOurs
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	return data, info, err
}

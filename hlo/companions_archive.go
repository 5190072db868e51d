package hlo

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
)

// shelf is what companions stand on: a directory, or a folder of an archive.
type shelf interface {
	// list names the files and those of the folders below, one level deep, in order.
	list() ([]string, error)
	read(name string, most int64) ([]byte, error)
}

// archivedFiles are the files of an archive that somebody may ask for beside its modules:
// an archive is walked once for all of them, the first time that one is asked for.
type archivedFiles struct {
	path   string
	limits Limits

	once  sync.Once
	names []string          // of all members, in order
	data  map[string][]byte // of those that are kept
	left  int64             // bytes that may still be kept
	err   error
}

// maxArchivedBytes bounds what is kept of one archive. Only what compilers write of
// kernels is kept: see isCompanion.
const maxArchivedBytes = 512 << 20

// isCompanion says of a member by its name that a decoder of kernels may ask for it.
func isCompanion(name string) bool {
	for _, suffix := range [...]string{".ptx", ".log", ".thunk_metadata.txt", ".thunk_metadata.pb", ".thunk_sequence.txt"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// load walks the archive.
func (a *archivedFiles) load() {
	a.data, a.left = map[string][]byte{}, min(maxArchivedBytes, a.limits.ArchiveBytes)
	f := &finder{limits: a.limits, stopped: true} // it is to find nothing
	walk, err := f.opener(a.path)
	if err != nil || walk == nil {
		a.err = err
		return
	}
	a.err = walk(func(name string, in io.Reader) error {
		if in == nil {
			return nil
		}
		a.names = append(a.names, name)
		if !isCompanion(name) {
			return nil
		}
		data, err := io.ReadAll(io.LimitReader(in, a.left+1))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if a.left -= int64(len(data)); a.left < 0 {
			return fmt.Errorf("%s: more than %d bytes of files beside modules", name, maxArchivedBytes)
		}
		a.data[name] = data
		return nil
	})
	slices.Sort(a.names)
}

// archiveFolder is a folder of an archive.
type archiveFolder struct {
	files  *archivedFiles
	prefix string // of its members' names: empty, or ending in a slash
}

func newArchiveFolder(files *archivedFiles, member string) *archiveFolder {
	dir, _ := path.Split(member)
	return &archiveFolder{files: files, prefix: dir}
}

func (a *archiveFolder) list() ([]string, error) {
	a.files.once.Do(a.files.load)
	if a.files.err != nil {
		return nil, a.files.err
	}
	var out []string
	first, _ := slices.BinarySearch(a.files.names, a.prefix)
	for _, name := range a.files.names[first:] {
		rest, ok := strings.CutPrefix(name, a.prefix)
		if !ok {
			break
		}
		if strings.Count(rest, "/") <= 1 {
			out = append(out, rest)
		}
	}
	return out, nil
}

func (a *archiveFolder) read(name string, most int64) ([]byte, error) {
	a.files.once.Do(a.files.load)
	data, ok := a.files.data[a.prefix+name]
	switch {
	case a.files.err != nil:
		return nil, a.files.err
	case !ok:
		return nil, fmt.Errorf("%s: not among the files that are read of an archive", name)
	case int64(len(data)) > most:
		return nil, fmt.Errorf("%s: %d bytes, over the limit of %d", name, len(data), most)
	}
	return slices.Clone(data), nil
}

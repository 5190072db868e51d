package hlo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Companions are the files that lie beside a module: what XLA wrote of it besides, and
// what others put there. Nothing is opened, and no folder listed, before it is asked
// for. The zero Companions have no files. It may be used by several goroutines.
type Companions struct {
	path    string // the module's
	entries int    // how many files are looked at
	folder  *folder
	archive *archiveFolder // that they lie in, nil: in none

	// archived: they lie in an archive that cannot be walked again.
	archived bool
}

// Prefix is what the names of the module's own files begin with, up to the stage:
// "module_0001.jit_step"; empty where the module's file is not named so.
func (c Companions) Prefix() string {
	name := path.Base(filepath.ToSlash(c.path))
	if !strings.HasPrefix(name, "module_") {
		return ""
	}
	return classify(name).module
}

// Names lists the companions whose names begin with prefix, in order. Names have no
// folder, but for those of folders beside the module, one level deep: FOLDER/NAME.
func (c Companions) Names(prefix string) ([]string, error) {
	f, err := c.beside()
	if err != nil {
		return nil, err
	}
	names, err := f.list()
	if err != nil {
		return nil, err
	}
	first, _ := slices.BinarySearch(names, prefix)
	end := first
	for end < len(names) && strings.HasPrefix(names[end], prefix) {
		end++
	}
	return names[first:end:end], nil
}

// Read returns a companion's bytes: an error where it has more than most, or is no
// regular file.
func (c Companions) Read(name string, most int64) ([]byte, error) {
	f, err := c.beside()
	if err != nil {
		return nil, err
	}
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("%s: not beside the module", name)
	}
	return f.read(name, most)
}

// beside is the folder that the module lies in.
func (c Companions) beside() (shelf, error) {
	switch {
	case c.archive != nil:
		return c.archive, nil
	case c.archived, c.path == "":
		return nil, errNoCompanions
	case c.folder != nil:
		return c.folder, nil
	}
	return &folder{path: filepath.Dir(c.path), most: c.entries}, nil
}

// folder is a directory that modules lie in. All of them share its listing.
type folder struct {
	path  string
	most  int // entries
	once  sync.Once
	names []string
	err   error
}

// list lists the folder's files and those of the folders in it, once.
func (f *folder) list() ([]string, error) {
	f.once.Do(func() {
		f.err = f.add("")
		slices.Sort(f.names)
	})
	return f.names, f.err
}

// add lists what is in the folder, or in the folder below it.
func (f *folder) add(below string) error {
	entries, err := os.ReadDir(filepath.Join(f.path, below))
	if err != nil {
		return bare(err)
	}
	for _, entry := range entries {
		if len(f.names) == f.most {
			return fmt.Errorf("more than %d files", f.most)
		}
		name := entry.Name()
		if below != "" {
			name = below + "/" + name
		}
		if !entry.IsDir() {
			f.names = append(f.names, name)
		} else if below == "" {
			if err := f.add(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// read reads a file of the folder.
func (f *folder) read(name string, most int64) ([]byte, error) {
	path := filepath.Join(f.path, filepath.FromSlash(name))
	if err := f.holds(path); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	file, size, err := openRegular(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer file.Close()
	if size > most {
		return nil, fmt.Errorf("%s: %d bytes, over the limit of %d", name, size, most)
	}
	data, err := readWhole(nil, io.Reader(file), size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// holds refuses a link that leads out of the folder: a dump can come from a stranger.
func (f *folder) holds(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return bare(err)
	}
	if info.Mode().IsRegular() && filepath.Dir(path) == filepath.Clean(f.path) {
		return nil
	}
	here, err := realPath(f.path)
	if err != nil {
		return bare(err)
	}
	there, err := realPath(path)
	if err != nil {
		return bare(err)
	}
	if !within(here, there) {
		return errors.New("a link that leads out of the module's folder")
	}
	return nil
}

// companions are the files beside a source. Those of a folder's modules share what is
// known of the folder.
func (s *Source) companions(entries int) Companions {
	return Companions{path: s.Path, entries: entries, folder: s.folder, archive: s.archive, archived: s.member != nil}
}

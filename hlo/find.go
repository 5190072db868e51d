package hlo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Find yields the modules that the paths hold: dump directories, single files of proto
// or text, and tar and zip archives, told by what they hold and not only by their
// names. In place of a module that is not whole or cannot be read it yields an error,
// with the path in the Source; so it does for a path without any module. The order is
// that of the paths, then of the names.
//
// Members of archives are read while they are found; each Source holds its own.
func Find(paths []string, limits Limits) iter.Seq2[Source, error] {
	return func(yield func(Source, error) bool) {
		for _, path := range paths {
			f := &finder{limits: limits.orDefault(), yield: yield, folders: map[string]bool{}}
			f.path(path)
			if f.found == 0 && !f.stopped {
				f.fail(path, errNothing)
			}
			if f.stopped {
				return
			}
		}
	}
}

// finder walks what one path names.
type finder struct {
	limits  Limits
	yield   func(Source, error) bool
	stopped bool            // the consumer wants no more, or a limit is reached
	found   int             // what was yielded
	entries int             // what was looked at
	depth   int             // of the folder being looked at
	folders map[string]bool // real paths: links can make cycles
	root    string          // real path of the folder that the user named
}

// give yields a module.
func (f *finder) give(src Source) {
	f.found++
	if !f.stopped {
		f.stopped = !f.yield(src, nil)
	}
}

// fail yields what should have been a module.
func (f *finder) fail(path string, err error) {
	f.found++
	if !f.stopped {
		f.stopped = !f.yield(Source{Path: path}, bare(err))
	}
}

// path looks at what the user named.
func (f *finder) path(path string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		f.fail(path, err)
	case info.IsDir():
		if f.root, err = realPath(path); err != nil {
			f.fail(path, err)
			return
		}
		f.folder(path)
	default:
		f.single(path)
	}
}

// single looks at a file that the user named: it counts even where its like is passed
// over in a folder.
func (f *finder) single(path string) {
	head, err := readHead(path)
	if err != nil {
		f.fail(path, err)
		return
	}
	name := file{name: filepath.Base(path)}
	name.sniff(head)
	stem, _ := strings.CutSuffix(path, ".txt")
	switch name.kind {
	case archive:
		f.archive(path)
	case text, earlier:
		f.pair(path, path, stem+assignmentSuffix+".txt", errNoAssignmentText)
	case assignment:
		f.pair(path, strings.TrimSuffix(stem, assignmentSuffix)+".txt", path, errNoModuleText)
	case proto:
		f.give(Source{Path: path})
	default:
		if classify(name.name).kind != proto {
			f.fail(path, errNoDump)
			return
		}
		f.give(Source{Path: path}) // reading it says what is wrong with it
	}
}

// pair yields a text pair of which the user named one file; missing says that the other
// is not there.
func (f *finder) pair(named, module, assignment string, missing error) {
	src := Source{Path: module, Text: true, Assignment: assignment}
	list := strings.TrimSuffix(assignment, ".txt") + valuesSuffix + ".txt"
	for _, path := range [...]string{module, assignment, list} {
		_, err := os.Stat(path)
		switch {
		case path == named:
		case err == nil && leadsOut(path):
			f.fail(path, errLeadsOut)
			return
		case err == nil && path == list:
			src.Values = list
		case errors.Is(err, fs.ErrNotExist) && path != list:
			f.fail(named, missing)
			return
		}
	}
	f.give(src)
}

// leadsOut reports whether a file is a link out of its folder.
func leadsOut(path string) bool {
	folder, err := realPath(filepath.Dir(path))
	if err != nil {
		return true
	}
	real, err := realPath(path)
	return err != nil || !within(folder, real)
}

// folder looks at a folder's files, then at its folders.
func (f *finder) folder(path string) {
	real, err := realPath(path)
	if err != nil {
		f.fail(path, err)
		return
	}
	if f.folders[real] {
		return
	}
	f.folders[real] = true
	entries, err := os.ReadDir(path)
	if err != nil {
		f.fail(path, err) // what was read of it is looked at all the same
	}
	files := make([]file, 0, len(entries))
	var folders []string
	prefix := prefixOf(path)
	for _, entry := range entries {
		if f.entries++; f.entries > f.limits.Entries {
			f.fail(path, fmt.Errorf("more than %d files and folders", f.limits.Entries))
			f.stopped = true
		}
		if f.stopped {
			return
		}
		full := prefix + entry.Name()
		mode, err := f.modeOf(full, entry)
		switch {
		case err != nil:
			f.fail(full, err)
		case mode.IsDir():
			folders = append(folders, full)
		case !mode.IsRegular():
			if k := classify(entry.Name()).kind; k != noise && k != unknown && k != values {
				f.fail(full, errNotRegular)
			}
		default:
			if file, err := identify(full, entry.Name()); err != nil {
				f.fail(full, err)
			} else {
				files = append(files, file)
			}
		}
	}
	f.parts(path, files)
	if f.depth++; f.depth > maxFolderDepth && len(folders) > 0 {
		f.fail(path, fmt.Errorf("folders nest more than %d deep", maxFolderDepth))
		folders = nil
	}
	for _, folder := range folders {
		f.folder(folder)
	}
	f.depth--
}

// prefixOf is what filepath.Join puts before a name in a folder.
func prefixOf(folder string) string { return strings.TrimSuffix(filepath.Join(folder, "x"), "x") }

// maxFolderDepth bounds how deep folders are followed: every level costs a walk from
// the root.
const maxFolderDepth = 100

// parts yields what the files of one folder amount to, archives among them.
func (f *finder) parts(path string, files []file) {
	parts := group(files)
	for _, file := range files {
		if file.kind == archive {
			parts = append(parts, part{name: file.name, archive: true})
		}
	}
	slices.SortStableFunc(parts, func(x, y part) int { return strings.Compare(x.name, y.name) })
	prefix := prefixOf(path)
	shared := &folder{path: path, most: f.limits.Entries}
	for _, p := range parts {
		full := prefix + p.name
		switch {
		case f.stopped:
			return
		case p.err != nil:
			f.fail(full, p.err)
		case p.archive:
			f.archive(full)
		case p.text:
			src := Source{Path: full, Text: true, Assignment: prefix + p.assignment, folder: shared}
			if p.values != "" {
				src.Values = prefix + p.values
			}
			f.give(src)
		default:
			f.give(Source{Path: full, folder: shared})
		}
	}
}

// modeOf is what an entry is, or what its link points at. A link out of the dump is not
// followed: whoever made the dump would choose what is read of this machine. One whose
// name says that nobody reads it may lead anywhere.
func (f *finder) modeOf(path string, entry fs.DirEntry) (fs.FileMode, error) {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.Type(), nil
	}
	if classify(entry.Name()).kind == noise {
		return fs.ModeIrregular, nil
	}
	real, err := realPath(path)
	if err != nil {
		return 0, fmt.Errorf("link leads nowhere: %w", bare(err))
	}
	if !within(f.root, real) {
		return 0, errLeadsOut
	}
	info, err := os.Lstat(real)
	if err != nil {
		return 0, fmt.Errorf("link leads nowhere: %w", bare(err))
	}
	return info.Mode(), nil
}

// realPath is a path from the root of the file system, without links.
func realPath(path string) (string, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(full)
}

// within reports whether a real path is a folder's or of something in it.
func within(folder, path string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(folder, string(filepath.Separator)))
}

// identify tells what a file of a folder is, by its name or else by its first bytes.
func identify(path, name string) (file, error) {
	f := classify(name)
	if f.kind != unknown {
		return f, nil
	}
	head, err := readHead(path)
	if err != nil {
		return f, err
	}
	f.sniff(head)
	return f, nil
}

// readHead reads a file's first bytes.
func readHead(path string) ([]byte, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, sniffBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, bare(err)
	}
	return slices.Clip(head[:n]), nil
}

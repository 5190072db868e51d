// Package source reads single lines of the Python files that a report names.
//
// In: a file, a line and a function as a dump has them. Out: the line's text, and where
// the file lies. A dump can come from anybody, and names any file that it likes: what is
// read is source code by its name, a regular file, of bounded size, below one of the
// roots or in an installed package; nothing else of the machine gets into a report.
package source

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxFile  = 4 << 20 // bytes of one file
	maxFiles = 256     // files that are kept
	maxTries = 12      // path components that are tried below each root
)

// Files reads lines of files below its roots. It is not for several goroutines.
type Files struct {
	roots []string
	read  map[string]*File
	names map[string]*File // by what a dump calls it, and the function
}

// File is one file that was found; Lines[0] is line 1.
type File struct {
	Path  string // absolute
	Lines []string
}

// New reads below these directories; those that do not exist are left out.
func New(roots ...string) *Files {
	f := &Files{read: map[string]*File{}, names: map[string]*File{}}
	for _, root := range roots {
		if abs, err := filepath.Abs(root); err == nil {
			if real, err := filepath.EvalSymlinks(abs); err == nil && !slices.Contains(f.roots, real) {
				f.roots = append(f.roots, real)
			}
		}
	}
	return f
}

// Line returns a line of a file, without the blanks around it, and the file's path. The
// function is that of the line where it is known: a file of another checkout, which is
// found by the end of its name, must define it.
func (f *Files) Line(file string, line int, function string) (text, path string, ok bool) {
	found := f.Find(file, function)
	if found == nil || line < 1 || line > len(found.Lines) {
		return "", "", false
	}
	text = strings.TrimSpace(found.Lines[line-1])
	return text, found.Path, text != ""
}

// Lines returns all lines of a file, and its path as people write it: relative to the
// working directory where it lies below. It returns nil where the file is not here.
func (f *Files) Lines(file, function string) (lines []string, path string) {
	if found := f.Find(file, function); found != nil {
		return found.Lines, Relative(found.Path)
	}
	return nil, ""
}

// Find returns the file that a dump names so; nil where it is not here.
func (f *Files) Find(file, function string) *File {
	if f == nil || file == "" || !isSource(file) {
		return nil
	}
	key := file + "\x00" + function
	if found, ok := f.names[key]; ok {
		return found
	}
	if len(f.names) >= 16*maxFiles {
		clear(f.names)
	}
	found := f.find(filepath.ToSlash(file), function)
	f.names[key] = found
	return found
}

func (f *Files) find(file, function string) *File {
	if filepath.IsAbs(file) {
		if found := f.open(file); found != nil {
			return found
		}
	}
	parts := strings.Split(strings.Trim(file, "/"), "/")
	for n := max(0, len(parts)-maxTries); n < len(parts); n++ {
		for _, root := range f.roots {
			found := f.open(filepath.Join(root, filepath.Join(parts[n:]...)))
			if found != nil && found.defines(function) {
				return found
			}
		}
	}
	return nil
}

// open reads a file that may be read.
func (f *Files) open(path string) *File {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !isSource(real) || !f.allowed(real) {
		return nil
	}
	if found, ok := f.read[real]; ok {
		return found
	}
	if len(f.read) >= maxFiles {
		clear(f.read)
	}
	found := &File{Path: real, Lines: readLines(real)}
	if found.Lines == nil {
		found = nil
	}
	f.read[real] = found
	return found
}

// Relative is a path as people write it: relative to the working directory where it
// lies below that.
func Relative(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(here); err == nil {
		here = real
	}
	if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// isSource knows source code by its name.
func isSource(path string) bool {
	switch filepath.Ext(path) {
	case ".py", ".pyi", ".cu", ".cuh":
		return true
	}
	return false
}

// allowed reports whether a file lies below a root, or in an installed package.
func (f *Files) allowed(path string) bool {
	for _, root := range f.roots {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	slashed := filepath.ToSlash(path)
	return strings.Contains(slashed, "/site-packages/") || strings.Contains(slashed, "/dist-packages/")
}

// readLines returns nil for what is no text file of a sensible size.
func readLines(path string) []string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil
	}
	in, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxFile))
	if err != nil || !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	return strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
}

// defines reports whether a file defines a function: what a dump calls <module> or
// <lambda> any file may have.
func (f *File) defines(function string) bool {
	if function == "" || strings.HasPrefix(function, "<") {
		return true
	}
	name := function[strings.LastIndexByte(function, '.')+1:] // a method's, without its class
	if name == "<lambda>" || name == "<module>" {
		return true
	}
	def := regexp.MustCompile(`\b(def|void)\s+` + regexp.QuoteMeta(name) + `\b`)
	return slices.ContainsFunc(f.Lines, def.MatchString)
}

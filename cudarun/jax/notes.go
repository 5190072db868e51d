package jax

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// notesSuffix, after the name of a process's dump directory, names what it noted of its
// targets: `aliascheck run` has each process write that (python/aliascheck_targets.py of
// package runner).
const notesSuffix = ".targets.jsonl"

// Limits of notes.
const (
	maxNotes     = 10000
	maxNoteBytes = 64 << 10
)

// Registration says which module registered a target.
type Registration struct {
	Target   string `json:"target"`
	Platform string `json:"platform"`
	Module   string `json:"module"`
	File     string `json:"file"`
}

// ReadNotes reads what the process that dumped a module noted of its targets. A line
// that is none, as a killed process may leave, is passed over; without notes there are
// none.
func ReadNotes(modulePath string) []Registration {
	f, err := os.Open(filepath.Dir(modulePath) + notesSuffix)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	var list []Registration
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxNoteBytes)
	for lines.Scan() && len(list) < maxNotes {
		var r Registration
		if json.Unmarshal(lines.Bytes(), &r) == nil && r.Target != "" && r.Module != "" {
			list = append(list, r)
		}
	}
	return list
}

// importsOf is what a worker has to import before it can make a call of this target.
func importsOf(notes []Registration, target string) (modules, paths []string) {
	for _, r := range notes {
		if r.Target != target {
			continue
		}
		if r.Module == "__main__" {
			continue // a program, not a module: importing it would run it
		}
		modules = append(modules, r.Module)
		if r.File != "" {
			paths = append(paths, importPath(r))
		}
	}
	return modules, paths
}

// builtin is what registers targets of JAX's own that are not there from the start:
// nothing of the user's runs by importing it.
func builtin(target string) []string {
	switch {
	case strings.HasPrefix(target, "triton_kernel_call"):
		return []string{"jaxlib.gpu_triton"}
	case strings.HasPrefix(target, "mosaic_gpu"):
		return []string{"jax.experimental.mosaic.gpu"}
	}
	return nil
}

// importPath is the directory from which a module of this file has this name.
func importPath(r Registration) string {
	dir := filepath.Dir(r.File)
	if filepath.Base(r.File) == "__init__.py" {
		dir = filepath.Dir(dir)
	}
	for _, c := range r.Module {
		if c == '.' {
			dir = filepath.Dir(dir)
		}
	}
	return dir
}

package runner

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// module is one compiled program in a dump directory: the files
// NUMBER.NAME.STAGE of one NUMBER and NAME.
type module struct {
	prefix string // module_0012.jit_f
	number int
	dir    string

	file  string // base name of ….after_optimizations.hlo.pb, empty while there is none
	later bool   // XLA has written a file that it writes after that one

	size    int64
	changed time.Time
	steady  int // polls in a row that saw the same size and time

	audited  bool
	findings bool
	failure  error // of the last attempt to read it
	rewrites int   // how often another process wrote over an audited file
}

func (m *module) path() string { return filepath.Join(m.dir, m.file) }

// stages takes XLA's file names apart.
type stages struct {
	after *regexp.Regexp
}

func newStages() stages {
	// sm_9.0a_gpu_after_optimizations, cpu_after_optimizations: a platform with a
	// version has a dot of its own.
	return stages{regexp.MustCompile(`\.(?:sm_\d+\.\w*?_)?[^.]*after_optimizations\.hlo\.pb$`)}
}

// parse returns a name's module number, -1 where it is no file of a module, and
// the module's prefix where the name is of a stage that tells it.
func (s stages) parse(name string) (number int, prefix string, final bool) {
	number = moduleNumber(name)
	if number < 0 || !strings.HasSuffix(name, "_optimizations.hlo.pb") {
		return number, "", false
	}
	if p, ok := strings.CutSuffix(name, ".before_optimizations.hlo.pb"); ok {
		return number, p, false
	}
	if at := s.after.FindStringIndex(name); at != nil {
		return number, name[:at[0]], true
	}
	return number, "", false
}

// moduleNumber is the number in module_NUMBER.NAME.STAGE, before which a time may
// stand; -1 where there is none.
func moduleNumber(name string) int {
	head, rest, found := strings.Cut(name, "module_")
	digits, _, ended := strings.Cut(rest, ".")
	if !found || !ended || head != "" && strings.Trim(head, "0123456789") != "." {
		return -1
	}
	number, err := strconv.ParseUint(digits, 10, strconv.IntSize-1)
	if err != nil {
		return -1
	}
	return int(number)
}

// owns reports whether a file of the directory belongs to the module.
func (m *module) owns(name string) bool {
	rest, ok := strings.CutPrefix(name, m.prefix)
	return ok && (rest == "" || rest[0] == '.')
}

// isLater reports whether XLA writes the file after the module's final stage: the
// options and the object files (seen on CPU), and the thunks, which are made from the
// final stage.
func (m *module) isLater(name string) bool {
	rest := strings.TrimPrefix(name, m.prefix)
	// XLA for GPUs writes its options before it compiles the kernels.
	return rest == ".debug_options" && !strings.Contains(m.file, "_gpu_") || strings.HasSuffix(rest, "thunk_sequence.txt") || strings.HasSuffix(rest, ".o")
}

// look takes in the state of the final file. A file that changes after it was
// audited was written by another process: it is audited again.
func (m *module) look(info fs.FileInfo) {
	if info.Size() == m.size && info.ModTime().Equal(m.changed) {
		m.steady++
		return
	}
	if m.audited {
		m.rewrites++
		m.audited, m.failure = false, nil
	}
	m.size, m.changed, m.steady = info.Size(), info.ModTime(), 0
}

// settled reports whether the final file can be taken to be whole while its
// process lives.
func (m *module) settled() bool {
	return m.file != "" && m.size > 0 && m.steady >= 1 && (m.later || m.steady >= 6)
}

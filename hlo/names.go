package hlo

import (
	"path/filepath"
	"strings"
)

// kind is what a file of a dump directory is.
type kind uint8

const (
	noise      kind = iota // nothing that an audit needs
	unknown                // the name does not say
	proto                  // HloProto of the optimized module
	text                   // the optimized module as text
	assignment             // its buffer assignment as text
	values                 // the list of the values that are used, beside the assignment
	earlier                // the module before optimization was done
	archive                // tar or zip, compressed or not
)

// file is a file of a dump directory, or a member of an archive.
type file struct {
	name string // without its folder
	kind kind
	// stem is what proto and text of one module have in common: the name up to and
	// with …after_optimizations.
	stem string
	// module is what all files of one module have in common: module_0001.jit_step.
	module string
}

// The parts of names that XLA's DumpHloModuleIfEnabled gives (xla/service/dump.cc).
const (
	optimized        = "after_optimizations"
	assignmentSuffix = "-buffer-assignment"
	valuesSuffix     = "-values"
	protoExtension   = ".hlo.pb"
)

// classify tells from a name what a file is.
func classify(name string) file {
	f := file{name: name, kind: unknown}
	base := strings.TrimSuffix(name, ".gz")
	if stem, ok := strings.CutSuffix(base, protoExtension); ok {
		f.kind = proto
		f.setStem(stem)
		if strings.HasPrefix(name, "module_") && !strings.HasSuffix(stem, optimized) {
			f.kind, f.module = earlier, moduleName(stem)
		}
		return f
	}
	if stem, ok := strings.CutSuffix(name, ".txt"); ok {
		f.classifyText(stem)
		return f
	}
	switch filepath.Ext(name) {
	case ".pbtxt", ".textproto", ".ll", ".ptx", ".cubin", ".o", ".s", ".dot", ".html", ".svg",
		".py", ".json", ".csv", ".md", ".log", ".mlir", ".npz", ".npy", ".whl", ".pkl", ".pt", ".jar", ".bc", ".yaml", ".c", ".cu", ".h", ".sh":
		f.kind = noise
	}
	if strings.HasSuffix(name, "debug_options") {
		f.kind = noise
	}
	return f
}

// classifyText is classify for what ends in .txt.
func (f *file) classifyText(stem string) {
	for _, part := range [...]struct {
		suffix string
		kind   kind
	}{{assignmentSuffix, assignment}, {assignmentSuffix + valuesSuffix, values}} {
		if of, ok := strings.CutSuffix(stem, part.suffix); ok {
			f.kind = part.kind
			f.setStem(of)
			return
		}
	}
	f.setStem(stem)
	switch {
	case strings.HasSuffix(stem, optimized):
		f.kind = text
	case strings.HasSuffix(stem, "-live-range"),
		strings.HasSuffix(stem, "thunk_sequence"), strings.HasSuffix(stem, "memory-usage-report"):
		f.kind = noise
	}
}

// setStem remembers the stem and takes the module's name from it.
func (f *file) setStem(stem string) { f.stem, f.module = stem, moduleName(stem) }

// moduleName is a stem without the stage: module_0001.jit_step of
// module_0001.jit_step.sm_9.0a_gpu_after_optimizations.
func moduleName(stem string) string {
	i := strings.LastIndexByte(stem, '.')
	if i < 0 {
		return stem
	}
	stage := stem[i+1:]
	stem = stem[:i]
	if stage == "" || stage[0] < '0' || stage[0] > '9' {
		return stem
	}
	// The platform has a dot of its own: sm_9.0a_gpu_….
	if j := strings.LastIndexByte(stem, '.'); j >= 0 && strings.HasPrefix(stem[j+1:], "sm_") {
		return stem[:j]
	}
	return stem
}

// sniffBytes is how much of a file tells what it is.
const sniffBytes = 512

// sniff tells from a file's first bytes what it is; f's name did not say.
func (f *file) sniff(head []byte) {
	s := string(head)
	switch {
	case isGzip(head), strings.HasPrefix(s, "PK\x03\x04"), strings.HasPrefix(s, "PK\x05\x06"),
		isTar(head):
		f.kind = archive
	case strings.HasPrefix(s, "HloModule "):
		f.kind = text
		if strings.HasPrefix(f.name, "module_") {
			f.kind = earlier
		}
	case strings.HasPrefix(s, "BufferAssignment:"):
		f.kind = assignment
	case looksLikeProto(head):
		f.kind = proto
	default:
		f.kind = noise
	}
	if f.stem == "" {
		f.stem, f.module = f.name, f.name
	}
}

// looksLikeProto reports whether data begins like an HloProto: a module of some
// length whose first fields are its name and its entry computation's.
func looksLikeProto(head []byte) bool {
	module := newFields(head)
	tag, p := module.numberAt(0)
	if tag != 1<<3|wireBytes {
		return false
	}
	_, module.start = module.numberAt(p) // it goes on beyond head
	name := module.first()
	entry := module.after(name)
	if name.tag != 1<<3|wireBytes || entry.tag != 2<<3|wireBytes {
		return false
	}
	for _, f := range [...]field{name, entry} {
		for _, b := range head[f.start:f.end] {
			if b < ' ' || b == 0x7f {
				return false
			}
		}
	}
	return true
}

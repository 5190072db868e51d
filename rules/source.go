package rules

import (
	"encoding/binary"
	"strconv"
	"strings"

	"aliascheck/hlo"
	"aliascheck/rules/intern"
)

// locator finds the Python line that a finding is about.
type locator struct {
	library []string // patterns of code that is not the user's
	srcRoot string
	frames  []hlo.Frame

	// The sources that were made, by their frames: many calls stand on one line.
	kept map[string]*Source
	key  []byte
}

func newLocator(extra []string, srcRoot string) locator {
	return locator{
		library: append([]string{"site-packages", "dist-packages", "jax/", "jax_triton/", "transformer_engine/"}, extra...),
		srcRoot: srcRoot,
	}
}

// source returns the innermost frame outside of library code, with the whole
// stack; nil where the dump has none. Where all of it is library code the
// innermost frame has to do. Calls of one line share it: it must not be changed.
func (l *locator) source(m *hlo.Module, instr int32) *Source {
	l.frames = m.Stack(l.frames[:0], instr)
	if len(l.frames) == 0 {
		return nil
	}
	l.key = l.key[:0]
	for _, f := range l.frames {
		l.key = append(append(append(append(l.key, f.File...), 0), f.Function...), 0)
		l.key = binary.LittleEndian.AppendUint32(l.key, uint32(f.Line))
	}
	if s := l.kept[string(l.key)]; s != nil {
		return s
	}
	if l.kept == nil || len(l.kept) >= intern.MaxNames {
		l.kept = map[string]*Source{}
	}
	s := l.newSource()
	l.kept[string(l.key)] = s
	return s
}

// text is a place as a message has it: train.py:12.
func (s *Source) text() string {
	return s.File[strings.LastIndexByte(s.File, '/')+1:] + ":" + strconv.Itoa(s.Line)
}

// newSource copies l.frames.
func (l *locator) newSource() *Source {
	out := &Source{Stack: make([]Frame, 0, len(l.frames))}
	for n, f := range l.frames {
		out.Stack = append(out.Stack, Frame{
			File: strings.Clone(clip(f.File, maxText)), Line: int(f.Line), Function: strings.Clone(clip(f.Function, maxText))})
		if !l.isLibrary(f) {
			out.Own = append(out.Own, n)
		}
	}
	top := out.Stack[0]
	if len(out.Own) > 0 {
		top = out.Stack[out.Own[0]]
	}
	out.File, out.Line, out.Function = top.File, top.Line, top.Function
	return out
}

func (l *locator) isLibrary(f hlo.Frame) bool {
	for _, p := range l.library {
		file, function, byFunction := strings.Cut(p, ":")
		if byFunction && function != f.Function {
			continue
		}
		if hasPart(f.File, file) {
			return true
		}
	}
	return false
}

// hasPart reports whether path has part as whole components: "jax/" fits
// a/jax/b.py, "tcall.py" fits lab/tcall.py, neither fits myjax/b.py.
func hasPart(path, part string) bool {
	part = strings.Trim(part, "/")
	return part != "" && strings.Contains("/"+path+"/", "/"+part+"/")
}

// stablePath is a path as other checkouts have it: relative to root, else what
// follows site-packages, else its last two components.
func stablePath(path, root string) string {
	if root != "" {
		if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(root, "/")+"/"); ok {
			return rest
		}
	}
	for _, dir := range [...]string{"/site-packages/", "/dist-packages/"} {
		if at := strings.LastIndex(path, dir); at >= 0 {
			return path[at+len(dir):]
		}
	}
	if at := strings.LastIndexByte(path, '/'); at > 0 {
		if before := strings.LastIndexByte(path[:at], '/'); before >= 0 {
			return path[before+1:]
		}
	}
	return strings.TrimPrefix(path, "/")
}

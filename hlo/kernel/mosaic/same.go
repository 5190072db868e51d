package mosaic

import (
	"bytes"
	"maps"
	"strings"

	"aliascheck/hlo/kernel/mlir"
)

// firstPass is the pass that a log begins with: before it stands the module as the call
// has it.
const firstPass = passMark + "ResolveTrivialLocationsPass"

// counted says of an operation that its name is printed as it is, and always.
func counted(name string) bool {
	for _, prefix := range [...]string{"arith.", "nvvm.", "memref.", "vector.", "llvm.inline_asm", "llvm.mlir.constant"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// operations counts the operations of a call's module, by their names.
func operations(m *mlir.Module) map[string]int {
	out := map[string]int{}
	for i := range m.Ops {
		if name := strings.TrimPrefix(m.Ops[i].Name, "stable_mosaic_gpu."); counted(name) {
			out[name]++
		}
	}
	return out
}

// isAnother reports whether a log is of another module than the one with these
// operations. A log whose beginning was cut may be of any.
func isAnother(log []byte, want map[string]int) bool {
	_, text, ok := bytes.Cut(log, []byte(firstPass))
	if !ok {
		return false
	}
	text, _, whole := bytes.Cut(text, []byte(passMark))
	if !whole || bytes.Count(text, []byte{'\n'}) < 10 {
		return false
	}
	got := map[string]int{}
	for line := range bytes.Lines(text) {
		rest := bytes.TrimSpace(line)
		if bytes.HasPrefix(rest, []byte("%")) {
			if _, rest, ok = bytes.Cut(rest, []byte(" = ")); !ok {
				continue
			}
		}
		rest = bytes.TrimPrefix(rest, []byte(`"`))
		if i := bytes.IndexAny(rest, ` ("`); i > 0 {
			rest = rest[:i]
		}
		if counted(string(rest)) {
			got[string(rest)]++
		}
	}
	return !maps.Equal(got, want)
}

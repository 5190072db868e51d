package pallas

import (
	"strings"

	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/attribute"
	"aliascheck/hlo/kernel/mlir"
)

// sites lists where the program reads and writes through the kernel's pointers, by the
// MLIR in the call: XLA leaves no lines in the PTX. nil where an access cannot be told
// to be of one pointer.
func sites(config []byte) []kernel.Site {
	code, err := attribute.String(config, "ir", nil)
	if err != nil {
		return nil
	}
	m, err := mlir.Read(code)
	if err != nil {
		return nil
	}
	used := make([]bool, len(m.Values))
	for i := range m.Ops {
		for _, v := range m.Ops[i].Operands {
			if v >= 0 {
				used[v] = true
			}
		}
	}
	results := map[int]bool{} // of loads that somebody uses
	for v := range m.Values {
		if m.Values[v].IsResult && used[v] {
			results[m.Values[v].Op] = true
		}
	}
	var out []kernel.Site
	for i := range m.Ops {
		name := m.Ops[i].Name
		reads := name == "tt.load" && results[i] || strings.HasPrefix(name, "tt.atomic_")
		writes := name == "tt.store" || strings.HasPrefix(name, "tt.atomic_")
		if !reads && !writes {
			continue
		}
		buffer := pointerOf(m, i)
		at, ok := ownFrame(m.Frames(i))
		if buffer < 0 || !ok {
			return nil
		}
		if reads {
			out = append(out, kernel.Site{Buffer: buffer, File: at.File, Line: int(at.Line)})
		}
		if writes {
			out = append(out, kernel.Site{Buffer: buffer, Write: true, File: at.File, Line: int(at.Line)})
		}
	}
	return out
}

// maxChain bounds how many operations stand between an access and its pointer.
const maxChain = 1 << 10

// pointerOf is the argument of the kernel that an access's address comes from, -1 where
// that is not plain.
func pointerOf(m *mlir.Module, op int) int {
	for range maxChain {
		if len(m.Ops[op].Operands) == 0 || m.Ops[op].Operands[0] < 0 {
			return -1
		}
		v := m.Values[m.Ops[op].Operands[0]]
		if !v.IsResult {
			if v.Entry && m.Ops[v.Op].Name == "tt.func" {
				return v.Argument
			}
			return -1 // a loop's
		}
		switch m.Ops[v.Op].Name {
		case "tt.addptr", "tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.bitcast", "tt.trans":
			op = v.Op
		default:
			return -1
		}
	}
	return -1
}

// ownFrame is the innermost frame outside of JAX.
func ownFrame(frames []mlir.Frame) (mlir.Frame, bool) {
	for _, f := range frames {
		if !strings.Contains(f.File, "/jax/_src/") && !strings.Contains(f.File, "/jax/experimental/pallas/") && f.Line < 1<<31 {
			return f, true
		}
	}
	if len(frames) == 0 || frames[0].Line >= 1<<31 {
		return mlir.Frame{}, false
	}
	return frames[0], true // the kernel is one of JAX's own
}

package rules

import (
	"fmt"

	"aliascheck/hlo/kernel"
	"aliascheck/rules/replay"
)

func autotuneNotRestored() Rule {
	return Rule{
		Code: "AC301", Name: "autotune-not-restored", Default: Error,
		Summary: "the autotuner runs a kernel on an in-out buffer that it does not save and restore",
		Doc: Doc{
			What:  "An autotuned call declares that a result is an operand's buffer, and no entry of the autotuner's own table makes it save that buffer: the entry is missing, it compares two different addresses, or its size does not cover the slice. The table's output number counts operands first, so it is at least the number of operands.",
			Why:   "The autotuner runs every configuration many times on the live buffers; each trial works on what the last one left, so the first call of a process returns the kernel applied many times over.",
			Mend:  "Pass (operand, number of operands + result, size in bytes) for every declared pair in the autotuner's input_output_aliases. jax-triton 0.4.0 passes the result's own number: upgrade, or do not autotune the call.",
			Wrong: "It is an error where a read of the old contents was shown, and a warning where the kernel was not analysed, or not shown to read them. A kernel that overwrites its in-out buffer without reading it loses nothing. That is a note where an analysis of the kernel proves it, where every configuration zeroes the operand first, and where the operand is an uninitialized buffer.",
		},
		Confirm: replay.Tuning,
		Patches: untunePatches(",\n                     input_output_aliases={$OPERAND: $RESULT}"),
		Check:   checkAutotuneNotRestored,
	}
}

func checkAutotuneNotRestored(p *Pass) {
	if p.Kernel == nil || !p.Kernel.Autotuned {
		return
	}
	for _, d := range p.Call.Declared {
		if d.Problem != "" {
			continue
		}
		if why := replay.NotSaved(p.Call, p.Kernel, int(d.Operand)); why != "" {
			reportNotRestored(p, int(d.Operand), int(d.Result), why)
		}
	}
}

func reportNotRestored(p *Pass, a, b int, why string) {
	severity, remark := notRestoredSeverity(p, a)
	if remark != "" {
		remark = " " + remark
	}
	p.Report(Problem{
		Operand: a, Result: b, Severity: severity,
		Message: fmt.Sprintf("The autotuner does not save %s, which the kernel updates in place: %s.%s", p.Operand(a), why, remark),
		Fix: fmt.Sprintf("give the autotuner the entry (%d, %d, %d): operand, number of operands + result, bytes",
			a, len(p.Call.Operands)+b, p.Call.Operands[a].Slice.Size),
	})
}

// notRestoredSeverity weighs what the trials destroy, with a sentence that says why
// it is less than an error.
func notRestoredSeverity(p *Pass, a int) (Severity, string) {
	x := &p.Call.Operands[a]
	if zeroedFirst(p, a) {
		return Note, "Every configuration starts with that buffer zeroed, and never reads what stood in it."
	}
	reads, known := false, false
	if p.Effects != nil {
		if reads, known = p.Effects.ReadsOld(a); known && !reads {
			return Note, "The kernel does not read what stood in the buffer before."
		}
	}
	if x.IsAllocated(p.Call.Module) {
		return Note, "The operand is an uninitialized buffer, with no contents to lose."
	}
	if p.Kernel.Early && x.Allocation >= 0 {
		alloc := &p.Call.Module.Allocations[x.Allocation]
		if !alloc.EntryParameter && !alloc.Constant {
			return Warning, "The trials of a typed-FFI call run before the program, on memory that holds nothing yet."
		}
	}
	switch {
	case reads, p.unwanted: // with --replay off the declaration alone is judged, as if it were read
		return Error, ""
	case p.Effects == nil, !p.analysed():
		return Warning, "The kernel was not analysed: whether it reads what stood in the buffer before is not known."
	}
	return Warning, "No read of what stood in the buffer before was seen, for the contents that were tried."
}

// zeroedFirst reports whether every configuration zeroes all of operand leaf a before
// its first instruction (bytes_to_zero), through its pointer or that of a result
// which stands in its place: the memory's old contents are dropped on purpose.
func zeroedFirst(p *Pass, a int) bool {
	x := &p.Call.Operands[a]
	for i := range p.Kernel.Configurations {
		zeroed := false
		for _, param := range p.Kernel.Configurations[i].Params {
			if param.Kind != kernel.Pointer || param.Offset != 0 {
				continue
			}
			if b := replay.LeafOf(p.Call, int64(param.Buffer)); b != nil && b.Allocation == x.Allocation && b.Slice == x.Slice {
				zeroed = zeroed || param.Zero >= uint64(max(x.Slice.Size, 0))
			}
		}
		if !zeroed {
			return false
		}
	}
	return len(p.Kernel.Configurations) > 0 && x.Allocation >= 0
}

package rules

import (
	"fmt"
)

func unsafeInPlace() Rule {
	return Rule{
		Code: "AC201", Name: "unsafe-in-place", Default: Error,
		Summary: "a pair shares its memory, and the kernel is not safe in place",
		Doc: Doc{
			What:  "An operand leaf and a result leaf have the same slice, and the kernel reads through the operand what another thread may already have written through the result: nothing orders the read before the write.",
			Why:   "Elements come out wrong now and then: which ones depends on the order in which the card runs the blocks, so a small test can pass for years.",
			Mend:  "Take the pair out of input_output_aliases. If the result must not take new memory, let a spare operand that the kernel never reads claim it.",
			Wrong: "Where a table of known kernels decided, the kernel may have been rewritten since. Where only some inputs were tried, others may be harmless.",
		},
		Check: checkUnsafeInPlace,
	}
}

func checkUnsafeInPlace(p *Pass) {
	for _, o := range p.Overlaps.OperandResult {
		a, b := int(o.A), int(o.B)
		if badPair(p.Call, a, b) || isItsOperand(p, a, b) {
			continue
		}
		v := p.Pair(a, b)
		if v.Verdict != Unsafe {
			continue
		}
		pr := Problem{
			Operand: a, Result: b, Evidence: evidence(v), Related: witnesses(v),
			Message: fmt.Sprintf("%s and %s share memory, and the kernel is not safe in place: %s.", p.Operand(a), p.Result(b), v.Reason),
			Fix:     fmt.Sprintf("take operand %d out of input_output_aliases, or claim the result with a spare operand", p.Call.Operands[a].Operand),
		}
		pr.Confirmation, pr.ConfirmationReason = confirmation(v)
		p.Report(pr)
	}
}

// confirmation is what a pair's verdict says of the finding that rests on it.
func confirmation(v PairVerdict) (Confirmation, string) {
	switch {
	case v.Emulated != nil && v.Emulated.Witness != nil:
		return Confirmed, v.Reason
	case v.Basis == Table && v.Emulated != nil:
		return Unconfirmed, "decided by the table of known kernels; a run of the kernel saw no conflict"
	case v.Basis == Table:
		return Unchecked, "decided by the table of known kernels; the kernel was not run"
	}
	return Unconfirmed, v.Reason
}

// witnesses names the reader and the writer that a run of the kernel caught.
func witnesses(v PairVerdict) []Related {
	if v.Emulated == nil || v.Emulated.Witness == nil {
		return nil
	}
	w := v.Emulated.Witness
	return []Related{w.Reader.related("reader"), w.Writer.related("writer")}
}

func (a Access) related(role string) Related {
	return Related{
		Role: role, File: a.File, Line: a.Line,
		Text: fmt.Sprintf("block (%d,%d,%d), thread (%d,%d,%d), PTX line %d",
			a.Block[0], a.Block[1], a.Block[2], a.Thread[0], a.Thread[1], a.Thread[2], a.PTXLine),
	}
}

// isItsOperand reports whether a claimed result has no pointer of its own: the
// kernel writes through the operand's, so nothing is shared between two pointers.
func isItsOperand(p *Pass, operand, result int) bool {
	return p.Call.IsDeclared(operand, result) && !hasPointer(p, result)
}

// hasPointer reports whether the kernel is given a pointer for a result leaf.
func hasPointer(p *Pass, result int) bool {
	return p.Kernel == nil || p.Kernel.Configurations[0].Takes(len(p.Call.Operands)+result)
}

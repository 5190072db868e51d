package rules

import (
	"aliascheck/rules/replay"
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
		Confirm: replay.PairShared,
		Patches: undeclarePatches(),
		Check:   checkUnsafeInPlace,
	}
}

func checkUnsafeInPlace(p *Pass) {
	for _, o := range p.Overlaps.OperandResult {
		a, b := int(o.A), int(o.B)
		if badPair(p.Call, a, b) {
			continue
		}
		v := p.Pair(a, b)
		one := isItsOperand(p, a, b)
		if v.Verdict != Unsafe || one && (v.Emulated == nil || v.Emulated.Witness == nil) {
			continue
		}
		pr := Problem{
			Operand: a, Result: b, Evidence: evidence(v), Related: witnesses(v),
			Message: fmt.Sprintf("%s and %s share memory, and the kernel is not safe in place: %s.", p.Operand(a), p.Result(b), v.Reason),
			Fix:     fmt.Sprintf("take operand %d out of input_output_aliases; or declare the result with a spare operand instead, an uninitialized buffer of its shape that the kernel never reads", p.Call.Operands[a].Operand),
		}
		if one {
			pr.Message = fmt.Sprintf("%s is %s: the kernel works on both through one pointer, and is not safe in place: %s.", p.Operand(a), p.Result(b), v.Reason)
			pr.Fix = "give the kernel a result of its own to write"
		}
		pr.Confirmation, pr.ConfirmationReason = confirmation(v)
		p.Report(pr)
	}
}

package rules

import (
	"fmt"

	"aliascheck/rules/library"
	"aliascheck/rules/replay"
)

func undeclaredOverlap() Rule {
	return Rule{
		Code: "AC101", Name: "undeclared-overlap", Default: Error,
		Summary: "an operand and a result share the same memory, and the call does not declare it",
		Doc: Doc{
			What:  "An operand leaf and a result leaf of a custom call have the same slice of the same allocation, and output_to_operand_aliasing does not name the pair.",
			Why:   "A custom call that does not declare a pair is promised separate buffers; a kernel that reads an element after another thread has written it then computes with its own output.",
			Mend:  "XLA shares an undeclared pair only by mistake: it is a defect of XLA, of a pass, or of an old release. Report it with the dump. Until it is fixed, copy the operand before the call (an optimization barrier keeps the copy), or declare the pair if the kernel is safe in place.",
			Wrong: "A backend may know that a library call takes the pair in place. The hints that XLA itself has (the matrix C of __cublas$lt$matmul, and in older releases of __cublas$gemm and __cusolver$cholesky) are known and make no finding.",
		},
		Confirm: replay.PairShared,
		Check:   checkUndeclaredOverlap,
	}
}

func checkUndeclaredOverlap(p *Pass) {
	for _, o := range p.Overlaps.OperandResult {
		a, b := int(o.A), int(o.B)
		if !o.Exact || p.Call.IsDeclared(a, b) || library.SharesByHint(p.Call, a, b) {
			continue
		}
		pr := Problem{
			Operand: a, Result: b,
			Message: fmt.Sprintf("%s and %s share the same %s without a declaration.",
				p.Operand(a), p.Result(b), Bytes(p.Call.Results[b].Slice.Size)),
			Fix: "copy the operand before the call, or declare the pair with input_output_aliases if the kernel may run in place; and report the share to XLA",
		}
		if v := p.Pair(a, b); v.Verdict == Safe && v.Basis == Complete {
			pr.Severity = Warning
			pr.Confirmation, pr.ConfirmationReason = Refuted, v.Reason
		}
		pr.Evidence = evidence(p.Pair(a, b))
		p.Report(pr)
	}
}

package rules

import (
	"fmt"

	"aliascheck/rules/replay"
)

func resultReadFirst() Rule {
	return Rule{
		Code: "AC205", Name: "result-read-first", Default: Error,
		Summary: "the kernel reads a result before anything is written there",
		Doc: Doc{
			What:  "A byte of a result that nothing claims and nothing zeroes is read or atomically updated, no plain write can come first in any order, and the value reaches a result, an address or a branch.",
			Why:   "The memory of a result holds whatever was there before: sums start from other programs' numbers.",
			Mend:  "Zero the result before the launch (bytes_to_zero, zeroed_outputs), write it before it is read, or let an operand with the wanted contents claim it.",
			Wrong: "Where another block's write may come first, the order decides: then it is a note.",
		},
		Confirm: replay.ReadFirst,
		Patches: zeroPatches(),
		Check:   checkResultReadFirst,
	}
}

func checkResultReadFirst(p *Pass) {
	if p.Effects == nil {
		return
	}
	for b := range p.Call.Results {
		if p.Call.Claimed(b) || p.Call.Results[b].Bytes == 0 {
			continue
		}
		for i := range p.Effects.KernelRuns() {
			if run := &p.Effects.KernelRuns()[i]; reportReadFirst(p, b, run) {
				break
			}
		}
	}
}

func reportReadFirst(p *Pass, b int, r *KernelRun) bool {
	n := len(p.Call.Operands) + b
	if !r.Analysed || !r.Takes(n) {
		return false
	}
	e := &r.Buffers[n]
	if len(e.ReadFirst) == 0 || e.FirstRead == nil || !e.Reaches {
		return false
	}
	sure := replay.Covered(e.ReadFirst) - replay.Covered(e.Elsewhere)
	first := replay.NewAccess(e.FirstRead)
	pr := Problem{
		Operand: -1, Result: b, Related: []Related{relatedAccess(first, "reader")},
		Message: fmt.Sprintf("The kernel reads %s of %s before anything is written there (%s).",
			Bytes(sure), p.Result(b), replay.Where(e.FirstRead)),
		Fix: "zero the result before the launch (bytes_to_zero), or claim it with an operand of the wanted contents",
	}
	if sure <= 0 {
		pr.Severity = Note
		pr.Message = fmt.Sprintf("The kernel reads %s of %s that another block writes, and nothing orders the two (%s).",
			Bytes(replay.Covered(e.Elsewhere)), p.Result(b), replay.Where(e.FirstRead))
	}
	pr.Confirmation, pr.ConfirmationReason, pr.Evidence = seen(r)
	p.Report(pr)
	return true
}

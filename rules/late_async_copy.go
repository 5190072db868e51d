package rules

import (
	"fmt"

	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"
)

func lateAsyncCopy() Rule {
	return Rule{
		Code: "AC402", Name: "late-async-copy", Default: Error,
		Summary: "shared memory is used again while an asynchronous copy to it may be on its way",
		Doc: Doc{
			What:  "Bytes of shared memory are stored or read by another owner while a cp.async to them, whose issuing thread has not waited for its group, may still be on its way. Groups that are outstanding when the kernel ends are harmless.",
			Why:   "The copy lands when it likes: on what the new owner has stored, or after the new owner has read. Results change from run to run.",
			Mend:  "Wait for all groups (cp.async.wait_group 0, or wait_all) and then for the block's barrier before the memory gets another use; or do not issue the copy of the tile past the last.",
			Wrong: "Where the copied bytes happen to be what the new owner would store anyway, nothing shows.",
		},
		Confirm: replay.LateCopy,
		Check:   checkLateAsyncCopy,
	}
}

func checkLateAsyncCopy(p *Pass) {
	if p.Effects == nil {
		return
	}
	for i := range p.Effects.KernelRuns() {
		r := &p.Effects.KernelRuns()[i]
		if r.Analysed && len(r.LateCopies) > 0 {
			reportLateCopy(p, r, &r.LateCopies[0])
			return
		}
	}
}

func reportLateCopy(p *Pass, r *KernelRun, l *ptx.LateCopy) {
	verb := "reads"
	if l.Write {
		verb = "stores to"
	}
	copied, used := replay.NewAccess(&l.Copy), replay.NewAccess(&l.Use)
	pr := Problem{
		Operand: -1, Result: -1,
		Message: fmt.Sprintf("%s %s shared memory at byte %d (%s) while the asynchronous copy that %s issued to it (%s) may still be on its way; %d bytes, and %d pairs of instructions in all.",
			sentence(replay.Thread(&l.Use)), verb, l.Byte, replay.Where(&l.Use), replay.Thread(&l.Copy), replay.Where(&l.Copy), l.Count, len(r.LateCopies)),
		Fix:     "wait for all groups (cp.async.wait_group 0) and then for the block's barrier before the memory gets another use",
		Related: []Related{relatedAccess(copied, "copy"), relatedAccess(used, "use")},
	}
	pr.Confirmation, pr.ConfirmationReason, pr.Evidence = seen(r)
	p.Report(pr)
}

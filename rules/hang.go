package rules

import (
	"fmt"

	"aliascheck/rules/replay"
)

func hang() Rule {
	return Rule{
		Code: "AC902", Name: "hang", Default: Error,
		Summary: "the kernel does not end",
		Doc: Doc{
			What:  "On the PTX machine every live warp waits for, or only tests again, what no thread can complete; or, on a card, the kernel ran past its deadline.",
			Why:   "The program hangs, or a watchdog kills it far from the cause.",
			Mend:  "Look at who must arrive at the barrier: a thread that left early, a phase that nobody completes, a count that is larger than the number of arrivals.",
			Wrong: "A kernel that waits for another kernel, or for the host, can only end beside it: the machine runs a launch alone.",
		},
		Confirm: replay.Hangs,
		Check:   checkHang,
		Conduct: func(p *Pass, c *replay.Conduct) {
			if !p.reported() { // the machine names the barrier
				p.Report(onCard(c, "make sure that every thread that a barrier counts arrives at it"))
			}
		},
	}
}

func checkHang(p *Pass) {
	if p.Effects == nil {
		return
	}
	for i := range p.Effects.KernelRuns() {
		r := &p.Effects.KernelRuns()[i]
		if !r.Analysed || r.Made || r.Hang == nil {
			continue
		}
		access := replay.NewAccess(&r.Hang.Access)
		pr := Problem{
			Operand: -1, Result: -1,
			Message: fmt.Sprintf("The kernel does not end: %s and %d others of its block wait for ever (%s): %s.",
				replay.Thread(&r.Hang.Access), max(r.Hang.Waiting-1, 0), replay.Where(&r.Hang.Access), r.Hang.Reason),
			Fix:     "make sure that every thread that the barrier counts arrives at it",
			Related: []Related{relatedAccess(access, "waiting thread")},
		}
		pr.Confirmation, pr.ConfirmationReason, pr.Evidence = seen(r)
		p.Report(pr)
		return
	}
}

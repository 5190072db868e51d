package rules

import (
	"context"

	"aliascheck/rules/replay"
)

// confirm asks of what the rules reported, when all have, and then of what the kernel
// did by itself meanwhile.
func (a *Auditor) confirm(ctx context.Context, p *Pass) {
	if p.run == nil {
		return
	}
	asked := 0
	ask := func() {
		for ; asked < len(p.findings); asked++ {
			a.confirmFinding(ctx, p, asked)
		}
	}
	ask()
	if p.library { // results that are scratch may hold anything, and nobody here can mend it
		return
	}
	for n := range a.rules {
		r := &a.rules[n]
		if r.Conduct == nil {
			continue
		}
		if shown := a.opts.Runner.Conduct(ctx, p.run, r.Confirm); shown != nil {
			p.rule = r
			r.Conduct(p, shown)
			ask()
		}
	}
}

// confirmFinding asks of finding n.
func (a *Auditor) confirmFinding(ctx context.Context, p *Pass, n int) {
	f := &p.findings[n]
	if a.questions[f.Code] == replay.PairShared && isItsOperand(p, p.leaves[n][0], p.leaves[n][1]) {
		return // with one pointer for both, the kernel cannot be run with them apart
	}
	claim := replay.Claim{
		Question: a.questions[f.Code], Operand: p.leaves[n][0], Result: p.leaves[n][1], Minor: f.Severity == Note,
		Confirmation: f.Confirmation, Reason: f.ConfirmationReason, Evidence: f.Evidence,
	}
	a.opts.Runner.Confirm(ctx, p.run, &claim)
	f.Confirmation, f.ConfirmationReason, f.Evidence = claim.Confirmation, claim.Reason, claim.Evidence
}

// questions lists what a run can show of the findings of each rule, by its code.
func questions(rules []Rule) map[string]replay.Question {
	out := map[string]replay.Question{}
	for i := range rules {
		out[rules[i].Code] = rules[i].Confirm
	}
	return out
}

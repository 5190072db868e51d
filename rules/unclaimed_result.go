package rules

import "aliascheck/rules/replay"

func unclaimedResult() Rule {
	return Rule{
		Code: "AC202", Name: "unclaimed-result", Default: Note,
		Summary: "the kernel is not safe in place, and nothing claims its result",
		Doc: Doc{
			What:  "The kernel is not safe in place for an operand and a result of equal size; the operand is dead after the call and in no declared pair, and no declared pair claims the result.",
			Why:   "Nothing but XLA's present rules keeps the two apart. XLA of today does not share a pair that a custom call does not declare; a pass, a hint or a release that does would corrupt the result silently, and an autotuner that runs before the program writes into whatever stands there.",
			Mend:  "Claim the result with a spare operand: pass an uninitialized buffer of the result's shape and name that pair in input_output_aliases. It costs one allocation of the result's size for as long as the buffer lives before the call; the result itself takes no more.",
			Wrong: "With XLA of today this is a risk and no defect. It is a warning for kernels that have been hit (Transformer Engine #2730), a note for others.",
		},
		Confirm: replay.PairForced,
		Patches: claimPatches("empty"),
		Check:   checkUnclaimedResult,
	}
}

func checkUnclaimedResult(p *Pass) {
	if p.library { // nobody can claim a result of XLA's own calls
		return
	}
	for b := range p.Call.Results {
		r := &p.Call.Results[b]
		if p.Call.Claimed(b) || r.Bytes == 0 || r.Allocation < 0 {
			continue
		}
		for a := range p.Call.Operands {
			checkUnclaimedPair(p, a, b)
		}
	}
}

func checkUnclaimedPair(p *Pass, a, b int) {
	x, r := &p.Call.Operands[a], &p.Call.Results[b]
	if x.Bytes != r.Bytes || x.Allocation < 0 || x.Slice.Shares(r.Slice) || p.Call.InDeclaredPair(a) {
		return
	}
	v := p.Pair(a, b)
	if v.Verdict != Unsafe {
		return
	}
	if dead, _ := p.Lives.DeadAfter(p.Call, x.Value); !dead {
		return
	}
	pr := Problem{
		Operand: a, Result: b, Severity: Note, Evidence: evidence(v), Related: witnesses(v),
		Message: p.names.Join("Nothing claims ", p.Result(b), ", and the kernel is not safe in place for ", p.Operand(a),
			", which is dead after the call: ", v.Reason, "."),
		Fix: p.names.Join("claim the result: pass a spare operand, an uninitialized buffer of ", Bytes(r.Bytes), " that the kernel never reads, and declare it with the result; XLA of today keeps undeclared pairs apart, so this is a safeguard"),
	}
	if _, listed := p.known.pair(p.Call, p.name(), a, b); listed {
		pr.Severity = Warning
	}
	pr.Confirmation, pr.ConfirmationReason = confirmation(v)
	p.Report(pr)
}

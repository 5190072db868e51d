package rules

import "aliascheck/rules/replay"

func nondeterministic() Rule {
	return Rule{
		Code: "AC901", Name: "nondeterministic", Default: Error,
		Summary: "equal inputs in separate buffers, different bits",
		Doc: Doc{
			What:  "A replay on a card ran the kernel several times on equal inputs with all buffers apart, and the results differ.",
			Why:   "The kernel races with itself: no sharing is needed to get wrong numbers from it.",
			Mend:  "Look for a missing barrier or wait, for memory that is read before it is written, and for blocks that depend on each other's order. compute-sanitizer's racecheck sees races in shared memory.",
			Wrong: "Floating-point atomics add in any order; where they explain the difference it is a warning.",
		},
		Confirm: replay.Unstable,
		Conduct: func(p *Pass, c *replay.Conduct) {
			pr := onCard(c, "look for a missing barrier or wait; compute-sanitizer's racecheck sees races in shared memory (--sanitize racecheck)")
			if c.Explains {
				pr.Severity = Warning
			}
			p.Report(pr)
		},
	}
}

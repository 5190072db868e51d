package rules

import "aliascheck/rules/replay"

func fault() Rule {
	return Rule{
		Code: "AC903", Name: "fault", Default: Error,
		Summary: "the kernel faulted with its buffers apart",
		Doc: Doc{
			What:  "A replay on a card ended in a fault (an illegal address, a misaligned access, a trap) with all buffers apart.",
			Why:   "The kernel reads or writes outside its buffers; in a program it hits its neighbours instead, silently.",
			Mend:  "Check the grid and the masks against the buffers' sizes. The PTX machine's AC206 names the access where it can.",
			Wrong: "Synthesized operands can be worse than any real ones: look at the recipe in the evidence.",
		},
		Confirm: replay.Faults,
		Conduct: func(p *Pass, c *replay.Conduct) {
			pr := onCard(c, "check the grid and the masks against the buffers' sizes; compute-sanitizer's memcheck names the access (--sanitize memcheck)")
			if c.MadeUp {
				pr.Severity = Note
				pr.Message += " Its operands' contents were made up, and can be at fault."
			}
			p.Report(pr)
		},
	}
}

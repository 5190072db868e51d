package rules

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
		Check: checkOnCard,
	}
}

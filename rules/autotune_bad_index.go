package rules

import "fmt"

func autotuneBadIndex() Rule {
	return Rule{
		Code: "AC304", Name: "autotune-bad-index", Default: Warning,
		Summary: "an entry of the autotuner's table names no result",
		Doc: Doc{
			What:  "The output number of an entry in the autotuner's input_output_aliases names an operand, or no buffer at all. Output numbers count operands first: they are at least the number of operands.",
			Why:   "jaxlib compares the addresses of the two numbered buffers and does not check the numbers: an operand compared with itself is saved by luck, one compared with another operand is not saved, and a number past the end is read from beyond the table.",
			Mend:  "Add the number of operands to the result's number. jax-triton 0.4.0 passes the result's own number: upgrade.",
			Wrong: "Entry {0: 0} happens to save the right buffer; it stops doing so when the operands are reordered.",
		},
		Check: checkAutotuneBadIndex,
	}
}

func checkAutotuneBadIndex(p *Pass) {
	if p.Kernel == nil || !p.Kernel.Autotuned {
		return
	}
	ops := int64(len(p.Call.Operands))
	all := ops + int64(len(p.Call.Results))
	for _, e := range p.Kernel.Saved {
		if e.Output >= ops && e.Output < all && e.Input >= 0 && e.Input < ops {
			continue
		}
		pr := Problem{Operand: -1, Result: -1}
		if e.Input >= 0 && e.Input < ops {
			pr.Operand = int(e.Input)
		}
		what := "is no buffer of the call"
		if e.Output >= 0 && e.Output < ops {
			what = "names an operand"
		} else if e.Output >= ops && e.Output < all {
			what = fmt.Sprintf("is right, but input number %d names no operand", e.Input)
		}
		pr.Message = fmt.Sprintf("The autotuner's entry (%d, %d): output number %d %s.", e.Input, e.Output, e.Output, what)
		pr.Fix = fmt.Sprintf("add the number of operands: the first result is number %d", ops)
		pr.ConfirmationReason = "read from the call's own table"
		p.Report(pr)
	}
}

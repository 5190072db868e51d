package rules

import "fmt"

func badDeclaration() Rule {
	return Rule{
		Code: "AC106", Name: "bad-declaration", Default: Error,
		Summary: "a declared pair names no such leaf, a result claimed twice, or unequal sizes",
		Doc: Doc{
			What:  "An entry of output_to_operand_aliasing names an operand or a result leaf that the call does not have, gives one result to two operands, or joins leaves of different sizes.",
			Why:   "XLA and the kernel then disagree about which buffer is which, and one of them writes where the other does not look.",
			Mend:  "Correct the indices in input_output_aliases. They count the operands and results that reach the call, after flattening and after constants were folded in.",
			Wrong: "It is not wrong: the entry contradicts the call's own shape.",
		},
		Check: checkBadDeclaration,
	}
}

func checkBadDeclaration(p *Pass) {
	for _, d := range p.Call.Declared {
		if d.Problem == "" {
			continue
		}
		p.Report(Problem{
			Operand: int(d.Operand), Result: int(d.Result),
			Message: fmt.Sprintf("The declared pair %v names no usable leaves: %s.", pairText(d.Entry), d.Problem),
			Fix:     "correct the indices in input_output_aliases",
		})
	}
}

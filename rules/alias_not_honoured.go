package rules

import (
	"fmt"

	"aliascheck/rules/replay"
)

func aliasNotHonoured() Rule {
	return Rule{
		Code: "AC105", Name: "alias-not-honoured", Default: Error,
		Summary: "a declared pair stands in different memory",
		Doc: Doc{
			What:  "The call declares that a result is an operand's buffer, but the buffer assignment gives them slices that share nothing.",
			Why:   "A kernel that was written to update its operand in place writes a part of the result only, or none: the rest holds whatever the memory held before.",
			Mend:  "It is a defect of the buffer assignment: report it to XLA with the dump. A kernel that writes its whole result and does not rely on the pair need not declare it.",
			Wrong: "A kernel that never relies on the pair does not notice.",
		},
		Confirm: replay.AllShared,
		Check:   checkAliasNotHonoured,
	}
}

func checkAliasNotHonoured(p *Pass) {
	for _, d := range p.Call.Declared {
		if d.Problem != "" {
			continue
		}
		a, b := int(d.Operand), int(d.Result)
		x, y := &p.Call.Operands[a], &p.Call.Results[b]
		if x.Allocation < 0 || y.Allocation < 0 || x.Slice.Size == 0 || y.Slice.Size == 0 || x.Slice.Shares(y.Slice) {
			continue
		}
		p.Report(Problem{
			Operand: a, Result: b,
			Message: fmt.Sprintf("%s is declared to be %s, but they stand in different memory.", p.Result(b), p.Operand(a)),
			Fix:     "report the buffer assignment to XLA; drop the declaration if the kernel writes its whole result",
		})
	}
}

package rules

import (
	"fmt"

	"aliascheck/rules/replay"
)

func resultsOverlap() Rule {
	return Rule{
		Code: "AC103", Name: "results-overlap", Default: Error,
		Summary: "two results of one call share bytes",
		Doc: Doc{
			What:  "The slices of two result leaves of one custom call share bytes.",
			Why:   "The call writes both, so one of them is lost where they overlap, and which one depends on the order in which its blocks run.",
			Mend:  "It is a defect of the buffer assignment: report it to XLA with the dump. Making the call return one array and slicing it avoids it.",
			Wrong: "A call that never writes one of the two would survive it.",
		},
		Confirm: replay.AllShared,
		Check:   checkResultsOverlap,
	}
}

func checkResultsOverlap(p *Pass) {
	for _, o := range p.Overlaps.ResultResult {
		a, b := int(o.A), int(o.B)
		p.Report(Problem{
			Operand: -1, Result: b,
			Message: fmt.Sprintf("%s and %s of the same call share bytes.", p.Result(a), p.Result(b)),
			Fix:     "report the buffer assignment to XLA; return one array and slice it until it is fixed",
			Related: []Related{{
				Role: "other result", Instruction: p.Call.Module.Instructions[p.Call.Instruction].Name,
				Slice: sliceOf(&p.Call.Results[a]), Text: p.Result(a),
			}},
		})
	}
}

package rules

import (
	"fmt"
	"strings"

	"aliascheck/alias"
)

func fusionResultsOverlap() Rule {
	return Rule{
		Code: "AC108", Name: "fusion-results-overlap", Default: Error,
		Summary: "two results of one instruction that is no custom call share bytes",
		Doc: Doc{
			What:  "The slices of two results of one fusion, sort, collective or other instruction that XLA made share bytes. Results that loops, branches and calls hand on are not meant: they are written elsewhere.",
			Why:   "The instruction writes both, so one of them is lost where they overlap, in every run.",
			Mend:  "It is a defect of XLA: report it with the dump (jax #39100 is one, of two in-place updates in one fusion on several devices). jax.lax.optimization_barrier between the two computations, or computing them in another order, keeps them out of one fusion.",
			Wrong: "Where both results are the same numbers, nothing is lost. XLA has no way to know that, and neither does this rule.",
		},
		CheckModule: checkFusionResultsOverlap,
	}
}

func checkFusionResultsOverlap(p *ModulePass) {
	for _, list := range p.Clashes {
		c := list[0]
		if c.Kind != alias.TwoResults {
			continue
		}
		i := p.Module.Values[c.Lost].Instruction
		in := &p.Module.Instructions[i]
		p.Report(ModuleProblem{
			Instruction: i, Lost: c.Lost, Written: c.Written, Places: []int32{i},
			Message: fmt.Sprintf("Results %v and %v of one %s, %s, share bytes: it writes both, and one is lost.",
				alias.Index(p.Module.Values[c.Lost].Index), alias.Index(p.Module.Values[c.Written].Index),
				strings.Clone(in.Opcode), p.Place(i)),
			Fix:     "put jax.lax.optimization_barrier between the computations of the two, so that XLA does not fuse them, and report the dump to XLA",
			Related: p.others(list[1:]),
		})
	}
}

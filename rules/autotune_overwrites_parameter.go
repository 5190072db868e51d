package rules

import (
	"fmt"

	"aliascheck/alias"
	"aliascheck/rules/replay"
)

func autotuneOverwritesParameter() Rule {
	return Rule{
		Code: "AC302", Name: "autotune-overwrites-parameter", Default: Error,
		Summary: "autotuning before the program writes over a parameter that the program has yet to read",
		Doc: Doc{
			What:  "A typed-FFI Triton call is autotuned in the initialize phase, before any instruction of the program has run, and a result that nothing claims lies in the allocation of an entry parameter or constant whose value some instruction reads.",
			Why:   "A donated parameter's memory is reused for results that are made after its last reader; the trials write there before its first one, and the first call of a process computes with the trials' output.",
			Mend:  "Do not donate the parameter, do not autotune the call, or tune once on other buffers before the first real call (the choice is remembered for the process). The untyped target triton_kernel_call tunes when the call executes, and is not hit.",
			Wrong: "A process that has tuned an equal kernel before does not tune again.",
		},
		Confirm: replay.Overwrites,
		Check:   checkAutotuneOverwritesParameter,
	}
}

func checkAutotuneOverwritesParameter(p *Pass) {
	if p.Kernel == nil || !p.Kernel.Early {
		return
	}
	m := p.Call.Module
	for b := range p.Call.Results {
		r := &p.Call.Results[b]
		if p.Call.Claimed(b) || r.Allocation < 0 || r.Slice.Size == 0 || neverWrites(p, len(p.Call.Operands)+b) {
			continue
		}
		alloc := &m.Allocations[r.Allocation]
		if !alloc.EntryParameter && !alloc.Constant {
			continue
		}
		for _, v := range alloc.Values {
			if alias.IsReady(m, v) && sliceOfValue(m, v).Shares(r.Slice) && p.Lives.IsRead(v) {
				reportOverwritesParameter(p, b, v)
			}
		}
	}
}

// neverWrites reports whether a complete analysis saw no configuration write buffer n.
func neverWrites(p *Pass, n int) bool {
	if p.Effects == nil {
		return false
	}
	for _, r := range p.Effects.KernelRuns() {
		if !r.Analysed || r.Basis != Complete || r.Buffers[n].WrittenBy != nil || changed(&r, n) > 0 {
			return false
		}
	}
	return true
}

func reportOverwritesParameter(p *Pass, b int, v int32) {
	m := p.Call.Module
	name := m.Instructions[m.Values[v].Instruction].Name
	slice := sliceOfValue(m, v)
	p.Report(Problem{
		Operand: operandOf(p.Call, v), Result: b,
		Message: fmt.Sprintf("The autotuner runs before the program and writes %s into the memory of %s, which the program has yet to read.",
			p.Result(b), name),
		Fix:     "do not donate the parameter, or do not autotune this call, or tune it once before on other buffers",
		Related: []Related{{Role: "overwritten value", Instruction: name, Slice: &slice}},
	})
}

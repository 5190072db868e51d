package rules

import (
	"fmt"
	"slices"

	"aliascheck/alias"
	"aliascheck/hlo"
)

func liveOverwrite() Rule {
	return Rule{
		Code: "AC104", Name: "live-overwrite", Default: Error,
		Summary: "a result is written over a value that is still needed",
		Doc: Doc{
			What:  "A result leaf shares bytes with a value that is defined before the call and needed after it: a later instruction reads it, a loop reads it again, it is part of what a computation returns, or it is a constant or a parameter that the caller keeps.",
			Why:   "Whoever reads that value afterwards reads the call's result instead.",
			Mend:  "It is a defect of the buffer assignment or of the schedule: report it to XLA with the dump. A copy of the value before the call, kept by an optimization barrier, avoids it.",
			Wrong: "The order is the schedule in the dump. A program that runs in another order than it was scheduled in has other lifetimes.",
		},
		Check: checkLiveOverwrite,
	}
}

func checkLiveOverwrite(p *Pass) {
	m := p.Call.Module
	for _, o := range p.Overwrites {
		v := &m.Values[o.Value]
		related := []Related{{
			Role: "overwritten value", Instruction: m.Instructions[v.Instruction].Name,
			Slice: &hlo.Slice{Allocation: m.Allocations[v.Allocation].Index, Offset: v.Offset, Size: v.Size},
			Text:  fmt.Sprintf("%s %v", m.Instructions[v.Instruction].Name, alias.Index(v.Index)),
		}}
		why := o.Why
		if o.Reader >= 0 {
			name := m.Instructions[o.Reader].Name
			why = fmt.Sprintf("%s (%s)", o.Why, name)
			related = append(related, Related{Role: "reader", Instruction: name})
		}
		p.Report(Problem{
			Operand: operandOf(p.Call, o.Value), Result: int(o.Result),
			Message: fmt.Sprintf("%s is written over %s, which is still needed: %s.",
				p.Result(int(o.Result)), m.Instructions[v.Instruction].Name, why),
			Fix:     "copy the overwritten value before the call, and report the buffer assignment to XLA",
			Related: slices.Clip(related),
		})
	}
}

// operandOf returns the operand leaf that holds a value, or -1.
func operandOf(c *alias.Call, value int32) int {
	for n := range c.Operands {
		if c.Operands[n].Value == value {
			return n
		}
	}
	return -1
}

package rules

import (
	"fmt"
	"strings"

	"aliascheck/alias"
)

func assignmentConflict() Rule {
	return Rule{
		Code: "AC107", Name: "assignment-conflict", Default: Error,
		Summary: "two values that are needed at the same time share bytes",
		Doc: Doc{
			What:  "XLA gave two values one place, and neither is the other's alias: one is written while the other is still needed, an instruction writes over what it reads and may not do both in one place, a parameter is read from another parameter's memory, or an output is not in the memory of the donated parameter that it was to come back in. Every value of every instruction is held to every other, in loops, branches, calls and asynchronous operations.",
			Why:   "Whoever reads the value afterwards reads something else: a result, a gradient or a part of the training state is wrong, silently and every time.",
			Mend:  "It is a defect of XLA's buffer assignment or of a pass before it: report it to XLA with the dump. What avoids it depends on where it comes from. Two donated parameters in one place (jax #39625): one value is returned several times ahead of the state. Return the state first, return the value once, or do not donate; an optimization barrier or a copy does not help, XLA takes them away again (docs/found.md has what was measured). A value that is overwritten: put jax.lax.optimization_barrier around it and its reader. Then audit again: the dump shows whether it is gone.",
			Wrong: "The order is the schedule in the dump, and an operand and a result of one instruction may share as XLA's own analysis has it. What the kernel of a fusion does with an operand and a result in exactly one place is not this rule's: AC208 runs it. Computations without a schedule, or called from several places, are not looked at, and the report says so.",
		},
		CheckModule: checkAssignmentConflict,
	}
}

func checkAssignmentConflict(p *ModulePass) {
	for _, list := range p.Clashes {
		if list[0].Kind == alias.TwoResults {
			continue
		}
		c := list[0]
		pr := ModuleProblem{
			Instruction: p.Module.Values[c.Lost].Instruction, Lost: c.Lost, Written: c.Written,
			Fix: "report the buffer assignment to XLA; jax.lax.optimization_barrier around the lost value and its reader can keep them apart",
		}
		switch c.Kind {
		case alias.Overwritten:
			p.overwritten(&pr, c)
		case alias.ReadWhileWritten:
			p.readWhileWritten(&pr, c)
		case alias.TwoParameters:
			p.twoParameters(&pr, c)
		case alias.Misplaced:
			pr.Message = fmt.Sprintf("The caller passes %s in memory of its own, but the program reads it from allocation %d, where nobody put it.",
				p.Name(c.Lost), sliceOfValue(p.Module, c.Lost).Allocation)
		case alias.NotReturned:
			pr.Instruction = p.Module.Values[c.Written].Instruction
			pr.Message = fmt.Sprintf("An output was to come back in the memory of the donated parameter %s, but the program leaves it in allocation %d: the caller reads what was there before.",
				p.Name(c.Lost), sliceOfValue(p.Module, c.Written).Allocation)
			pr.Fix = "report the buffer assignment to XLA; do not donate the parameter"
			pr.Places = []int32{pr.Instruction}
		}
		if c.Reader >= 0 {
			pr.Places = append(pr.Places, c.Reader)
		}
		pr.Places = append(pr.Places, p.Module.Values[c.Lost].Instruction)
		pr.Related = append(pr.Related, p.readerOf(c)...)
		pr.Related = append(pr.Related, p.others(list[1:])...)
		p.Report(pr)
	}
}

// overwritten words a value that is written over another.
func (p *ModulePass) overwritten(pr *ModuleProblem, c alias.Conflict) {
	w := p.Module.Values[c.Written].Instruction
	pr.Instruction, pr.Places = w, []int32{w}
	why := c.Why
	if c.Reader >= 0 {
		why = fmt.Sprintf("%s (%s)", c.Why, p.Place(c.Reader))
	}
	pr.Message = fmt.Sprintf("value %s is written over %s, which is still needed: %s.", p.Name(c.Written), p.Name(c.Lost), why)
}

// readWhileWritten words an instruction that writes over what it reads.
func (p *ModulePass) readWhileWritten(pr *ModuleProblem, c alias.Conflict) {
	w := p.Module.Values[c.Written].Instruction
	pr.Instruction, pr.Places = w, []int32{w}
	how := "and its opcode, " + strings.Clone(p.Module.Instructions[w].Opcode) + ", is not one that may"
	if sliceOfValue(p.Module, c.Lost) != sliceOfValue(p.Module, c.Written) {
		how = "and the two do not lie in exactly one place"
	}
	pr.Message = fmt.Sprintf("value %s is written while %s, which it is computed from, is read in the same bytes, %s.", p.Name(c.Written), p.Name(c.Lost), how)
}

// twoParameters words two entry parameters in one place.
func (p *ModulePass) twoParameters(pr *ModuleProblem, c alias.Conflict) {
	lost, there := p.Name(c.Lost), p.Name(c.Written)
	pr.Message = fmt.Sprintf("parameter %s lies in the memory of another, %s: whoever reads %s reads %s.", lost, there, lost, there)
	pr.Fix = "do not donate these arguments, and report the dump to XLA (jax #39625)"
	if v, outputs := p.returnedInBoth(c); v >= 0 {
		i := p.Module.Values[v].Instruction
		pr.Message += fmt.Sprintf(" XLA put them together because %s is returned several times, as outputs %s, in the memory of both.", p.Place(i), outputs)
		pr.Fix = "return the donated state before that value, return the value once, or do not donate the state; and report the dump to XLA (jax #39625)"
		pr.Places = append(pr.Places, i)
	}
}

// returnedInBoth finds the value that the program returns in the memory of both of two
// parameters, and names the outputs.
func (p *ModulePass) returnedInBoth(c alias.Conflict) (value int32, outputs string) {
	var found []int32
	var names []string
	for _, v := range [...]int32{c.Written, c.Lost} {
		parameter := int64(p.Module.Instructions[p.Module.Values[v].Instruction].Parameter)
		for _, d := range p.Module.Donated {
			if d.Aliased && d.Parameter == parameter && alias.Index(d.Index).String() == alias.Index(p.Module.Values[v].Index).String() {
				if w := p.Lives.Output(d.Output); w >= 0 {
					found, names = append(found, w), append(names, alias.Index(d.Output).String())
				}
			}
		}
	}
	if len(found) != 2 || found[0] != found[1] {
		return -1, ""
	}
	return found[0], strings.Join(names, " and ")
}

// readerOf is the instruction that reads a lost value wrong.
func (p *ModulePass) readerOf(c alias.Conflict) []Related {
	if c.Reader < 0 {
		return nil
	}
	r := Related{Role: "reader", Instruction: strings.Clone(p.Module.Instructions[c.Reader].Name), Text: "reads " + p.Name(c.Lost) + " wrong"}
	if s := p.locate.source(p.Module, c.Reader); s != nil {
		r.File, r.Line = s.File, s.Line
	}
	return []Related{r}
}

// maxOthers bounds what is told of the conflicts that come with one.
const maxOthers = 8

// others are the conflicts of the same values that come with one.
func (p *ModulePass) others(list []alias.Conflict) []Related {
	var out []Related
	for _, c := range list[:min(len(list), maxOthers)] {
		v := c.Lost
		text := p.Name(c.Lost) + " is lost, too"
		if c.Written >= 0 {
			v = c.Written
			text = p.Name(c.Written) + " over " + p.Name(c.Lost)
		}
		slice := sliceOfValue(p.Module, v)
		out = append(out, Related{
			Role: "also", Instruction: strings.Clone(p.Module.Instructions[p.Module.Values[v].Instruction].Name), Slice: &slice, Text: text,
		})
	}
	return out
}

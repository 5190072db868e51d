package rules

import (
	"fmt"

	"aliascheck/rules/replay"
)

func resultNotWritten() Rule {
	return Rule{
		Code: "AC204", Name: "result-not-written", Default: Warning,
		Summary: "bytes of a result that is read are never written",
		Doc: Doc{
			What:  "Bytes of a result that nothing claims are written neither by the kernel nor by bytes_to_zero, and an instruction or the caller reads that result.",
			Why:   "The reader gets whatever the allocation held before: another value of the program, other from run to run.",
			Mend:  "Let the kernel write every element (check the grid and the masks), zero the result before the launch, or let an operand with the wanted contents claim it.",
			Wrong: "A reader may ignore the part that is not written. Where the kernel's accesses depend on its inputs, other inputs may fill the result: then it is a note.",
		},
		Confirm: replay.Unwritten,
		Patches: zeroPatches(),
		Check:   checkResultNotWritten,
	}
}

func checkResultNotWritten(p *Pass) {
	if p.Effects == nil {
		return
	}
	for b := range p.Call.Results {
		r := &p.Call.Results[b]
		if p.Call.Claimed(b) || r.Bytes == 0 || r.Value < 0 {
			continue
		}
		for i := range p.Effects.KernelRuns() {
			if run := &p.Effects.KernelRuns()[i]; reportNotWritten(p, b, run) {
				break
			}
		}
	}
}

// reportNotWritten reports result leaf b where a run leaves some of it unwritten.
func reportNotWritten(p *Pass, b int, r *KernelRun) bool {
	n := len(p.Call.Operands) + b
	size := p.Call.Results[b].Slice.Size
	pr := Problem{Operand: -1, Result: b}
	if !r.Takes(n) && len(r.Pointers) > 0 {
		pr.Severity = Error
		pr.Message = fmt.Sprintf("The kernel is given no pointer for %s, and nothing claims it: nobody writes it.", p.Result(b))
		pr.Fix = "declare which operand the kernel writes in its place, in input_output_aliases"
		pr.Confirmation, pr.ConfirmationReason = Confirmed, "read from the call's own parameters"
		p.Report(pr)
		return true
	}
	if !r.Analysed || r.Hang != nil {
		return false
	}
	written := replay.Joined(r.Buffers[n].Written, r.Buffers[n].Atomic)
	first := replay.Gap(written, size)
	if first < 0 {
		return false
	}
	reader, read := p.Lives.OtherReader(p.Call, p.Call.Results[b].Value)
	if !read {
		return false
	}
	name := p.Call.Module.Instructions[reader].Name
	pr.Message = fmt.Sprintf("The kernel writes %s of the %s of %s; byte %d is the first that nobody writes, and %s reads the result.",
		Bytes(replay.Covered(written)), Bytes(size), p.Result(b), first, name)
	pr.Fix = "write every element, zero the result before the launch (bytes_to_zero), or claim it with an operand of the wanted contents"
	pr.Related = []Related{{Role: "reader", Instruction: name}}
	if r.Basis != Complete {
		pr.Severity = Note
	}
	pr.Confirmation, pr.ConfirmationReason, pr.Evidence = seen(r)
	p.Report(pr)
	return true
}

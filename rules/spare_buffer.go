package rules

import "fmt"

func spareBuffer() Rule {
	return Rule{
		Code: "AC210", Name: "spare-buffer", Default: Note,
		Summary: "an operand is there only to claim a result",
		Doc: Doc{
			What:  "The kernel never touches an operand that a declared pair names: the operand is there so that its memory becomes the result's.",
			Why:   "The buffer is alive from where it is made to the call, on top of everything else that is alive there.",
			Mend:  "Nothing has to be mended. Make the buffer as late as possible; where the kernel is safe in place for another dead operand, let that one claim the result.",
			Wrong: "Another configuration, or another shape, of the kernel may read the operand.",
		},
		Check: checkSpareBuffer,
	}
}

func checkSpareBuffer(p *Pass) {
	if p.Effects == nil {
		return
	}
	for _, d := range p.Call.Declared {
		if d.Operand < 0 || d.Result < 0 || !untouched(p, int(d.Operand)) {
			continue
		}
		pr := Problem{
			Operand: int(d.Operand), Result: int(d.Result),
			Message: fmt.Sprintf("The kernel never touches %s: it is there only to claim %s, and costs %s from where it is made to the call.",
				p.Operand(int(d.Operand)), p.Result(int(d.Result)), Bytes(p.Call.Operands[d.Operand].Bytes)),
			Fix: "make the buffer just before the call; nothing has to be mended",
		}
		pr.Confirmation, pr.ConfirmationReason, pr.Evidence = seen(&p.Effects.KernelRuns()[0])
		p.Report(pr)
	}
}

// untouched reports whether no configuration reads or writes operand leaf a.
func untouched(p *Pass, a int) bool {
	for _, r := range p.Effects.KernelRuns() {
		if !r.Analysed || r.Hang != nil || !r.Takes(a) || !r.Buffers[a].Untouched() {
			return false
		}
	}
	return p.Call.Operands[a].Bytes > 0
}

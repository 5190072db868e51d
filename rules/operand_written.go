package rules

import (
	"fmt"

	"aliascheck/rules/replay"
)

func operandWritten() Rule {
	return Rule{
		Code: "AC203", Name: "operand-written", Default: Error,
		Summary: "the kernel writes to an operand that no declared pair names",
		Doc: Doc{
			What:  "The kernel changes bytes of an operand that is in no declared pair, so XLA takes the operand for unchanged after the call.",
			Why:   "XLA orders and shares memory as if the operand were only read: a later reader, the caller that owns the parameter, or the next pass of the loop gets what the kernel left there.",
			Mend:  "Declare the pair: name the operand and the result that takes its place in input_output_aliases. If the operand is only room to work in, pass an uninitialized buffer and claim it.",
			Wrong: "A kernel that writes back the value that was there changes nothing; the machine sees writes, not changes. Where nothing else reads the operand's value it is private room, and a warning.",
		},
		Confirm: replay.Changed,
		Check:   checkOperandWritten,
	}
}

func checkOperandWritten(p *Pass) {
	if p.Effects == nil {
		return
	}
	for a := range p.Call.Operands {
		if p.Call.InDeclaredPair(a) {
			continue
		}
		for i, r := range p.Effects.KernelRuns() {
			if r.Analysed && r.Buffers[a].WrittenBy != nil {
				reportOperandWritten(p, a, &p.Effects.KernelRuns()[i])
				break
			}
		}
	}
}

func reportOperandWritten(p *Pass, a int, r *KernelRun) {
	writer := replay.NewAccess(r.Buffers[a].WrittenBy)
	pr := Problem{
		Operand: a, Result: -1,
		Message: fmt.Sprintf("The kernel writes %s of %s, which no declared pair names (%s): %s.",
			Bytes(changed(r, a)), p.Operand(a), replay.Where(r.Buffers[a].WrittenBy), otherUse(p, a)),
		Fix:     fmt.Sprintf("name operand %d and the result that takes its place in input_output_aliases, or let the kernel write a result instead", p.Call.Operands[a].Operand),
		Related: []Related{relatedAccess(writer, "writer")},
	}
	if otherUse(p, a) == privateRoom {
		pr.Severity = Warning
	}
	pr.Confirmation, pr.ConfirmationReason, pr.Evidence = seen(r)
	p.Report(pr)
}

// changed counts the bytes of a buffer that a run wrote.
func changed(r *KernelRun, n int) int64 {
	return replay.Covered(replay.Joined(r.Buffers[n].Written, r.Buffers[n].Atomic))
}

const privateRoom = "nothing else reads it"

// otherUse says who beside the call has a use for an operand's value.
func otherUse(p *Pass, a int) string {
	x := &p.Call.Operands[a]
	if x.Value < 0 {
		return "who else reads it is not known"
	}
	if x.IsReady(p.Call.Module) {
		return "it is a parameter or a constant"
	}
	if reader, ok := p.Lives.OtherReader(p.Call, x.Value); ok {
		return p.Call.Module.Instructions[reader].Name + " uses it too"
	}
	if dead, reason := p.Lives.DeadAfter(p.Call, x.Value); !dead && reason == "" {
		return "it is defined outside the loop around the call"
	}
	return privateRoom
}

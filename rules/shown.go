package rules

import (
	"fmt"

	"aliascheck/rules/replay"
)

// confirmation is what a pair's verdict says of the finding that rests on it.
func confirmation(v PairVerdict) (Confirmation, string) {
	switch {
	case v.Emulated != nil && v.Emulated.Witness != nil:
		return Confirmed, v.Reason
	case v.Basis == Table && v.Emulated != nil:
		return Unconfirmed, "decided by the table of known kernels; a run of the kernel saw no conflict"
	case v.Basis == Table:
		return Unchecked, "decided by the table of known kernels; the kernel was not run"
	}
	return Unconfirmed, v.Reason
}

// witnesses names the reader and the writer that a run of the kernel caught.
func witnesses(v PairVerdict) []Related {
	if v.Emulated == nil || v.Emulated.Witness == nil {
		return nil
	}
	w := v.Emulated.Witness
	return []Related{relatedAccess(w.Reader, "reader"), relatedAccess(w.Writer, "writer")}
}

// relatedAccess is a place that a finding speaks of: who touched a byte.
func relatedAccess(a Access, role string) Related {
	if a.Code != "" {
		return Related{Role: role, Text: fmt.Sprintf("block (%d,%d,%d), thread (%d,%d,%d), %s",
			a.Block[0], a.Block[1], a.Block[2], a.Thread[0], a.Thread[1], a.Thread[2], a.Code)}
	}
	return Related{
		Role: role, File: a.File, Line: a.Line,
		Text: fmt.Sprintf("block (%d,%d,%d), thread (%d,%d,%d), PTX line %d",
			a.Block[0], a.Block[1], a.Block[2], a.Thread[0], a.Thread[1], a.Thread[2], a.PTXLine),
	}
}

// isItsOperand reports whether a claimed result has no pointer of its own: the
// kernel writes through the operand's, so nothing is shared between two pointers.
func isItsOperand(p *Pass, operand, result int) bool {
	return p.Call.IsDeclared(operand, result) && !hasPointer(p, result)
}

// hasPointer reports whether the kernel is given a pointer for a result leaf.
func hasPointer(p *Pass, result int) bool {
	return p.Kernel == nil || p.Kernel.Configurations[0].Takes(len(p.Call.Operands)+result)
}

// evidence wraps what the machine showed of a pair; nil where it did not run.
func evidence(v PairVerdict) *Evidence {
	if v.Emulated == nil {
		return nil
	}
	return &Evidence{Emulated: v.Emulated}
}

// seen is the confirmation of a finding that a run of the kernel showed.
func seen(r *KernelRun) (Confirmation, string, *Evidence) {
	reason := "the PTX machine saw it"
	if r.Engine != "" {
		reason = "a trace on the card saw it"
	}
	switch r.Basis {
	case Complete:
		reason += ", whatever the operands hold"
	case Sampled:
		reason += " in the blocks that it ran"
	default:
		reason += " with the contents it ran with"
	}
	return Confirmed, reason, &Evidence{Emulated: &Emulated{
		Verdict: string(Unsafe), Complete: r.Basis == Complete, Basis: string(r.Basis), Inputs: r.Inputs, Engine: r.Engine,
	}}
}

// onCard is what a kernel did by itself on a card.
func onCard(c *replay.Conduct, fix string) Problem {
	return Problem{Operand: -1, Result: -1, Message: "On a card, with its buffers apart: " + c.Text + ".", Fix: fix}
}

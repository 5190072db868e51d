package rules

import (
	"fmt"

	"aliascheck/alias"
	"aliascheck/rules/replay"
)

func partialOverlap() Rule {
	return Rule{
		Code: "AC102", Name: "partial-overlap", Default: Error,
		Summary: "an operand and a result share some bytes, but not the same slice",
		Doc: Doc{
			What:  "The slices of an operand leaf and a result leaf share bytes but differ in offset or size.",
			Why:   "An element of the result stands over another element of the operand, so even a kernel that is safe in place overwrites what it has yet to read, whether the pair is declared or not.",
			Mend:  "No declaration asks for this: it is a defect of the buffer assignment. Report it to XLA with the dump, and copy the operand before the call until it is fixed.",
			Wrong: "A kernel that reads everything before it writes anything would survive it. Nothing promises that it stays so.",
		},
		Confirm: replay.PairShared,
		Check:   checkPartialOverlap,
	}
}

func checkPartialOverlap(p *Pass) {
	for _, o := range p.Overlaps.OperandResult {
		a, b := int(o.A), int(o.B)
		if o.Exact || badPair(p.Call, a, b) || impliedByResults(p, o) {
			continue
		}
		x, y := &p.Call.Operands[a].Slice, &p.Call.Results[b].Slice
		from := max(x.Offset, y.Offset)
		to := min(x.Offset+x.Size, y.Offset+y.Size)
		declared := "undeclared"
		if p.Call.IsDeclared(a, b) {
			declared = "declared"
		}
		p.Report(Problem{
			Operand: a, Result: b, Evidence: evidence(p.Pair(a, b)),
			Message: fmt.Sprintf("%s and %s (%s) share %s, but their slices differ: the result begins %+d bytes from the operand.",
				p.Operand(a), p.Result(b), declared, Bytes(to-from), y.Offset-x.Offset),
			Fix: "copy the operand before the call, and report the buffer assignment to XLA",
		})
	}
}

// impliedByResults reports whether the overlap only follows from two results in
// one place: the operand rightly shares its slice with one of them.
func impliedByResults(p *Pass, o alias.Overlap) bool {
	for _, rr := range p.Overlaps.ResultResult {
		other := int32(-1)
		switch o.B {
		case rr.A:
			other = rr.B
		case rr.B:
			other = rr.A
		}
		if other >= 0 && p.Call.Operands[o.A].Slice == p.Call.Results[other].Slice {
			return true
		}
	}
	return false
}

// badPair reports whether a declaration of this very pair is bad: AC106 has said
// so, and nothing more is said of the pair.
func badPair(c *alias.Call, operand, result int) bool {
	for _, d := range c.Declared {
		if d.Problem != "" && d.Operand == int32(operand) && d.Result == int32(result) {
			return true
		}
	}
	return false
}

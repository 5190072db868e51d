package rules

import (
	"fmt"

	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"
)

func outOfBounds() Rule {
	return Rule{
		Code: "AC206", Name: "out-of-bounds", Default: Error,
		Summary: "the kernel touches bytes outside its buffers",
		Doc: Doc{
			What:  "A thread of the dumped launch reads or writes bytes outside every buffer of the launch. Only real touches count: a false predicate, a source size of zero, a clipped TMA box and a prefetch touch nothing.",
			Why:   "XLA packs values into one allocation: the access hits a neighbour's bytes, silently, or faults where nothing is mapped.",
			Mend:  "Check the grid, the strides and the masks against the shapes of the operands and results.",
			Wrong: "Accesses that depend on an operand's contents are reported only for contents that were found (a literal, a snapshot, a file), never for made-up ones.",
		},
		Confirm: replay.Outside,
		Check:   checkOutOfBounds,
	}
}

// maxStrays bounds the findings of one configuration: one an instruction.
const maxStrays = 4

func checkOutOfBounds(p *Pass) {
	if p.Effects == nil {
		return
	}
	for i := range p.Effects.KernelRuns() {
		r := &p.Effects.KernelRuns()[i]
		if !r.Analysed || r.Made || len(r.Strays) == 0 {
			continue
		}
		for n := range r.Strays[:min(len(r.Strays), maxStrays)] {
			reportStray(p, r, &r.Strays[n])
		}
		return
	}
}

func reportStray(p *Pass, r *KernelRun, s *ptx.Stray) {
	access := replay.NewAccess(&s.Access)
	pr := Problem{Operand: -1, Result: -1, Related: []Related{relatedAccess(access, "access")}}
	next := "outside every buffer of the launch"
	if n := s.Nearest; n >= 0 && n < len(r.Buffers) {
		name := ""
		if n < len(p.Call.Operands) {
			pr.Operand, name = n, p.Operand(n)
		} else if n -= len(p.Call.Operands); n < len(p.Call.Results) {
			pr.Result, name = n, p.Result(n)
		}
		next = fmt.Sprintf("at byte %d of %s, which has %s", s.Offset, name, Bytes(replay.LeafOf(p.Call, int64(s.Nearest)).Slice.Size))
	}
	verb := "reads"
	if s.Write {
		verb = "writes"
	}
	pr.Message = fmt.Sprintf("%s %s %d bytes of %s memory %s (%s); %d such accesses.",
		sentence(replay.Thread(&s.Access)), verb, s.Size, s.Space, next, replay.Where(&s.Access), s.Count)
	pr.Fix = "check the grid, the strides and the masks against the shapes"
	pr.Confirmation, pr.ConfirmationReason, pr.Evidence = seen(r)
	p.Report(pr)
}

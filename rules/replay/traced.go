package replay

import (
	"aliascheck/rules/ptx"
)

// Traced is what the accesses of a call's machine code were, on a card: see engines that
// trace. Buffers are numbered as in a Plan, pairs as in alias.Call.
type Traced struct {
	Engine  string // "trace"
	Kernels string // what was launched, for people
	Pairs   []TracedPair
	Buffers []TracedBuffer
	Inputs  []Recipe // of the operands
}

// TracedPair is a verdict on a pair whose buffers stood apart.
type TracedPair struct {
	Operand, Result int
	Verdict         Verdict
	Reason          string
	Byte            int64
	Reader, Writer  TracedAccess // of Unsafe
}

// TracedAccess is a touch of a byte by machine code, or by a copy.
type TracedAccess struct {
	Block, Thread [3]uint32
	Code          string // the function and the instruction's offset in it
}

// TracedBuffer is what one buffer saw, in bytes; a nil list of a buffer that is not
// Whole says nothing.
type TracedBuffer struct {
	Whole                    bool // the lists are all there is
	Read, Written, ReadFirst [][2]int64
}

// NewTraced makes the analysis of a traced call. It rests on the inputs that were tried.
func NewTraced(p *Plan, t Traced) *Analysis {
	a := &Analysis{Operands: p.Operands}
	run := KernelRun{Kernel: t.Kernels, Engine: t.Engine, Analysed: true, Basis: Inputs, Inputs: t.Inputs, Made: true}
	for n := range p.Buffers {
		a.Claimant = append(a.Claimant, p.Buffers[n].Claimant)
		run.Pointers = append(run.Pointers, n)
		run.Buffers = append(run.Buffers, p.traced(n, &t.Buffers[n], t.Kernels))
	}
	for _, pair := range t.Pairs {
		v := ptx.Verdict{Safety: ptx.Unknown, Reason: pair.Reason}
		switch pair.Verdict {
		case Safe:
			v.Safety = ptx.Safe
		case Unsafe:
			v.Safety = ptx.Unsafe
			v.Witness = &ptx.Witness{Byte: pair.Byte, Reader: pair.Reader.access(), Writer: pair.Writer.access()}
		}
		run.Pairs = append(run.Pairs, PairRun{Operand: pair.Operand, Result: pair.Result, Verdict: v})
	}
	a.Runs = []KernelRun{run}
	return a
}

// traced turns a buffer's intervals into effects. Of a buffer whose lists are not whole
// nothing is claimed but that it is used.
func (p *Plan) traced(n int, b *TracedBuffer, kernels string) ptx.Effects {
	if !b.Whole {
		everything := []ptx.Range{{Start: 0, End: p.Buffers[n].Size}}
		if n >= p.Operands {
			return ptx.Effects{Written: everything}
		}
		return ptx.Effects{Read: everything, OldRead: true}
	}
	e := ptx.Effects{Read: rangesOf(b.Read), Written: rangesOf(b.Written), ReadFirst: rangesOf(b.ReadFirst)}
	e.OldRead = len(e.Read) > 0
	e.Reaches = len(e.ReadFirst) > 0
	by := ptx.Access{Instruction: kernels}
	if len(e.Read) > 0 {
		e.ReadBy = &by
	}
	if len(e.Written) > 0 {
		e.WrittenBy = &by
	}
	if len(e.ReadFirst) > 0 {
		e.FirstRead = &by
	}
	return e
}

func rangesOf(list [][2]int64) []ptx.Range {
	var out []ptx.Range
	for _, r := range list {
		out = append(out, ptx.Range{Start: r[0], End: r[1]})
	}
	return out
}

func (a TracedAccess) access() ptx.Access {
	return ptx.Access{Block: a.Block, Thread: a.Thread, Instruction: a.Code}
}

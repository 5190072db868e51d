package replay

import (
	"fmt"
	"path"
	"slices"

	"aliascheck/rules/ptx"
)

// Analysis is what running a call's kernels showed. It is plain data without
// pointers into a module: it outlives the module, and the cache keeps it.
type Analysis struct {
	Operands int         // the first buffers are operands, the others results
	Claimant []int       // by buffer: the operand that claims a result, else -1
	Runs     []KernelRun // one a configuration, never empty

	NotRun bool        // nothing was run, and Runs says why
	Tried  bool        // but an engine replayed the call, and saw no more than Shown
	Shown  []PairShown // pairs that another engine ran in one place, and that differed
}

// PairShown is a pair that a replay on a card showed to be unsafe.
type PairShown struct {
	Operand, Result int    // leaf numbers of alias.Call
	Reason          string // where, and what differed
}

// NotAnalysed is the analysis of a kernel of which nothing is known.
func NotAnalysed(p *Plan, reason string) *Analysis {
	a := &Analysis{Operands: p.Operands, NotRun: true}
	for n := range p.Buffers {
		a.Claimant = append(a.Claimant, p.Buffers[n].Claimant)
	}
	for i := range p.Call.Configurations {
		a.Runs = append(a.Runs, KernelRun{Kernel: p.Call.Configurations[i].Entry, Reason: reason})
	}
	if len(a.Runs) == 0 { // the kernel is not in the dump
		a.Runs = []KernelRun{{Reason: reason}}
	}
	return a
}

// KernelRun is what running one configuration showed. Buffers are numbered as
// jaxlib numbers them: operands, then results, flattened.
type KernelRun struct {
	Kernel      string
	Description string // the autotuner's words for the configuration
	Engine      string // "trace" where a card's accesses were traced; empty: the PTX machine
	Pointers    []int  // the buffers that it has a pointer to, ascending

	Analysed bool
	Reason   string // where not analysed; of what is below, only Unready counts then
	Damaged  bool   // its code could not be read, or is not the call's
	Late     bool   // time ran out: with more, another run may tell more
	Basis    Basis
	Inputs   []Recipe // contents that decided addresses, guards or branches
	Made     bool     // some of them were made up
	Tried    []Recipe `json:"-"` // all that were made up, deciding or not

	// Reach is what the program may touch whatever memory holds; nil where that is not
	// known. It counts where the configuration was not analysed, too.
	Reach *ptx.Reach

	AddressFrom []int // operands that Inputs speaks of
	Buffers     []ptx.Effects
	Pairs       []PairRun
	Strays      []ptx.Stray
	Hang        *ptx.Hang
	LateCopies  []ptx.LateCopy
	Descriptors []ptx.Descriptor

	// Unready is a run with garbage in the operands that are not computed yet when
	// the autotuner runs before the program; nil where there was no need.
	Unready *UnreadyRun
}

// Takes reports whether the kernel has a pointer to buffer n.
func (r *KernelRun) Takes(n int) bool { return slices.Contains(r.Pointers, n) }

// PairRun is the machine's verdict on a pair of leaves, numbered as in alias.Call.
type PairRun struct {
	Operand, Result int
	Shift           int64 // byte i of the result is byte i+Shift of the operand
	Verdict         ptx.Verdict
	Basis           Basis // empty: the run's

	// Settled: the program alone says so, whatever memory holds. It counts where the
	// configuration was not analysed, too.
	Settled bool
	Inputs  []Recipe // contents that decided it, where they are not the run's
}

// UnreadyRun is what a kernel did with garbage in some operands.
type UnreadyRun struct {
	Operands []int // that held garbage
	Inputs   []Recipe
	Stray    *ptx.Stray // nil: every try stayed inside the buffers
	Reason   string     // why nothing is known; empty where the tries ran
}

// Analysed reports whether every configuration was analysed, and if not, why.
func (a *Analysis) Analysed() (bool, string) {
	for _, r := range a.Runs {
		if !r.Analysed {
			return false, r.Reason
		}
	}
	return true, ""
}

// Perishes keeps an analysis out of the cache that another run, with more time,
// may better.
func (a *Analysis) Perishes() bool {
	return slices.ContainsFunc(a.Runs, func(r KernelRun) bool { return r.Late })
}

// Pair joins the configurations' verdicts on a pair: unsafe if any is unsafe,
// unknown if any is unknown or was not analysed.
func (a *Analysis) Pair(operand, result int) PairVerdict {
	v := a.pair(operand, result)
	if v.Verdict == Unknown {
		for i := range a.Shown {
			if s := &a.Shown[i]; s.Operand == operand && s.Result == result {
				v.Verdict, v.Basis, v.Reason = Unsafe, Inputs, s.Reason
			}
		}
	}
	return v
}

// pair is Pair as the runs have it.
func (a *Analysis) pair(operand, result int) PairVerdict {
	out := PairVerdict{Verdict: Safe, Basis: Complete, Reason: "every read comes before the writes of the same bytes"}
	decisive, shown := &a.Runs[0], PairRun{}
	for i := range a.Runs {
		r := &a.Runs[i]
		p, ok := r.pair(operand, result)
		v := p.Verdict
		switch {
		case ok:
			out.Basis = out.Basis.weaker(p.Basis)
		case r.Analysed && r.Hang != nil:
			out.Basis = out.Basis.weaker(r.Basis)
		default:
			out.Basis = NoBasis
		}
		switch {
		case ok && v.Safety == ptx.Unsafe && out.Verdict != Unsafe:
			out.Verdict, out.Reason, decisive, shown = Unsafe, v.Reason, r, p
		case ok && v.Safety == ptx.Safe && out.Verdict == Safe && (i == 0 || !p.Settled && shown.Settled):
			decisive, shown = r, p
			if v.Reason != "" {
				out.Reason = v.Reason
			}
		case ok && v.Safety == ptx.Safe, out.Verdict != Safe:
		case ok:
			out.Verdict, out.Reason, decisive, shown = Unknown, v.Reason, r, p
		case !r.Analysed:
			out.Verdict, out.Reason, decisive, shown = Unknown, r.Reason, r, p
		case r.Hang != nil:
			out.Verdict, out.Reason, decisive, shown = Unknown, "the kernel does not end", r, p
		default:
			out.Verdict, out.Reason = Unknown, "the leaves differ in size and share no byte"
		}
	}
	witness := shown.Verdict.Witness
	if witness != nil {
		out.Reason += fmt.Sprintf(" (read at %s, written at %s)", Where(&witness.Reader), Where(&witness.Writer))
	}
	if len(a.Runs) > 1 && out.Verdict == Unsafe {
		out.Reason += fmt.Sprintf(" (configuration %q)", decisive.Description)
	}
	if out.Verdict == Unsafe && out.Basis == NoBasis { // another configuration was not analysed
		if out.Basis = shown.Basis; out.Basis == Complete {
			out.Basis = Sampled
		}
	}
	if a.NotRun {
		return out
	}
	inputs := decisive.Inputs
	if shown.Settled || shown.Inputs != nil {
		inputs = shown.Inputs
	}
	out.Emulated = &Emulated{
		Verdict: string(out.Verdict), Complete: out.Basis == Complete, Basis: string(out.Basis), Reason: out.Reason,
		Witness: NewWitness(witness), Inputs: inputs, Engine: decisive.Engine,
	}
	return out
}

// weaker is the basis of two together. Nothing at all is the weakest.
func (b Basis) weaker(c Basis) Basis {
	switch {
	case b == NoBasis || c == NoBasis || c == "":
		return NoBasis
	case b == Sampled || c == Sampled:
		return Sampled
	case b == Inputs || c == Inputs:
		return Inputs
	}
	return Complete
}

// Decisive is the configuration that decides a pair's verdict: the first unsafe
// one, else the first.
func (a *Analysis) Decisive(operand, result int) int {
	for n := range a.Runs {
		if p, ok := a.Runs[n].pair(operand, result); ok && p.Verdict.Safety == ptx.Unsafe {
			return n
		}
	}
	return 0
}

// pair finds the run's verdict on a pair; false where it has none.
func (r *KernelRun) pair(operand, result int) (PairRun, bool) {
	for i := range r.Pairs {
		if p := &r.Pairs[i]; p.Operand == operand && p.Result == result && (r.Analysed || p.Settled) {
			out := *p
			if out.Basis == "" {
				out.Basis = r.Basis
			}
			return out, true
		}
	}
	return PairRun{}, false
}

// ReadsOld says whether some configuration reads what stood in the operand before
// the launch, through its own pointer or through that of a result it claims. What
// no load can reach is not read, whatever memory holds.
func (a *Analysis) ReadsOld(operand int) (reads, known bool) {
	known = true
	for i := range a.Runs {
		r := &a.Runs[i]
		for n, claimant := range a.Claimant {
			if n != operand && claimant != operand {
				continue
			}
			if r.Reach != nil && !r.Reach.Read[n] {
				continue
			}
			if !r.Analysed {
				known = false
			} else if r.Buffers[n].OldRead {
				return true, true
			} else if r.Basis != Complete {
				known = false
			}
		}
	}
	return false, known
}

// KernelRuns gives the configurations' runs.
func (a *Analysis) KernelRuns() []KernelRun { return a.Runs }

func NewWitness(w *ptx.Witness) *Witness {
	if w == nil {
		return nil
	}
	return &Witness{Byte: w.Byte, Reader: NewAccess(&w.Reader), Writer: NewAccess(&w.Writer)}
}

func NewAccess(a *ptx.Access) Access {
	out := Access{PTXLine: a.PTXLine, File: a.File, Line: a.Line}
	if a.PTXLine == 0 {
		out.Code = a.Instruction
	}
	for i := range 3 {
		out.Block[i], out.Thread[i] = int64(a.Block[i]), int64(a.Thread[i])
	}
	return out
}

// Where names an access in a message: line 23 of kernels.py, or line 81 of the PTX.
func Where(a *ptx.Access) string {
	if a.Line == 0 && a.PTXLine == 0 {
		if a.Instruction != "" {
			return a.Instruction
		}
		return "the memset before the launch"
	}
	if a.Line > 0 {
		return fmt.Sprintf("%s:%d", path.Base(a.File), a.Line)
	}
	return fmt.Sprintf("line %d of the PTX", a.PTXLine)
}

// Thread names who made an access.
func Thread(a *ptx.Access) string {
	return fmt.Sprintf("thread (%d,%d,%d) of block (%d,%d,%d)",
		a.Thread[0], a.Thread[1], a.Thread[2], a.Block[0], a.Block[1], a.Block[2])
}

package rules

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
}

// KernelRun is what running one configuration showed. Buffers are numbered as
// jaxlib numbers them: operands, then results, flattened.
type KernelRun struct {
	Kernel      string
	Description string // the autotuner's words for the configuration
	Pointers    []int  // the buffers that it has a pointer to, ascending

	Analysed bool
	Reason   string // where not analysed; of what is below, only Unready counts then
	Late     bool   // time ran out: with more, another run may tell more
	Basis    Basis
	Inputs   []Recipe // contents that decided addresses, guards or branches
	Made     bool     // some of them were made up

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

// perishes keeps an analysis out of the cache that another run, with more time,
// may better.
func (a *Analysis) perishes() bool {
	return slices.ContainsFunc(a.Runs, func(r KernelRun) bool { return r.Late })
}

// basis is what all configurations together rest on: the weakest of theirs.
func (a *Analysis) basis() Basis {
	basis := Complete
	for _, r := range a.Runs {
		switch {
		case !r.Analysed:
			return NoBasis
		case r.Basis == Sampled, r.Basis == Inputs && basis == Complete:
			basis = r.Basis
		}
	}
	return basis
}

// Pair joins the configurations' verdicts on a pair: unsafe if any is unsafe,
// unknown if any is unknown or was not analysed.
func (a *Analysis) Pair(operand, result int) PairVerdict {
	out := PairVerdict{Verdict: Safe, Basis: a.basis(), Reason: "every read comes before the writes of the same bytes"}
	var decisive *KernelRun
	var witness *ptx.Witness
	for i := range a.Runs {
		r := &a.Runs[i]
		v, ok := r.pair(operand, result)
		switch {
		case ok && v.Safety == ptx.Unsafe && out.Verdict != Unsafe:
			out.Verdict, out.Reason, decisive, witness = Unsafe, v.Reason, r, v.Witness
		case ok && v.Safety == ptx.Safe, out.Verdict != Safe:
		case ok:
			out.Verdict, out.Reason, decisive = Unknown, v.Reason, r
		case !r.Analysed:
			out.Verdict, out.Reason, decisive = Unknown, r.Reason, r
		case r.Hang != nil:
			out.Verdict, out.Reason, decisive = Unknown, "the kernel does not end", r
		default:
			out.Verdict, out.Basis, out.Reason = Unknown, NoBasis, "the leaves differ in size and share no byte"
		}
	}
	if decisive == nil {
		decisive = &a.Runs[0]
	}
	if witness != nil {
		out.Reason += fmt.Sprintf(" (read at %s, written at %s)", where(&witness.Reader), where(&witness.Writer))
	}
	if len(a.Runs) > 1 && out.Verdict == Unsafe {
		out.Reason += fmt.Sprintf(" (configuration %q)", decisive.Description)
	}
	if out.Verdict == Unsafe && out.Basis == NoBasis { // another configuration was not analysed
		out.Basis = decisive.Basis
		if out.Basis == Complete {
			out.Basis = Sampled
		}
	}
	out.Emulated = &Emulated{
		Verdict: string(out.Verdict), Complete: out.Basis == Complete, Basis: string(out.Basis), Reason: out.Reason,
		Witness: newWitness(witness), Inputs: decisive.Inputs,
	}
	return out
}

// Decisive is the configuration that decides a pair's verdict: the first unsafe
// one, else the first.
func (a *Analysis) Decisive(operand, result int) int {
	for n := range a.Runs {
		if v, ok := a.Runs[n].pair(operand, result); ok && v.Safety == ptx.Unsafe {
			return n
		}
	}
	return 0
}

// pair finds the run's verdict on a pair; false where it has none.
func (r *KernelRun) pair(operand, result int) (ptx.Verdict, bool) {
	if r.Analysed {
		for i := range r.Pairs {
			if p := &r.Pairs[i]; p.Operand == operand && p.Result == result {
				return p.Verdict, true
			}
		}
	}
	return ptx.Verdict{}, false
}

// ReadsOld says whether some configuration reads what stood in the operand before
// the launch, through its own pointer or through that of a result it claims.
func (a *Analysis) ReadsOld(operand int) (reads, known bool) {
	known = a.basis() == Complete
	for i := range a.Runs {
		r := &a.Runs[i]
		if !r.Analysed {
			continue
		}
		for n := range r.Buffers {
			if (n == operand || a.Claimant[n] == operand) && r.Buffers[n].OldRead {
				return true, true
			}
		}
	}
	return false, known
}

// KernelRuns gives the configurations' runs.
func (a *Analysis) KernelRuns() []KernelRun { return a.Runs }

func newWitness(w *ptx.Witness) *Witness {
	if w == nil {
		return nil
	}
	return &Witness{Byte: w.Byte, Reader: newAccess(&w.Reader), Writer: newAccess(&w.Writer)}
}

func newAccess(a *ptx.Access) Access {
	out := Access{PTXLine: a.PTXLine, File: a.File, Line: a.Line}
	for i := range 3 {
		out.Block[i], out.Thread[i] = int64(a.Block[i]), int64(a.Thread[i])
	}
	return out
}

// where names an access in a message: line 23 of kernels.py, or line 81 of the PTX.
func where(a *ptx.Access) string {
	if a.Line == 0 && a.PTXLine == 0 {
		return "the memset before the launch"
	}
	if a.Line > 0 {
		return fmt.Sprintf("%s:%d", path.Base(a.File), a.Line)
	}
	return fmt.Sprintf("line %d of the PTX", a.PTXLine)
}

// thread names who made an access.
func thread(a *ptx.Access) string {
	return fmt.Sprintf("thread (%d,%d,%d) of block (%d,%d,%d)",
		a.Thread[0], a.Thread[1], a.Thread[2], a.Block[0], a.Block[1], a.Block[2])
}

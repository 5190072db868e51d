package rules

import (
	"fmt"

	"aliascheck/rules/replay"
)

func autotuneUnreadyAddresses() Rule {
	return Rule{
		Code: "AC303", Name: "autotune-unready-addresses", Default: Error,
		Summary: "the autotuner runs a kernel whose addresses come from an operand that is not computed yet",
		Doc: Doc{
			What:  "A typed-FFI Triton call is autotuned before any instruction of the program has run, and the kernel's addresses depend on an operand that the program computes.",
			Why:   "The trials use whatever the memory holds as row numbers: they read and write anywhere, fault, or corrupt other values.",
			Mend:  "Do not autotune this call, or use the untyped target triton_kernel_call, which tunes when the call executes and its operands are there. Tuning once before on real operands helps too: the choice is remembered for the process.",
			Wrong: "A guard in the kernel may bound the addresses: then it is a warning, and the trials time something else than the program does.",
		},
		Confirm: replay.RunsWild,
		Patches: untunePatches(""),
		Check:   checkAutotuneUnreadyAddresses,
	}
}

func checkAutotuneUnreadyAddresses(p *Pass) {
	if p.Effects == nil || p.Kernel == nil || !p.Kernel.Autotuned {
		return
	}
	var worst *KernelRun
	for i := range p.Effects.KernelRuns() {
		r := &p.Effects.KernelRuns()[i]
		if r.Unready != nil && (worst == nil || unreadyRank(r.Unready) > unreadyRank(worst.Unready)) {
			worst = r
		}
	}
	if worst == nil {
		return
	}
	for _, a := range worst.Unready.Operands {
		reportUnready(p, a, worst)
	}
}

// unreadyRank orders outcomes, the worst highest.
func unreadyRank(u *UnreadyRun) int {
	switch {
	case u.Stray != nil:
		return 2
	case u.Reason != "":
		return 1
	}
	return 0
}

func reportUnready(p *Pass, a int, r *KernelRun) {
	u := r.Unready
	pr := Problem{
		Operand: a, Result: -1,
		Message: fmt.Sprintf("The autotuner runs before the program, and the kernel's addresses depend on %s, which %s has yet to compute",
			p.Operand(a), p.DefinedBy(&p.Call.Operands[a])),
		Fix: "do not autotune this call, or call it through triton_kernel_call, which tunes when the call executes",
		Evidence: &Evidence{Emulated: &Emulated{
			Verdict: string(Unsafe), Basis: string(Inputs), Inputs: u.Inputs,
		}},
	}
	switch {
	case u.Stray != nil:
		access := replay.NewAccess(&u.Stray.Access)
		pr.Related = []Related{relatedAccess(access, "access")}
		pr.Message += fmt.Sprintf(": with arbitrary bytes in it the kernel leaves its buffers (%s).", replay.Where(&u.Stray.Access))
		pr.Confirmation, pr.ConfirmationReason = Confirmed, "on the PTX machine a trial with arbitrary contents touched bytes outside every buffer"
	case u.Reason != "":
		pr.Message += "."
		pr.Evidence.Emulated.Verdict, pr.Evidence.Emulated.Reason = string(Unknown), u.Reason
		pr.Confirmation, pr.ConfirmationReason = Unconfirmed, u.Reason
	default:
		pr.Severity = Warning
		pr.Message += "; with arbitrary bytes in it the kernel stayed inside its buffers."
		pr.Evidence.Emulated.Verdict = string(Safe)
		pr.Confirmation, pr.ConfirmationReason = Unconfirmed, "trials with arbitrary contents touched nothing outside the buffers"
	}
	p.Report(pr)
}

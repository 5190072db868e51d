package rules

import "aliascheck/rules/replay"

// The words of package replay that findings and rules are made of.
type (
	Verdict      = replay.Verdict
	Basis        = replay.Basis
	PairVerdict  = replay.PairVerdict
	KernelRun    = replay.KernelRun
	UnreadyRun   = replay.UnreadyRun
	Confirmation = replay.Confirmation
	Evidence     = replay.Evidence
	Emulated     = replay.Emulated
	Witness      = replay.Witness
	Access       = replay.Access
	Recipe       = replay.Recipe
	Run          = replay.Run
	Differ       = replay.Differ
)

// Their values.
const (
	Safe    = replay.Safe
	Unsafe  = replay.Unsafe
	Unknown = replay.Unknown

	Complete = replay.Complete
	Inputs   = replay.Inputs
	Sampled  = replay.Sampled
	Table    = replay.Table
	NoBasis  = replay.NoBasis

	Confirmed   = replay.Confirmed
	Refuted     = replay.Refuted
	Unconfirmed = replay.Unconfirmed
	Unchecked   = replay.Unchecked
)

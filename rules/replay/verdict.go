package replay

// Verdict says whether a pair of leaves may share its memory.
type Verdict string

// The verdicts.
const (
	Safe    Verdict = "safe"
	Unsafe  Verdict = "unsafe"
	Unknown Verdict = "unknown"
)

// Basis says what a verdict rests on.
type Basis string

// The bases.
const (
	Complete Basis = "complete" // every block and thread ran, and no access depended on contents
	Inputs   Basis = "inputs"   // the inputs that were tried
	Sampled  Basis = "sampled"  // some blocks of the launch
	Table    Basis = "table"    // the table of known kernels
	NoBasis  Basis = "none"
)

// PairVerdict is the verdict on one operand leaf and one result leaf.
type PairVerdict struct {
	Verdict  Verdict
	Basis    Basis
	Reason   string
	Emulated *Emulated // what the machine showed, where it ran
}

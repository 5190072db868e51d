package cudarun

import (
	"time"

	"aliascheck/cudarun/driver"
)

// Outcome is what one plan's replay showed. Counts are of this card, this driver
// and these inputs.
type Outcome struct {
	Plan string `json:"plan"` // the plan's name
	// Key is the plan's content hash: plans with equal keys are replayed once.
	Key string `json:"key"`
	// Skipped is why there was no replay at all ("" where there was one): no
	// device, a budget that ran out, PTX for another card, a full card.
	Skipped string `json:"skipped,omitempty"`

	Device *driver.DeviceInfo `json:"device,omitempty"`

	Configurations []ConfigOutcome `json:"configurations,omitempty"`
	Trials         *TrialOutcome   `json:"trials,omitempty"`

	Times Times `json:"times"`
	// FreeBefore and FreeAfter are the card's free bytes around the replay.
	FreeBefore int64 `json:"free_before,omitempty"`
	FreeAfter  int64 `json:"free_after,omitempty"`
}

// ConfigOutcome is the replay of one configuration.
type ConfigOutcome struct {
	Kernel      string `json:"kernel"`
	Description string `json:"description,omitempty"`
	// Reason is why nothing, or not everything, of it ran: "" where all did.
	Reason string `json:"reason,omitempty"`

	Apart    *ApartOutcome `json:"apart,omitempty"`
	Shared   *ModeOutcome  `json:"shared,omitempty"`   // the whole card
	Confined *ModeOutcome  `json:"confined,omitempty"` // its smallest part
	// Control repeats both with the buffers apart, where a shared run differed:
	// a difference here too is not the sharing's.
	Control *ModeOutcome `json:"control,omitempty"`

	// Stop is the fault or the hang that ended the replay of this plan.
	Stop *Stop `json:"stop,omitempty"`

	KernelTime  time.Duration `json:"kernel_ns"`  // median of the runs apart
	CompileTime time.Duration `json:"compile_ns"` // of the driver, module load included
}

// Mode names a way of running a kernel.
type Mode string

// The modes.
const (
	ModeApart    Mode = "apart"
	ModeShared   Mode = "shared"
	ModeConfined Mode = "confined"
	ModeControl  Mode = "control"
	ModeTrials   Mode = "trials"
	ModeSanitize Mode = "sanitize"
)

// Stop is a kernel that did not end well.
type Stop struct {
	Kind  StopKind `json:"kind"`
	Mode  Mode     `json:"mode"`
	Run   int      `json:"run"`            // from 1
	Error string   `json:"error"`          // the driver's words, or the deadline
	Code  int      `json:"code,omitempty"` // of a fault: the CUresult
}

// StopKind tells the ways to end badly apart.
type StopKind string

// The kinds of stops.
const (
	StopFault StopKind = "fault"
	StopHang  StopKind = "hang"
)

// ApartOutcome is what the runs with separate buffers showed: the reference.
type ApartOutcome struct {
	Runs int `json:"runs"`
	// Unstable are result elements that differ between runs with equal poison:
	// the kernel is not deterministic (AC901).
	Unstable []Difference `json:"unstable,omitempty"`
	// WithinTolerance says that floating-point atomics explain the instability.
	WithinTolerance bool `json:"within_tolerance,omitempty"`
	// Poisoned are result elements that change with the poison, and with
	// nothing else: the result is read before it is written (AC205).
	Poisoned []Difference `json:"poisoned,omitempty"`
	// Unwritten are bytes of unclaimed results equal to the poison in all runs (AC204).
	Unwritten []Difference `json:"unwritten,omitempty"`
	// Changed are bytes of operands that no pair names and that the kernel
	// changed (AC203).
	Changed []Difference `json:"changed,omitempty"`
	// Guards are bytes outside a buffer that the kernel wrote (AC206).
	Guards []GuardBreak `json:"guards,omitempty"`
	// NoApart are results that have no apart run: claimed, without a pointer of
	// their own. They are their operands.
	NoApart []int `json:"no_apart,omitempty"`
}

// ModeOutcome compares several runs with the reference.
type ModeOutcome struct {
	Reason string `json:"reason,omitempty"` // why the mode was not possible
	SMs    int    `json:"sms,omitempty"`    // multiprocessors in use
	Runs   int    `json:"runs"`
	// Differing is how many of the runs differed.
	Differing int `json:"differing"`
	// Least and Most are the numbers of wrong elements of the best and the
	// worst run, over all results.
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
	// Masked is the most differing elements of a run that were not counted,
	// because the reference itself is not stable there.
	Masked int64 `json:"masked,omitempty"`
	// Worst is the worst run, result by result.
	Worst []Difference `json:"worst,omitempty"`
}

// Difference counts what differs in one buffer.
type Difference struct {
	Buffer    int     `json:"buffer"`
	Label     string  `json:"label,omitempty"`
	Unit      string  `json:"unit"` // "elements" or "bytes"
	Count     int64   `json:"count"`
	Of        int64   `json:"of"`
	Masked    int64   `json:"masked,omitempty"`     // not counted: the reference itself is not stable there
	First     int64   `json:"first"`                // -1: none
	Places    []Spot  `json:"places,omitempty"`     // the first few
	Largest   float64 `json:"largest"`              // largest |difference|, of numeric elements
	NonFinite int64   `json:"non_finite,omitempty"` // differing elements whose difference is no finite number
	// Map counts the differing units of each 64th of the buffer.
	Map []int64 `json:"map,omitempty"`
}

// Spot is one differing element, its bytes as hexadecimal, first byte first.
type Spot struct {
	Index int64  `json:"index"`
	Want  string `json:"want"`
	Got   string `json:"got"`
}

// GuardBreak is a write outside a buffer.
type GuardBreak struct {
	Buffer int    `json:"buffer"`
	Label  string `json:"label,omitempty"`
	// Side is "before" or "after" the buffer.
	Side  string `json:"side"`
	Bytes int64  `json:"bytes"`
	// Nearest is the distance in bytes from the buffer's edge to the nearest
	// byte that was written: 1 is the neighbour.
	Nearest int64 `json:"nearest"`
}

// TrialOutcome is the replay of the autotuner's trials.
type TrialOutcome struct {
	Phase    Phase  `json:"phase"`
	Reason   string `json:"reason,omitempty"`
	Launches int    `json:"launches"` // trials, without the real launch
	// Saved are the entries that take effect; Idle those that do not, with the reason.
	Saved []SaveEntry `json:"saved,omitempty"`
	Idle  []IdleEntry `json:"idle,omitempty"`

	// AsWritten runs the trials, restores what the entries save, then launches.
	AsWritten *TrialRun `json:"as_written,omitempty"`
	// AllSaved restores every operand: the control. It must not differ.
	AllSaved *TrialRun `json:"all_saved,omitempty"`
	// NoneSaved restores nothing.
	NoneSaved *TrialRun `json:"none_saved,omitempty"`
}

// IdleEntry is an entry that saves nothing.
type IdleEntry struct {
	SaveEntry
	Reason string `json:"reason"`
}

// TrialRun is one sequence of trials.
type TrialRun struct {
	// Results are the real launch's results against the clean reference.
	Results []Difference `json:"results,omitempty"`
	// Overwritten are operands and bystanders that held their contents before
	// the trials and did not after them.
	Overwritten []Difference `json:"overwritten,omitempty"`
	Stop        *Stop        `json:"stop,omitempty"`
}

// Times says where a replay's time went.
type Times struct {
	Compile time.Duration `json:"compile_ns"` // the driver's compiler and module loads
	Upload  time.Duration `json:"upload_ns"`  // contents to the card
	Kernel  time.Duration `json:"kernel_ns"`  // all launches of the call's kernels
	Compare time.Duration `json:"compare_ns"` // fills, copies and comparisons on the card
	Total   time.Duration `json:"total_ns"`   // of the worker, from the plan to the outcome
}

// Package jax replays and traces custom calls through the user's own JAX: whatever a
// process of the user's Python can call, whoever compiled its kernels.
//
// In: one call, as its HLO instruction has it (Rebuild), and what is to be asked of
// it. Out: an Outcome, plain counts of a replay with the buffers apart, shared and
// confined, and for each pair what the accesses of the real machine code showed.
// Between them stands a worker: a child process of the user's Python that runs the
// embedded scripts. A fault or a hang costs one call. Sizes and offsets are bytes.
//
// On a card the trace is NVIDIA's Compute Sanitizer API
// (docs.nvidia.com/compute-sanitizer/SanitizerApi), whose patches are trace/patches.cu.
// On the CPU backend calls are replayed too, and nothing is traced.
package jax

import "time"

// Options say which Python to use, and how.
type Options struct {
	Python   string   // the interpreter; empty: python3
	Platform string   // "cuda" or "cpu"
	Imports  []string // modules that register what calls name
	Paths    []string // directories that they are found in, besides the working directory

	Trace   bool   // ask for traces too
	Library string // the Sanitizer's library; empty: where it is usually found

	Silence time.Duration // the longest that a worker may say nothing; 0: DefaultSilence
	Dir     string        // for files that the worker reads; must exist
}

// DefaultSilence is how long one run of a call may take, compiling included.
const DefaultSilence = 2 * time.Minute

// Ready says what a worker started with.
type Ready struct {
	JAX           string         `json:"jax"`
	Device        string         `json:"device"`
	Platform      string         `json:"platform"`
	Trace         bool           `json:"trace"`
	WithoutTrace  string         `json:"without_trace,omitempty"` // why nothing is traced
	FailedImports []FailedImport `json:"failed_imports,omitempty"`
}

// FailedImport is a module that could not be imported.
type FailedImport struct {
	Import string `json:"import"`
	Error  string `json:"error"`
}

// Pair is an operand and a result of a call, by their places in Request.Call.
type Pair [2]int

// Request is what a worker is asked of one call.
type Request struct {
	Call Call `json:"call"`
	// Pairs are to be replayed in one place, each by itself.
	Pairs []Pair `json:"pairs"`
	// Claims are the operands that claim results, by result: with its buffers apart
	// such a result starts as a copy of its operand.
	Claims map[int]int `json:"claims,omitempty"`
	// Imports are modules that this call needs besides the session's, and Paths the
	// directories that they are in.
	Imports []string `json:"imports,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	// Trace asks for a verdict on each of these pairs.
	Trace []Pair `json:"trace_pairs"`
	// Traced asks for the accesses also where there is no such pair.
	Traced bool `json:"-"`
}

// Outcome is what a call's replays and its trace showed.
type Outcome struct {
	Modes Modes              `json:"modes"`
	Times map[string]float64 `json:"times"` // seconds, by mode
	Fault *Fault             `json:"fault,omitempty"`
}

// Fault is how a call ended the process it ran in.
type Fault struct {
	Mode  string `json:"mode"`
	Error string `json:"error"`
	Hang  bool   `json:"hang,omitempty"`
}

// Modes are the runs of a call. Shared and confined ones are keyed by pair.
type Modes struct {
	Apart    *Apart
	Shared   map[Pair]*Shared
	Confined map[Pair]*Shared
	Trace    *Trace
}

// Apart are the runs with every result in a place of its own.
type Apart struct {
	Results []ApartResult `json:"results"` // one an array among the results
	// Written are operands whose contents the call changed.
	Written []WrittenOperand `json:"operands_written"`
	// Placed says which results lay where they were put.
	Placed []bool `json:"placed"`
	// Seconds is what the fastest run took, without compiling.
	Seconds float64 `json:"seconds"`
}

// ApartResult compares one result's runs, in elements.
type ApartResult struct {
	Of      int64 `json:"of"`
	Control int64 `json:"control"` // that differ between two equal runs
	Poison  int64 `json:"poison"`  // that depend on what the result held before
	First   int64 `json:"first"`
}

// WrittenOperand is an operand with elements that a call changed.
type WrittenOperand struct {
	Operand  int   `json:"operand"`
	Elements int64 `json:"elements"`
	First    int64 `json:"first"`
}

// Shared are the runs with one pair in one place.
type Shared struct {
	Runs      int    `json:"runs"`
	Differing int    `json:"differing"` // runs with an element that is not as it is apart
	Most      int64  `json:"most"`      // elements that differed in one run
	First     int64  `json:"first"`     // of the pair's result, -1: none
	Reason    string `json:"reason,omitempty"`
}

// Trace is what one run's accesses were.
type Trace struct {
	Pairs    []TracedPair   `json:"pairs"`
	Buffers  []TracedBuffer `json:"buffers"` // array operands, then array results
	Launches []string       `json:"launches"`
	Launched int            `json:"launched"`
	Copies   int            `json:"copies"` // copies and fills that the handler asked for
	Outside  [2]int64       `json:"outside"`
	Features []string       `json:"features,omitempty"`
	Seconds  float64        `json:"seconds"`        // the traced run
	Recorded float64        `json:"record_seconds"` // with the record's memory taken, and read back
	Reason   string         `json:"reason,omitempty"`
}

// TracedPair is the verdict on a pair, byte k of the operand on byte k of the result.
type TracedPair struct {
	Operand  int      `json:"operand"`
	Result   int      `json:"result"`
	Verdict  string   `json:"verdict"` // safe, unsafe, unknown
	Reason   string   `json:"reason"`
	Granules int64    `json:"granules,omitempty"` // places that are not safe
	Of       int64    `json:"of,omitempty"`
	Byte     int64    `json:"byte,omitempty"`
	Witness  *Witness `json:"witness,omitempty"`
}

// Witness is a read and a write of one byte that nothing orders.
type Witness struct {
	Reader Access `json:"reader"`
	Writer Access `json:"writer"`
}

// Access is one of a witness.
type Access struct {
	Kernel string   `json:"kernel,omitempty"` // as the machine code names it
	Copy   bool     `json:"copy,omitempty"`   // a copy or fill of the handler's
	Launch int      `json:"launch"`           // counted from 1 within the call
	Block  [3]int64 `json:"block"`
	Thread [3]int64 `json:"thread"`
	Offset int64    `json:"offset"` // of the instruction in its function, bytes; -1: not known
}

// TracedBuffer counts a buffer's granules: the elements, or parts of 8 bytes.
type TracedBuffer struct {
	Granule   int64 `json:"granule"` // bytes
	Granules  int64 `json:"granules"`
	Read      int64 `json:"read"`
	Written   int64 `json:"written"`
	ReadFirst int64 `json:"read_first"` // of a result: read before anything was written there

	// The same as bytes: half-open intervals, ascending; nil where there are too many.
	ReadBytes      [][2]int64 `json:"read_bytes"`
	WrittenBytes   [][2]int64 `json:"written_bytes"`
	ReadFirstBytes [][2]int64 `json:"read_first_bytes"`
}

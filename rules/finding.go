package rules

import (
	"encoding/json"

	"aliascheck/hlo"
)

// Severity says what a gate does about a finding.
type Severity string

// The severities, least first.
const (
	Note    Severity = "note"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Confirmation says what a replay, or the record of a run, added to a finding.
type Confirmation string

// The confirmations of DESIGN.md.
const (
	Confirmed   Confirmation = "confirmed"   // a replay differed, or the machine has a conflict witness
	Refuted     Confirmation = "refuted"     // a complete analysis saw no conflict
	Unconfirmed Confirmation = "unconfirmed" // tried and not seen
	Unchecked   Confirmation = "unchecked"   // could not be tried
)

// Finding is one defect of one custom call, as it stands in the JSON report.
// Fields that do not apply to a rule are left empty: a rule about one leaf has
// no Result, say. Leaf indices follow XLA's shape indices: [] is the whole array.
type Finding struct {
	Code        string   `json:"code"`
	Rule        string   `json:"rule"`
	Severity    Severity `json:"severity"`
	Fingerprint string   `json:"fingerprint"`

	Module      string `json:"module"`
	Path        string `json:"path"`
	Computation string `json:"computation"`
	Instruction string `json:"instruction"`
	Target      string `json:"target"`
	Kernel      string `json:"kernel"`

	Operand      *int       `json:"operand,omitempty"` // operand number, from 0
	OperandIndex []int      `json:"operand_index,omitzero"`
	ResultIndex  []int      `json:"result_index,omitzero"`
	OperandSlice *hlo.Slice `json:"operand_slice,omitempty"`
	ResultSlice  *hlo.Slice `json:"result_slice,omitempty"`

	// Values are those that a finding about a module's memory speaks of; none where it is
	// about one custom call.
	Values []Value `json:"values,omitempty"`

	Source  *Source   `json:"source,omitempty"`
	Related []Related `json:"related"`
	Tests   []string  `json:"tests"`
	Calls   int       `json:"calls"` // how many equal findings this one stands for

	CompiledFor []string `json:"compiled_for,omitempty"` // GPUs that it holds for, where `compile` compiled for any
	NotFor      []string `json:"not_for,omitempty"`      // GPUs that all was compiled for as well, without this finding

	Message string `json:"message"` // what is wrong, one or two sentences
	Why     string `json:"why"`     // why it hurts, one sentence
	Fix     string `json:"fix"`     // how to mend it

	Confirmation       Confirmation `json:"confirmation"`
	ConfirmationReason string       `json:"confirmation_reason"`
	Evidence           *Evidence    `json:"evidence,omitempty"`

	// Map is drawn by the HTML report; nil where nobody asked for it.
	Map *MemoryMap `json:"map,omitempty"`
}

// Source is a place in the program that made a call.
type Source struct {
	File     string  `json:"file"`
	Line     int     `json:"line"`
	Function string  `json:"function,omitempty"`
	Stack    []Frame `json:"stack,omitempty"` // innermost first
}

// Frame is one entry of a Python stack.
type Frame struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function,omitempty"`
}

// Related is another place that a finding speaks of: another value, the
// witness's reader or writer, the instruction that reads an overwritten value.
type Related struct {
	Role        string     `json:"role"` // "reader", "writer", "overwritten value", "other result", ...
	Instruction string     `json:"instruction,omitempty"`
	Slice       *hlo.Slice `json:"slice,omitempty"`
	File        string     `json:"file,omitempty"`
	Line        int        `json:"line,omitempty"`
	Text        string     `json:"text,omitempty"`
}

// Evidence is what running the kernel showed.
type Evidence struct {
	Emulated *Emulated `json:"emulated,omitempty"`
	// GPU is cudarun's outcome, encoded by the command that joins the two:
	// rules does not know cudarun.
	GPU json.RawMessage `json:"gpu,omitempty"`
}

// Emulated is what the PTX machine showed.
type Emulated struct {
	Verdict  string   `json:"verdict"` // safe, unsafe or unknown
	Complete bool     `json:"complete"`
	Basis    string   `json:"basis"` // complete, inputs, sampled
	Reason   string   `json:"reason,omitempty"`
	Witness  *Witness `json:"witness,omitempty"`
	Inputs   []Recipe `json:"inputs,omitempty"`
	Replay   []Run    `json:"replay,omitempty"`
}

// Witness is one byte, its reader and its writer.
type Witness struct {
	Byte   int64  `json:"byte"` // offset in the result's buffer, in bytes
	Reader Access `json:"reader"`
	Writer Access `json:"writer"`
}

// Access is one thread's touch of a byte.
type Access struct {
	Block   [3]int64 `json:"block"`
	Thread  [3]int64 `json:"thread"`
	PTXLine int      `json:"ptx_line"`
	File    string   `json:"file,omitempty"` // of the kernel's source, where the PTX says
	Line    int      `json:"line,omitempty"`
}

// Recipe repeats the contents of one operand exactly.
type Recipe struct {
	Operand int    `json:"operand"` // buffer number
	Kind    string `json:"kind"`    // "random", "permutation", "sorted", "small", "literal", "file", ...
	Seed    uint64 `json:"seed"`
	Bound   int64  `json:"bound,omitempty"`  // of "small" and "sorted": the values stay below it, or reach it
	Source  string `json:"source,omitempty"` // the literal's instruction, or the file
}

// Run is one emulated replay: buffers as the assignment has them, against buffers apart.
type Run struct {
	Order     string   `json:"order"` // of blocks: forward, backward, shuffled; or "autotuner trials"
	Differing []Differ `json:"differing"`
}

// Differ counts the elements of one result that differ.
type Differ struct {
	ResultIndex []int `json:"result_index"`
	Elements    int64 `json:"elements"`
	Of          int64 `json:"of"`
	First       int64 `json:"first"` // element number of the first difference, -1 when none
	// Map counts the differing elements of each 64th of the result; nil when none differ.
	Map []int64 `json:"map,omitempty"`
}

// mapParts is how many parts a Map has.
const mapParts = 64

// note counts element n, one of `of`, as differing.
func (d *Differ) note(n, of int64) {
	if d.Elements == 0 {
		d.First, d.Map = n, make([]int64, mapParts)
	}
	d.Elements++
	d.Map[n*mapParts/of]++
}

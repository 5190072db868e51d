package rules

import "aliascheck/hlo"

// Severity says what a gate does about a finding.
type Severity string

// The severities, least first.
const (
	Note    Severity = "note"
	Warning Severity = "warning"
	Error   Severity = "error"
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

	Source *Source `json:"source,omitempty"`
	// Callers are the further stacks of equal calls, without their library code.
	Callers []Source  `json:"callers,omitempty"`
	Related []Related `json:"related"`
	Tests   []string  `json:"tests"`
	Calls   int       `json:"calls"` // how many equal findings this one stands for

	CompiledFor []string `json:"compiled_for,omitempty"` // GPUs that it holds for, where `compile` compiled for any
	NotFor      []string `json:"not_for,omitempty"`      // GPUs that all was compiled for as well, without this finding

	Message string `json:"message"` // what is wrong, one or two sentences
	Why     string `json:"why"`     // why it hurts, one sentence
	Fix     string `json:"fix"`     // how to mend it
	Patch   *Patch `json:"patch,omitempty"`

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
	// Wrapper is the innermost line outside of library code, where it does not tell the
	// call apart from others and File and Line name a caller of it.
	Wrapper *Frame `json:"wrapper,omitempty"`

	Own []int `json:"own,omitempty"` // the frames of Stack outside of library code, by number
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

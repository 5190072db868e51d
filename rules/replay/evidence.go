package replay

import "encoding/json"

// Confirmation says what a replay, or the record of a run, added to a finding.
type Confirmation string

// The confirmations.
const (
	Confirmed   Confirmation = "confirmed"   // a replay differed, or the machine has a conflict witness
	Refuted     Confirmation = "refuted"     // a complete analysis saw no conflict
	Unconfirmed Confirmation = "unconfirmed" // tried and not seen
	Unchecked   Confirmation = "unchecked"   // could not be tried
)

// Evidence is what running the kernel showed.
type Evidence struct {
	Emulated *Emulated `json:"emulated,omitempty"`
	// GPU is cudarun's outcome, encoded by that engine: nobody else knows its fields.
	GPU json.RawMessage `json:"gpu,omitempty"`
}

// Emulated is what the PTX machine showed.
type Emulated struct {
	Verdict  string   `json:"verdict"` // safe, unsafe or unknown
	Complete bool     `json:"complete"`
	Basis    string   `json:"basis"`            // complete, inputs, sampled
	Engine   string   `json:"engine,omitempty"` // "trace": a card's accesses; empty: the PTX machine
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
	Code    string   `json:"code,omitempty"` // of machine code: the function, and the instruction's offset in it
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

// Note counts element n, one of `of`, as differing.
func (d *Differ) Note(n, of int64) {
	if d.Elements == 0 {
		d.First, d.Map = n, make([]int64, mapParts)
	}
	d.Elements++
	d.Map[n*mapParts/of]++
}

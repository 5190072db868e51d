package rules

// MemoryMap is an allocation over the schedule: which values lie where in it, and
// from when to when. Offsets and sizes are bytes; positions are those of the
// schedule of the computation that runs the call.
type MemoryMap struct {
	Allocation int64 `json:"allocation"` // number of the allocation
	Size       int64 `json:"size"`
	Steps      int   `json:"steps"` // positions run from 0 to Steps-1
	// At and Until are the positions of the call itself, both included.
	At     int        `json:"at"`
	Until  int        `json:"until"`
	Values []MapValue `json:"values"`
	// Left out are values beyond what a map may hold.
	LeftOut int `json:"left_out,omitempty"`
}

// MapValue is one value of a memory map. It occupies the bytes from Offset to
// Offset+Size, half-open, at the positions From to To, both included.
type MapValue struct {
	Name        string  `json:"name"` // instruction and shape index: "fusion.3{0}"
	Instruction string  `json:"instruction"`
	Offset      int64   `json:"offset"`
	Size        int64   `json:"size"`
	From        int     `json:"from"` // 0 also for what is there before the start
	To          int     `json:"to"`   // its last read, Steps-1 where it is needed to the end
	Role        MapRole `json:"role,omitempty"`
}

// MapRole says what a value is to the finding's call.
type MapRole string

// The roles of values; most have none.
const (
	MapOperand     MapRole = "operand"     // the finding's operand
	MapResult      MapRole = "result"      // the finding's result
	MapOverwritten MapRole = "overwritten" // what the result is written over
	MapOther       MapRole = "other"       // another operand or result of the same call
)

package alias

import (
	"strings"

	"aliascheck/hlo"
)

// site finds the instruction that stands for a custom call in a scheduled
// computation, and the schedule positions that it occupies: a call inside a fusion
// runs when the fusion does, one inside an async computation from start to done.
func site(m *hlo.Module, i int32) (at, start, end int32) {
	at = i
	for range len(m.Computations) {
		comp := &m.Computations[m.Instructions[at].Computation]
		if len(comp.Callers) == 0 {
			break
		}
		caller := comp.Callers[0]
		if !comp.Fusion && m.Instructions[caller].Opcode != "async-start" {
			break
		}
		at = caller
	}
	start, end = interval(m, at)
	return at, start, end
}

// interval returns the positions that an instruction occupies, both included:
// more than one for the start of an asynchronous operation. -1 without a schedule.
func interval(m *hlo.Module, at int32) (start, end int32) {
	start = m.Instructions[at].Position
	if done := doneOf(m, at); done >= 0 {
		return start, m.Instructions[done].Position
	}
	return start, start
}

// doneOf returns the instruction that ends the asynchronous operation that at
// starts, or -1.
func doneOf(m *hlo.Module, at int32) int32 {
	if !strings.HasSuffix(m.Instructions[at].Opcode, "-start") {
		return -1
	}
	comp := &m.Computations[m.Instructions[at].Computation]
	for i := comp.First; i < comp.End; i++ {
		in := &m.Instructions[i]
		if strings.HasSuffix(in.Opcode, "-done") && startOf(m, i) == at {
			return i
		}
	}
	return -1
}

// startOf returns the instruction that started what done waits for, or -1.
func startOf(m *hlo.Module, done int32) int32 {
	at := done
	for range 64 { // updates between start and done are few
		in := &m.Instructions[at]
		if strings.HasSuffix(in.Opcode, "-start") {
			return at
		}
		if len(in.Operands) == 0 {
			return -1
		}
		at = in.Operands[0]
	}
	return -1
}

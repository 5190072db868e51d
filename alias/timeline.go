package alias

import (
	"strings"

	"aliascheck/hlo"
)

// timeline puts all that the entry runs on one scale of ticks: what an instruction calls
// runs between its entering and its leaving, one computation after the other, a loop's
// condition before its body (as XLA's HloLiveRange has it). A tick is one instruction, or
// a computation's beginning or end.
//
// A tick says which of two things of one activation comes first. Rounds of a loop, the
// branches of a conditional and what runs while an asynchronous operation is on its way
// need more than that: conflicts finds by ticks, and then looks closer.
type timeline struct {
	m      *hlo.Module
	events []event
	// By instruction: when it reads its operands, and when its results are there. -1
	// where the entry does not run it.
	enter, leave []int32
	// By instruction that starts an asynchronous operation: the one that ends it, or -1.
	done []int32
	// By computation: its first and last tick, -1 where the entry does not run it, and
	// the outermost asynchronous operation that it is part of, -1 for none.
	begin, end, async []int32
	// skipped says why computations were left out; empty where none was.
	skipped string
}

// event is what comes into being at a tick: the values of an instruction, or those of
// the parameters of a computation.
type event struct {
	instruction int32 // -1: a computation's beginning or end
	computation int32 // -1: not its beginning
}

// reset lays out m. It says why there is no order at all; empty where there is.
func (t *timeline) reset(m *hlo.Module) string {
	t.m, t.skipped = m, ""
	n, k := len(m.Instructions), len(m.Computations)
	t.enter, t.leave, t.done = filled(t.enter, n), filled(t.leave, n), filled(t.done, n)
	t.begin, t.end, t.async = filled(t.begin, k), filled(t.end, k), filled(t.async, k)
	t.events = t.events[:0]
	if m.Computations[m.Entry].Schedule == nil {
		return "computation " + m.Computations[m.Entry].Name + " has no schedule"
	}
	for i := range m.Instructions {
		if op := m.Instructions[i].Opcode; len(op) > 5 && op[len(op)-5:] == "-done" {
			if start := startOf(m, int32(i)); start >= 0 {
				t.done[start] = int32(i)
			}
		}
	}
	t.run(m.Entry, -1)
	return ""
}

// filled is a slice of n times -1, in list's memory where that is enough.
func filled(list []int32, n int) []int32 {
	if cap(list) < n {
		list = make([]int32, n)
	}
	list = list[:n]
	for i := range list {
		list[i] = -1
	}
	return list
}

func (t *timeline) now() int32 { return int32(len(t.events)) }

// run lays out a computation and, between, what its instructions call. Its depth is that
// of the calls, which the reader bounds.
func (t *timeline) run(k, async int32) {
	comp := &t.m.Computations[k]
	t.begin[k], t.async[k] = t.now(), async
	t.events = append(t.events, event{-1, k})
	for _, i := range comp.Schedule {
		in := &t.m.Instructions[i]
		t.enter[i] = t.now()
		if len(in.Called) > 0 && runsItsComputations(in.Opcode) {
			t.events = append(t.events, event{-1, -1})
			inside := async
			if inside < 0 && in.Opcode == "async-start" {
				inside = i
			}
			for n := len(in.Called) - 1; n >= 0; n-- { // of a loop the condition comes second
				t.call(in.Called[n], inside)
			}
		}
		t.leave[i] = t.now()
		t.events = append(t.events, event{i, -1})
	}
	t.end[k] = t.now()
	t.events = append(t.events, event{-1, -1})
}

// call is run for a computation that an instruction calls, where that is its only caller.
func (t *timeline) call(k, async int32) {
	comp := &t.m.Computations[k]
	switch {
	case comp.Schedule == nil:
		t.skip("computation ", comp.Name, " has no schedule")
	case len(comp.Callers) != 1:
		t.skip("computation ", comp.Name, " is called from several places")
	case t.begin[k] >= 0: // by one instruction, twice
		t.skip("computation ", comp.Name, " is called from several places")
	default:
		t.run(k, async)
	}
}

func (t *timeline) skip(before, name, after string) {
	if t.skipped == "" {
		t.skipped = before + strings.Clone(name) + after
	}
}

// runsItsComputations tells an instruction whose computations run once for it, with the
// memory of the whole program, from one that applies them to each element.
func runsItsComputations(opcode string) bool {
	switch opcode {
	case "while", "conditional", "call", "async-start":
		return true
	}
	return false
}

// around reports whether computation outer is inner, or runs inner.
func (t *timeline) around(outer, inner int32) bool {
	return t.begin[outer] <= t.begin[inner] && t.end[inner] <= t.end[outer]
}

// until is the tick at which an instruction is over: for the start of an asynchronous
// operation that of its end.
func (t *timeline) until(i int32) int32 {
	if d := t.done[i]; d >= 0 && t.leave[d] >= 0 {
		return t.leave[d]
	}
	return t.leave[i]
}

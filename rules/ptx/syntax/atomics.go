package syntax

import (
	"slices"
	"strings"
)

// AddsFloatsAtomically says whether the kernel, or a function that it calls, adds
// floating-point numbers atomically: in an order that differs from run to run, so that
// the last bits of a sum may (PTX ISA, "atom", "red", "multimem.red" and
// "cp.reduce.async.bulk").
func (e *Entry) AddsFloatsAtomically() bool {
	for _, f := range e.Function.Callees() {
		for i := range f.Body {
			if f.Body[i].addsFloats() {
				return true
			}
		}
	}
	return false
}

func (in *Instruction) addsFloats() bool {
	atomic := func(word string) bool { return word == "atom" || word == "red" || word == "reduce" }
	return slices.ContainsFunc(in.Words[:min(len(in.Words), 2)], atomic) && slices.Contains(in.Words, "add") &&
		slices.ContainsFunc(in.Words, func(word string) bool {
			return TypeBits(word) > 0 && strings.HasPrefix(strings.TrimPrefix(word, "b"), "f")
		})
}

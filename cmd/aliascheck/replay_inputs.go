package main

import (
	"fmt"

	"aliascheck/alias"
	"aliascheck/cudarun"
	"aliascheck/rules"
)

// gpuInputs are the contents that a call's operands start a replay with: those of
// the analysis, so that the card and the PTX machine start from the same bytes.
type gpuInputs struct {
	call    *alias.Call
	start   [][]byte // by operand leaf; nil where the analysis has none
	recipes []rules.Recipe
	known   bool // start is the analysis'
}

// inputs asks the analysis for the contents of the configuration that decides a pair.
func (e *gpuEffects) inputs(operand, result int) (*gpuInputs, []rules.Recipe) {
	in := &gpuInputs{call: e.call}
	s, ok := e.Effects.(rules.Starter)
	if !ok {
		return in, nil
	}
	configuration := 0
	if operand >= 0 && result >= 0 {
		configuration = s.Decisive(operand, result)
	}
	start, recipes, reason := s.Start(configuration)
	if reason == "" {
		in.start, in.recipes, in.known = start, recipes, true
	}
	return in, in.recipes
}

// contents implements cudarun.BuildOptions.Contents.
func (in *gpuInputs) contents(l *alias.Leaf) ([]byte, string, error) {
	if in.empty(l) {
		return nil, "no contents (AllocateBuffer)", nil
	}
	n := in.leaf(l)
	if n >= 0 && n < len(in.start) && int64(len(in.start[n])) >= l.Bytes && in.start[n] != nil {
		return in.start[n][:l.Bytes], in.origin(n), nil
	}
	r := rules.Recipe{Operand: n, Kind: made(l), Seed: uint64(n) + 1}
	size := (l.Element.Bits() + 7) / 8
	if size == 0 || l.Bytes%size != 0 || l.Bytes > maxMadeBytes {
		return nil, "", fmt.Errorf("no contents for %d bytes of %s", l.Bytes, l.Element)
	}
	return rules.Contents(r, l.Element, l.Bytes/size), fmt.Sprintf("made: %s, seed %d", r.Kind, r.Seed), nil
}

// maxMadeBytes bounds contents that are made here.
const maxMadeBytes = 8 << 30

// made is the kind of contents that a leaf gets of which nothing is known: numbers
// that can be rows, where they are integers of four bytes or more.
func made(l *alias.Leaf) string {
	switch l.Element.String() {
	case "s32", "u32", "s64", "u64":
		return rules.PermutationInput
	}
	return rules.RandomInput
}

// leaf is the number of an operand leaf, -1 for a bystander.
func (in *gpuInputs) leaf(l *alias.Leaf) int {
	for n := range in.call.Operands {
		if l == &in.call.Operands[n] {
			return n
		}
	}
	return -1
}

// origin says in words where the analysis has an operand's contents from.
func (in *gpuInputs) origin(n int) string {
	for _, r := range in.recipes {
		if r.Operand == n {
			text := fmt.Sprintf("%s, seed %d", r.Kind, r.Seed)
			if r.Source != "" {
				text = r.Kind + " " + r.Source
			}
			return text
		}
	}
	return "of the analysis: they decide no address"
}

// empty says whether a leaf's value has no contents.
func (in *gpuInputs) empty(l *alias.Leaf) bool {
	if l.Value < 0 {
		return false
	}
	m := in.call.Module
	custom := m.Instructions[m.Values[l.Value].Instruction].Custom
	return custom != nil && custom.Target == "AllocateBuffer"
}

// OnCard implements rules.CardRunner: what the kernel did by itself on the card.
// Contents that were made here decide nothing: they can be worse than any real ones.
func (e *gpuEffects) OnCard(code string) *rules.Problem {
	if !e.wanted() || e.asIs == nil && !e.runner.flags.all {
		return nil
	}
	if e.whole() == nil {
		return nil
	}
	v := e.asIs.Verdict(code, cudarun.NoBuffer)
	if v.Confirmation != string(rules.Confirmed) {
		return nil
	}
	p := &rules.Problem{Operand: -1, Result: -1, Message: "On a card, with its buffers apart: " + v.Reason + ".", Fix: onCardFix(code)}
	if in, _ := e.inputs(-1, -1); code == "AC903" && !in.known {
		p.Severity = rules.Note
		p.Message += " Its operands' contents were made up, and can be at fault."
	}
	if code == "AC901" && withinTolerance(e.asIs) {
		p.Severity = rules.Warning
	}
	return p
}

// whole replays the call as the assignment has it, nil where that has no plan.
func (e *gpuEffects) whole() *cudarun.Outcome {
	if e.asIs == nil {
		plan, _, _, err := e.plan("", -1, -1)
		if err != nil {
			return nil
		}
		out := e.runner.session.Replay(e.ctx, plan)
		e.asIs = &out
	}
	return e.asIs
}

// stops says whether the kernel faults or hangs by itself: there is nothing more
// to learn from it, and each try costs a worker or a deadline.
func stops(o *cudarun.Outcome) bool {
	for _, c := range o.Configurations {
		if c.Stop != nil && c.Stop.Mode == cudarun.ModeApart {
			return true
		}
	}
	return false
}

// withinTolerance says whether floating-point atomics explain every instability.
func withinTolerance(o *cudarun.Outcome) bool {
	for _, c := range o.Configurations {
		if c.Apart != nil && len(c.Apart.Unstable) > 0 && !c.Apart.WithinTolerance {
			return false
		}
	}
	return true
}

func onCardFix(code string) string {
	switch code {
	case "AC901":
		return "look for a missing barrier or wait; compute-sanitizer's racecheck sees races in shared memory (--sanitize racecheck)"
	case "AC902":
		return "make sure that every thread that a barrier counts arrives at it"
	}
	return "check the grid and the masks against the buffers' sizes; compute-sanitizer's memcheck names the access (--sanitize memcheck)"
}

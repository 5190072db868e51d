package cudarun

import (
	"fmt"

	"aliascheck/alias"
	"aliascheck/rules/replay"
)

// inputs are the contents that a call's operands start a replay with: those of
// the analysis, so that the card and the PTX machine start from the same bytes.
type inputs struct {
	call    *alias.Call
	start   [][]byte // by operand leaf; nil where the analysis has none
	recipes []replay.Recipe
}

// newInputs asks the analysis for the contents of the configuration that decides a claim.
func newInputs(c *replay.Case, claim *replay.Claim) *inputs {
	in := &inputs{call: c.Call}
	in.start, in.recipes, _ = start(c, claim.Operand, claim.Result)
	return in
}

// start gives the contents of every operand as the analysis has them for the
// configuration that decides a pair; known is false where it has none.
func start(c *replay.Case, operand, result int) (operands [][]byte, recipes []replay.Recipe, known bool) {
	configuration := 0
	if operand >= 0 && result >= 0 {
		configuration = c.Analysis.Decisive(operand, result)
	}
	operands, recipes, reason := c.Plan.Start(c.Analysis, configuration)
	if reason != "" {
		return nil, nil, false
	}
	return operands, recipes, true
}

// contents implements BuildOptions.Contents.
func (in *inputs) contents(l *alias.Leaf) ([]byte, string, error) {
	if l.IsAllocated(in.call.Module) {
		return nil, "no contents (AllocateBuffer)", nil
	}
	n := in.leaf(l)
	if n >= 0 && n < len(in.start) && int64(len(in.start[n])) >= l.Bytes && in.start[n] != nil {
		return in.start[n][:l.Bytes], in.origin(n), nil
	}
	r := replay.Recipe{Operand: n, Kind: made(l), Seed: uint64(n) + 1}
	size := (l.Element.Bits() + 7) / 8
	if size == 0 || l.Bytes%size != 0 || l.Bytes > maxMadeBytes {
		return nil, "", fmt.Errorf("no contents for %d bytes of %s", l.Bytes, l.Element)
	}
	return replay.Contents(r, l.Element, l.Bytes/size), fmt.Sprintf("made: %s, seed %d", r.Kind, r.Seed), nil
}

// maxMadeBytes bounds contents that are made here.
const maxMadeBytes = 8 << 30

// made is the kind of contents that a leaf gets of which nothing is known: numbers
// that can be rows, where they are integers of four bytes or more.
func made(l *alias.Leaf) string {
	switch l.Element.String() {
	case "s32", "u32", "s64", "u64":
		return replay.PermutationInput
	}
	return replay.RandomInput
}

// leaf is the number of an operand leaf, -1 for a bystander.
func (in *inputs) leaf(l *alias.Leaf) int {
	for n := range in.call.Operands {
		if l == &in.call.Operands[n] {
			return n
		}
	}
	return -1
}

// origin says in words where the analysis has an operand's contents from.
func (in *inputs) origin(n int) string {
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

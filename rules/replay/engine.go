package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"aliascheck/alias"
	"aliascheck/hlo/kernel"
)

// Engine runs kernels: on the PTX machine, on a card by launches of our own, or through
// the user's own program. It is safe for concurrent use.
type Engine interface {
	// Analyse adds to a case what running its kernels shows of what they read and
	// write. Analyses are shared: an engine that knows more puts another in its place.
	Analyse(ctx context.Context, c *Case)
	// Replay runs a claim's kernel again, to see whether it shows what the claim says.
	// nil: the engine has nothing to say of it.
	Replay(ctx context.Context, c *Case, claim *Claim) *Answer
	// Conduct says what the kernel did by itself, with its buffers apart, when the engine
	// ran it; nil where that is nothing that the question is about.
	Conduct(ctx context.Context, c *Case, q Question) *Conduct
}

// Case is a call whose kernel is run. It lives as long as the call's module.
type Case struct {
	Call   *alias.Call
	Kernel *kernel.Call
	Plan   *Plan

	Analysis *Analysis // nil where nothing could be run
	Reason   string    // why a configuration was not analysed; empty: all were

	kept map[Engine]any
}

// Keep remembers what an engine has of the case, for the next time that it is asked.
func (c *Case) Keep(e Engine, v any) {
	if c.kept == nil {
		c.kept = map[Engine]any{}
	}
	c.kept[e] = v
}

// Known is the analysis where something is known of the call; nil for none.
func (c *Case) Known() *Analysis {
	if c.Analysis == nil || c.Analysis.NotRun && !c.Analysis.Tried {
		return nil
	}
	return c.Analysis
}

// Kept is what the engine kept; nil for nothing.
func (c *Case) Kept(e Engine) any { return c.kept[e] }

// Question is what a run of the kernel is to show of a finding. Each rule has one.
type Question string

// The questions. A run with the buffers shared is held against one with them apart.
const (
	NoQuestion Question = ""            // no run shows it
	PairShared Question = "pair shared" // does sharing this pair as the assignment has it change results?
	PairForced Question = "pair forced" // would sharing this pair, which stands apart, change results?
	AllShared  Question = "all shared"  // does the assignment's sharing change results?
	Changed    Question = "changed"     // apart: are bytes of the operand changed?
	Unwritten  Question = "unwritten"   // apart: are bytes of the result never written?
	ReadFirst  Question = "read first"  // apart: does what the result held before change it?
	Outside    Question = "outside"     // apart: is anything outside the buffers touched?
	Tuning     Question = "tuning"      // trials: do they change what the first call returns?
	Overwrites Question = "overwrites"  // trials: do they change memory that the program has yet to read?
	RunsWild   Question = "runs wild"   // trials: do they fault on operands that are not computed yet?
	LateCopy   Question = "late copy"   // conduct: what a copy that lands late does
	Unstable   Question = "unstable"    // conduct: equal inputs, different bits
	Hangs      Question = "hangs"       // conduct: it does not end
	Faults     Question = "faults"      // conduct: it faults
)

// Claim is what a rule reported, as far as running the kernel can bear it out, and what
// is known of that.
type Claim struct {
	Question        Question
	Operand, Result int  // leaf numbers of alias.Call, -1 for none
	Minor           bool // a note

	Confirmation Confirmation
	Reason       string
	Evidence     *Evidence
}

// Answer is what an engine's replay of a claim showed.
type Answer struct {
	Confirmation Confirmation // Confirmed, Unconfirmed or Unchecked
	Reason       string
	// Where goes before the reason in reports: "on an NVIDIA H200: ".
	Where string

	// Emulated are the runs of the PTX machine, where it was that: Reason is then why
	// there are none, and the confirmation follows from them.
	Emulated *Emulation
	// GPU is the engine's own evidence; nil for none.
	GPU json.RawMessage
}

// Emulation is what running a call's kernel again on the PTX machine showed: with its
// buffers apart, then as the assignment has them.
type Emulation struct {
	Runs   []Run
	Reason string // why there is nothing to count; empty where there is
}

// Conduct is what an engine saw of a kernel that ran with its buffers apart.
type Conduct struct {
	Text     string // what it did, for a message: no sentence
	MadeUp   bool   // its operands' contents were made up, and can be at fault
	Explains bool   // floating-point atomics explain it
}

// Differs reports whether some run counted an element that differs.
func (e *Emulation) Differs() bool {
	for _, r := range e.Runs {
		for _, d := range r.Differing {
			if d.Elements > 0 {
				return true
			}
		}
	}
	return false
}

// Words says how many elements of which result differ in which order.
func (e *Emulation) Words() string {
	var parts []string
	for n, first := range e.Runs[0].Differing {
		name := "the result"
		if len(first.ResultIndex) > 0 {
			name = fmt.Sprintf("result %v", first.ResultIndex)
		}
		var counts []string
		for _, r := range e.Runs {
			if n < len(r.Differing) {
				counts = append(counts, fmt.Sprintf("%d (%s)", r.Differing[n].Elements, r.Order))
			}
		}
		parts = append(parts, fmt.Sprintf("of %d elements of %s, %s differ", first.Of, name, strings.Join(counts, ", ")))
	}
	return strings.Join(parts, "; ")
}

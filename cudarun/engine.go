package cudarun

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"aliascheck/rules/replay"
)

// EngineOptions say what an Engine replays.
type EngineOptions struct {
	Options
	All bool // every call that has a kernel, with findings or without
	// Only is an instruction's name: other calls are not replayed. Empty: all are.
	Only string

	Sanitizer string   // path of compute-sanitizer; empty: no tool is run
	Tools     []string // of it, to run on each plan
}

// Engine replays findings on a card, by launches of our own. Replays of many audit
// workers wait for the session's devices.
type Engine struct {
	session *Session
	o       EngineOptions

	mu        sync.Mutex
	sanitized map[string]sanitizerResult // by plan key and tool
}

// NewEngine returns an engine that replays in a session.
func NewEngine(s *Session, o EngineOptions) *Engine {
	return &Engine{session: s, o: o, sanitized: map[string]sanitizerResult{}}
}

// Close ends the session.
func (e *Engine) Close() { e.session.Close() }

// SetOnly confines the engine to the calls of one instruction. It is for the time
// before the first replay.
func (e *Engine) SetOnly(instruction string) { e.o.Only = instruction }

// Analyse implements replay.Engine. Findings on a kernel that nobody could analyse are
// replayed all the same; and where every call is to be replayed, the card is asked about
// the pairs of which nothing is known.
func (e *Engine) Analyse(ctx context.Context, c *replay.Case) {
	if c.Kernel == nil {
		return
	}
	if c.Analysis == nil {
		c.Analysis = replay.NotAnalysed(c.Plan, c.Reason)
	}
	if !e.o.All || !e.wanted(c) {
		return
	}
	var shown []replay.PairShown
	for _, pair := range c.Plan.Pairs {
		if c.Analysis.Pair(pair.Operand, pair.Result).Verdict != replay.Unknown ||
			c.Call.Operands[pair.Operand].Bytes != c.Call.Results[pair.Result].Bytes {
			continue
		}
		if whole := e.whole(ctx, c); whole == nil || whole.stops() {
			break
		}
		if reason := e.unsafe(ctx, c, pair); reason != "" {
			shown = append(shown, replay.PairShown{Operand: pair.Operand, Result: pair.Result, Reason: reason})
		}
	}
	if len(shown) > 0 {
		more := *c.Analysis
		more.Shown = shown
		c.Analysis = &more
	}
}

// unsafe says what the card shows of a pair that it runs in one place, nothing where
// that is no difference.
func (e *Engine) unsafe(ctx context.Context, c *replay.Case, pair replay.Pair) string {
	claim := &replay.Claim{Question: replay.PairForced, Operand: pair.Operand, Result: pair.Result}
	if c.Call.IsDeclared(pair.Operand, pair.Result) {
		claim.Question = replay.PairShared
	}
	p, err := e.plan(c, claim)
	if err != nil {
		return ""
	}
	out := e.session.Replay(ctx, p.Plan)
	if v := out.Verdict(claim.Question, NoBuffer); v.Confirmation == string(replay.Confirmed) {
		return "on an " + out.Device.Name + ": " + v.Reason
	}
	return ""
}

// Evidence is what a finding carries of a replay on a card: the outcome, and what
// started it.
type Evidence struct {
	Outcome
	Verdict    Verdict            `json:"verdict"`
	Inputs     []Input            `json:"inputs"`
	Recipes    []replay.Recipe    `json:"recipes,omitempty"` // of operands that decide addresses
	Layout     string             `json:"layout"`
	Sanitizers []*SanitizerReport `json:"sanitizers,omitempty"`
	Trouble    []string           `json:"sanitizer_errors,omitempty"`
}

// Input says where an operand's contents came from.
type Input struct {
	Buffer string `json:"buffer"`
	Origin string `json:"origin"`
}

// Replay implements replay.Engine.
func (e *Engine) Replay(ctx context.Context, c *replay.Case, claim *replay.Claim) *replay.Answer {
	if !e.wanted(c) {
		return nil
	}
	p, err := e.plan(c, claim)
	if err != nil {
		return &replay.Answer{Confirmation: replay.Unchecked, Reason: err.Error(), Where: notReplayed}
	}
	out := e.session.Replay(ctx, p.Plan)
	if p.layout == layoutAsIs {
		c.Keep(e, &out)
	}
	evidence := &Evidence{Outcome: out, Recipes: p.recipes, Layout: p.layout, Verdict: out.Verdict(claim.Question, bufferOf(c, claim))}
	for _, b := range p.Buffers {
		if b.Role != Result {
			evidence.Inputs = append(evidence.Inputs, Input{b.Label, b.Origin})
		}
	}
	e.sanitize(ctx, evidence, claim.Question, p.Plan)
	answer := &replay.Answer{Confirmation: replay.Confirmation(evidence.Verdict.Confirmation), Reason: evidence.Verdict.Reason}
	if evidence.Device != nil {
		answer.Where = "on an " + evidence.Device.Name + ": "
	}
	if raw, err := json.Marshal(evidence); err == nil { // else a difference that is no number
		answer.GPU = raw
	}
	return answer
}

const notReplayed = "not replayed on a GPU: "

// Conduct implements replay.Engine: what the kernel did by itself on the card.
func (e *Engine) Conduct(ctx context.Context, c *replay.Case, q replay.Question) *replay.Conduct {
	if !e.wanted(c) || c.Kept(e) == nil && !e.o.All {
		return nil
	}
	whole := e.whole(ctx, c)
	if whole == nil {
		return nil
	}
	v := whole.Verdict(q, NoBuffer)
	if v.Confirmation != string(replay.Confirmed) {
		return nil
	}
	_, _, known := start(c, -1, -1)
	return &replay.Conduct{Text: v.Reason, MadeUp: !known, Explains: whole.withinTolerance()}
}

// whole replays the call as the assignment has it, nil where that has no plan.
func (e *Engine) whole(ctx context.Context, c *replay.Case) *Outcome {
	if out, ok := c.Kept(e).(*Outcome); ok {
		return out
	}
	p, err := e.plan(c, &replay.Claim{Operand: -1, Result: -1})
	if err != nil {
		return nil
	}
	out := e.session.Replay(ctx, p.Plan)
	c.Keep(e, &out)
	return &out
}

// stops says whether the kernel faults or hangs by itself: there is nothing more
// to learn from it, and each try costs a worker or a deadline.
func (o *Outcome) stops() bool {
	for _, c := range o.Configurations {
		if c.Stop != nil && c.Stop.Mode == ModeApart {
			return true
		}
	}
	return false
}

// withinTolerance says whether floating-point atomics explain every instability.
func (o *Outcome) withinTolerance() bool {
	for _, c := range o.Configurations {
		if c.Apart != nil && len(c.Apart.Unstable) > 0 && !c.Apart.WithinTolerance {
			return false
		}
	}
	return true
}

func (e *Engine) wanted(c *replay.Case) bool {
	return c.Kernel != nil && (e.o.Only == "" || e.o.Only == c.Call.Module.Instructions[c.Call.Instruction].Name)
}

// bufferOf is the buffer that a claim is about.
func bufferOf(c *replay.Case, claim *replay.Claim) int {
	switch {
	case claim.Question == replay.Changed && claim.Operand >= 0:
		return claim.Operand
	case (claim.Question == replay.Unwritten || claim.Question == replay.ReadFirst) && claim.Result >= 0:
		return len(c.Call.Operands) + claim.Result
	}
	return NoBuffer
}

// The layouts that plans are made with.
const (
	layoutAsIs   = "as the buffer assignment has it"
	layoutOnly   = "as the buffer assignment has this pair, all else apart"
	layoutForced = "with this pair in one place, which XLA could choose"
)

// enginePlan is a plan with what it was made of.
type enginePlan struct {
	*Plan
	layout  string
	recipes []replay.Recipe
}

// plan makes the plan for a claim.
func (e *Engine) plan(c *replay.Case, claim *replay.Claim) (*enginePlan, error) {
	m := c.Call.Module
	o := BuildOptions{Name: strings.Clone(m.Name) + ": " + strings.Clone(m.Instructions[c.Call.Instruction].Name)}
	out := &enginePlan{layout: layoutAsIs}
	if claim.Operand >= 0 && claim.Result >= 0 {
		pair := replay.Pair{Operand: claim.Operand, Result: claim.Result}
		switch claim.Question {
		case replay.PairForced:
			out.layout, o.Arrangement = layoutForced, replay.Arrangement{Share: []replay.Pair{pair}, Only: &pair}
		case replay.PairShared:
			if len(c.Call.Results) > 1 || len(c.Call.Declared) > 1 {
				out.layout, o.Arrangement.Only = layoutOnly, &pair
			}
		}
	}
	in := newInputs(c, claim)
	o.Contents, out.recipes = in.contents, in.recipes
	var err error
	out.Plan, err = BuildPlan(c, o)
	return out, err
}

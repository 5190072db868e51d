package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"aliascheck/alias"
	"aliascheck/cudarun"
	"aliascheck/hlo/kernel"
	"aliascheck/rules"
	"aliascheck/rules/ptx/syntax"
)

// gpuRunner runs kernels as another runner does, and replays their findings on a
// card. Replays of many audit workers wait for the session's devices.
type gpuRunner struct {
	inner     rules.KernelRunner
	session   *cudarun.Session
	flags     *gpuFlags
	options   cudarun.Options
	sanitizer string // path; empty: no tool is asked for
	only      string // an instruction: others are not replayed; empty: all are

	mu        sync.Mutex
	sanitized map[string]sanitizerResult // by plan key and tool
}

func (g *gpuRunner) close() {
	if g != nil {
		g.session.Close()
	}
}

// Run implements rules.KernelRunner. Where the kernel could not be analysed its
// findings are replayed all the same.
func (g *gpuRunner) Run(ctx context.Context, c *alias.Call, k *kernel.Call) (rules.Effects, string) {
	effects, reason := g.inner.Run(ctx, c, k)
	if effects == nil {
		effects = notAnalysed{reason}
	}
	return &gpuEffects{Effects: effects, ctx: ctx, runner: g, call: c, kernel: k}, reason
}

// notAnalysed are the effects of a kernel of which nothing is known.
type notAnalysed struct{ reason string }

func (n notAnalysed) Pair(int, int) rules.PairVerdict {
	return rules.PairVerdict{Verdict: rules.Unknown, Basis: rules.NoBasis, Reason: n.reason}
}
func (n notAnalysed) ReadsOld(int) (reads, known bool) { return false, false }
func (n notAnalysed) KernelRuns() []rules.KernelRun    { return []rules.KernelRun{{Reason: n.reason}} }

// gpuEffects are a call's effects, with a card to replay its findings on. They
// live as long as the call's module.
type gpuEffects struct {
	rules.Effects
	ctx    context.Context
	runner *gpuRunner
	call   *alias.Call
	kernel *kernel.Call
	asIs   *cudarun.Outcome // of the plan as the assignment has it, once it was replayed
}

// Pair implements rules.Effects. Of a pair that the analysis knows nothing of, the
// card is asked where every call is to be replayed.
func (e *gpuEffects) Pair(operand, result int) rules.PairVerdict {
	v := e.Effects.Pair(operand, result)
	same := e.call.Operands[operand].Bytes == e.call.Results[result].Bytes
	if v.Verdict != rules.Unknown || !e.runner.flags.all || !same || !e.wanted() {
		return v
	}
	if whole := e.whole(); whole == nil || stops(whole) {
		return v
	}
	code := "AC202"
	if e.call.IsDeclared(operand, result) {
		code = "AC201"
	}
	plan, _, _, err := e.plan(code, operand, result)
	if err != nil {
		return v
	}
	out := e.runner.session.Replay(e.ctx, plan)
	if shown := out.Verdict(code, cudarun.NoBuffer); shown.Confirmation == string(rules.Confirmed) {
		v.Verdict, v.Basis, v.Reason = rules.Unsafe, rules.Inputs, "on an "+out.Device.Name+": "+shown.Reason
	}
	return v
}

// gpuEvidence is what a finding carries: the outcome, and what started it.
type gpuEvidence struct {
	cudarun.Outcome
	Verdict    cudarun.Verdict            `json:"verdict"`
	Inputs     []gpuInput                 `json:"inputs"`
	Recipes    []rules.Recipe             `json:"recipes,omitempty"` // of operands that decide addresses
	Layout     string                     `json:"layout"`
	Sanitizers []*cudarun.SanitizerReport `json:"sanitizers,omitempty"`
	Trouble    []string                   `json:"sanitizer_errors,omitempty"`
}

// gpuInput says where an operand's contents came from.
type gpuInput struct {
	Buffer string `json:"buffer"`
	Origin string `json:"origin"`
}

// Replay implements rules.Replayer: the machine's replay first, then the card's.
func (e *gpuEffects) Replay(ctx context.Context, f *rules.Finding, operand, result int) {
	if r, ok := e.Effects.(rules.Replayer); ok {
		r.Replay(ctx, f, operand, result)
	}
	if !replayable(f.Code) || !e.wanted() {
		return
	}
	plan, recipes, layout, err := e.plan(f.Code, operand, result)
	if err != nil {
		e.join(f, cudarun.Verdict{Confirmation: string(rules.Unchecked), Reason: err.Error()}, nil)
		return
	}
	out := e.runner.session.Replay(ctx, plan)
	if layout == layoutAsIs {
		e.asIs = &out
	}
	evidence := &gpuEvidence{Outcome: out, Recipes: recipes, Layout: layout, Verdict: out.Verdict(f.Code, e.buffer(f.Code, operand, result))}
	for _, b := range plan.Buffers {
		if b.Role != cudarun.Result {
			evidence.Inputs = append(evidence.Inputs, gpuInput{b.Label, b.Origin})
		}
	}
	e.runner.sanitize(ctx, evidence, f.Code, plan)
	e.join(f, evidence.Verdict, evidence)
}

// replayable says whether a replay can show something of a code.
func replayable(code string) bool {
	switch code {
	case "AC104", "AC106", "AC210", "AC304", "AC401":
		return false
	}
	return true
}

func (e *gpuEffects) wanted() bool {
	return e.runner.only == "" || e.runner.only == e.instruction()
}

func (e *gpuEffects) instruction() string {
	return e.call.Module.Instructions[e.call.Instruction].Name
}

// buffer is the buffer that a finding of this code is about.
func (e *gpuEffects) buffer(code string, operand, result int) int {
	switch {
	case code == "AC203" && operand >= 0:
		return operand
	case (code == "AC204" || code == "AC205") && result >= 0:
		return len(e.call.Operands) + result
	}
	return cudarun.NoBuffer
}

// join writes into a finding what the card showed. What the machine proved stays:
// a card that does not show it refutes nothing.
func (e *gpuEffects) join(f *rules.Finding, v cudarun.Verdict, evidence *gpuEvidence) {
	where := "not replayed on a GPU: "
	if evidence != nil {
		where = ""
		raw, err := json.Marshal(evidence)
		if err != nil { // a difference that is no number
			raw = nil
		}
		if f.Evidence == nil {
			f.Evidence = &rules.Evidence{}
		}
		f.Evidence.GPU = raw
		if evidence.Device != nil {
			where = "on an " + evidence.Device.Name + ": "
		}
	}
	got := rules.Confirmation(v.Confirmation)
	weight := map[rules.Confirmation]int{rules.Unchecked: 0, rules.Unconfirmed: 1, rules.Refuted: 2, rules.Confirmed: 3}
	said := where + v.Reason
	switch {
	case weight[got] > weight[f.Confirmation]:
		if f.Confirmation != rules.Unchecked && f.ConfirmationReason != "" {
			said += "; " + f.ConfirmationReason
		}
		f.Confirmation, f.ConfirmationReason = got, said
	case f.ConfirmationReason == "":
		f.ConfirmationReason = said
	case got == rules.Unchecked && f.Confirmation == rules.Unchecked:
		f.ConfirmationReason = said
	default:
		f.ConfirmationReason += "; " + said
	}
}

// The layouts that plans are made with.
const (
	layoutAsIs   = "as the buffer assignment has it"
	layoutOnly   = "as the buffer assignment has this pair, all else apart"
	layoutForced = "with this pair in one place, which XLA could choose"
)

// plan makes the plan for a finding.
func (e *gpuEffects) plan(code string, operand, result int) (*cudarun.Plan, []rules.Recipe, string, error) {
	o := cudarun.BuildOptions{
		Name:       strings.Clone(e.call.Module.Name) + ": " + strings.Clone(e.instruction()),
		EntrySizes: entrySizes,
	}
	layout := layoutAsIs
	if operand >= 0 && result >= 0 {
		switch code {
		case "AC202":
			layout, o.Share = layoutForced, []cudarun.Pair{{Operand: operand, Result: result}}
			o.Only = &o.Share[0]
		case "AC101", "AC102", "AC201":
			if len(e.call.Results) > 1 || len(e.call.Declared) > 1 {
				layout, o.Only = layoutOnly, &cudarun.Pair{Operand: operand, Result: result}
			}
		}
	}
	inputs, recipes := e.inputs(operand, result)
	o.Contents = inputs.contents
	plan, err := cudarun.BuildPlan(e.call, e.kernel, o)
	return plan, recipes, layout, err
}

// entrySizes reads the parameters of a kernel's PTX entry.
func entrySizes(k *kernel.Configuration) ([]int, error) {
	module, err := syntax.Parse(k.FileName(), k.PTX)
	if err != nil {
		return nil, err
	}
	entry := module.Entry(k.Entry)
	if entry == nil {
		return nil, fmt.Errorf("the PTX has no entry %s", k.Entry)
	}
	sizes := make([]int, 0, len(entry.Params))
	for _, p := range entry.Params {
		sizes = append(sizes, p.Size)
	}
	return sizes, nil
}

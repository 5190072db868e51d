package rules

import (
	"context"
	"fmt"
	"strings"
)

// Replayer is implemented by Effects that can run a finding's kernel again, to see
// whether it shows. Operand and result are leaf numbers, -1 for none. The call and
// its module are still there when it is asked.
type Replayer interface {
	Replay(ctx context.Context, f *Finding, operand, result int)
}

// Starter is implemented by Effects that know the contents that a kernel ran with:
// a replay elsewhere starts from the same bytes.
type Starter interface {
	// Start gives the contents of every operand leaf for one configuration, with
	// the recipes of those that decide addresses, or the reason why there are none.
	Start(configuration int) (operands [][]byte, inputs []Recipe, reason string)
	// Decisive is the configuration that decides a pair's verdict.
	Decisive(operand, result int) int
}

// Start implements Starter.
func (e *callEffects) Start(configuration int) ([][]byte, []Recipe, string) {
	_, start, reason := e.plan.prepare(e.Analysis, configuration)
	if reason != "" {
		return nil, nil, reason
	}
	return start, e.Runs[configuration].Inputs, ""
}

// Replay adds what a replay on the machine shows to a finding about these leaves.
func (e *callEffects) Replay(ctx context.Context, f *Finding, operand, result int) {
	if !e.analyzer.opts.Replay || f.Severity == Note || f.Confirmation == Refuted {
		return
	}
	if limit := e.analyzer.opts.Time; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("the replay takes more than %s", limit))
		defer cancel()
	}
	var shown *emulation
	var err error
	switch f.Code {
	case "AC101", "AC102", "AC201":
		shown, err = e.replayPair(ctx, operand, result)
	case "AC301":
		shown, err = e.replayTrials(ctx, operand)
	case "AC302":
		n := e.plan.Operands + result
		shown, err = remember(e.analyzer, "overwritten", replayKey{e.plan, n, nil}, func() (*emulation, error) {
			return e.analyzer.overwritten(ctx, e.plan, e.Analysis, n)
		})
	default:
		return
	}
	if err != nil {
		shown = &emulation{Reason: err.Error()}
		if cause := context.Cause(ctx); cause != nil {
			shown.Reason = cause.Error()
		}
	}
	shown.confirm(f)
}

// replayKey is everything that a replay depends on beside the analysis, which
// depends on the plan.
type replayKey struct {
	Plan  *kernelPlan
	N     int
	Saved []int
}

// replayPair replays the configuration that decided the pair's verdict.
func (e *callEffects) replayPair(ctx context.Context, operand, result int) (*emulation, error) {
	n := e.Decisive(operand, result)
	return remember(e.analyzer, "replay", replayKey{e.plan, n, nil}, func() (*emulation, error) {
		return e.analyzer.emulate(ctx, e.plan, e.Analysis, n)
	})
}

// replayTrials replays the autotuner's trials on an in-out buffer.
func (e *callEffects) replayTrials(ctx context.Context, operand int) (*emulation, error) {
	if e.plan.Early && !e.plan.Buffers[operand].Ready {
		return &emulation{Reason: "the trials run before the program, on memory that holds nothing yet"}, nil
	}
	saved := e.plan.Saved
	return remember(e.analyzer, "trials", replayKey{e.plan, 0, saved}, func() (*emulation, error) {
		return e.analyzer.trials(ctx, e.plan, e.Analysis, saved)
	})
}

// confirm writes into a finding what a replay showed.
func (e *emulation) confirm(f *Finding) {
	if f.Evidence == nil {
		f.Evidence = &Evidence{}
	}
	if f.Evidence.Emulated == nil {
		f.Evidence.Emulated = &Emulated{Verdict: string(Unknown), Basis: string(NoBasis)}
	}
	shown := f.Evidence.Emulated
	shown.Replay = e.Runs
	switch {
	case e.differs():
		f.Confirmation, f.ConfirmationReason = Confirmed, "replayed on the PTX machine: "+e.words()
		if shown.Witness == nil && shown.Verdict == string(Unknown) {
			shown.Verdict, shown.Basis = string(Unsafe), string(Inputs)
		}
	case shown.Witness != nil:
		f.Confirmation = Confirmed
		f.ConfirmationReason = "the PTX machine has a witness"
		if e.Reason != "" {
			f.ConfirmationReason += "; no replay: " + e.Reason
		} else {
			f.ConfirmationReason += "; in the orders of blocks that were replayed no element differs"
		}
	case f.Confirmation == Confirmed:
	case e.Reason != "":
		f.Confirmation, f.ConfirmationReason = Unchecked, e.Reason
	default:
		f.Confirmation, f.ConfirmationReason = Unconfirmed, "replayed on the PTX machine: no element differs"
	}
}

// words says how many elements of which result differ in which order.
func (e *emulation) words() string {
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

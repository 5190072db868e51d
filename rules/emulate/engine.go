package emulate

import (
	"context"
	"fmt"

	"aliascheck/rules/replay"
)

// Replay implements replay.Engine. Of notes, and of what a complete analysis refutes,
// nothing is run.
func (k *Engine) Replay(ctx context.Context, c *replay.Case, claim *replay.Claim) *replay.Answer {
	if k.opts.NoReplay || c.Kernel == nil || c.Analysis == nil || claim.Minor || claim.Confirmation == replay.Refuted {
		return nil
	}
	if limit := k.opts.Time; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("the replay takes more than %s", limit))
		defer cancel()
	}
	plan := kernelPlan{c.Plan}
	var shown *replay.Emulation
	var err error
	switch claim.Question {
	case replay.PairShared:
		shown, err = k.replayPair(ctx, plan, c.Analysis, claim.Operand, claim.Result)
	case replay.Tuning:
		shown, err = k.replayTrials(ctx, plan, c.Analysis, claim.Operand)
	case replay.Overwrites:
		n := plan.Operands + claim.Result
		shown, err = remember(k, "overwritten", replayKey{plan, n, nil}, func() (*replay.Emulation, error) {
			return k.overwritten(ctx, plan, c.Analysis, n)
		})
	default:
		return nil
	}
	if err != nil {
		shown = &replay.Emulation{Reason: err.Error()}
		if cause := context.Cause(ctx); cause != nil {
			shown.Reason = cause.Error()
		}
	}
	return &replay.Answer{Emulated: shown}
}

// Conduct implements replay.Engine: what the machine saw of a kernel by itself is in its
// analysis, and rules read it there.
func (k *Engine) Conduct(context.Context, *replay.Case, replay.Question) *replay.Conduct { return nil }

// replayKey is everything that a replay depends on beside the analysis, which
// depends on the plan.
type replayKey struct {
	Plan  kernelPlan
	N     int
	Saved []int
}

// replayPair replays the configuration that decided the pair's verdict.
func (k *Engine) replayPair(ctx context.Context, p kernelPlan, a *replay.Analysis, operand, result int) (*replay.Emulation, error) {
	n := a.Decisive(operand, result)
	return remember(k, "replay", replayKey{p, n, nil}, func() (*replay.Emulation, error) {
		return k.emulate(ctx, p, a, n)
	})
}

// replayTrials replays the autotuner's trials on an in-out buffer.
func (k *Engine) replayTrials(ctx context.Context, p kernelPlan, a *replay.Analysis, operand int) (*replay.Emulation, error) {
	if p.Early && !p.Buffers[operand].Ready {
		return &replay.Emulation{Reason: "the trials run before the program, on memory that holds nothing yet"}, nil
	}
	return remember(k, "trials", replayKey{p, 0, p.Saved}, func() (*replay.Emulation, error) {
		return k.trials(ctx, p, a, p.Saved)
	})
}

// Package confirm asks engines of what rules reported, and joins what they say.
//
// In: calls with their kernels, and the claims that rules make of them. Out: what the
// engines' runs show of the kernels, and each claim with its confirmation, the reason
// and the evidence.
package confirm

import (
	"context"

	"aliascheck/alias"
	"aliascheck/hlo/kernel"
	"aliascheck/rules/replay"
)

// Runner runs kernels for an audit. It is safe for concurrent use.
type Runner struct {
	// Engines are asked in this order: a later one adds to what earlier ones showed.
	Engines []replay.Engine
	// Operands finds the real contents of operands.
	Operands replay.OperandSource
}

// New returns a runner that asks these engines, and knows of the operands what the dump
// says.
func New(engines ...replay.Engine) *Runner { return &Runner{Engines: engines} }

// Analyse says what running the call's kernels shows.
func (r *Runner) Analyse(ctx context.Context, c *alias.Call, k *kernel.Call) *replay.Case {
	out := &replay.Case{Call: c, Kernel: k}
	var err error
	if out.Plan, err = replay.New(ctx, c, k, r.Operands); err != nil {
		out.Reason = err.Error()
		return out
	}
	for _, e := range r.Engines {
		e.Analyse(ctx, out)
	}
	return out
}

// Confirm asks every engine of a claim, and joins what they answer into it.
func (r *Runner) Confirm(ctx context.Context, c *replay.Case, claim *replay.Claim) {
	if c.Plan == nil || claim.Question == replay.NoQuestion {
		return
	}
	for _, e := range r.Engines {
		if a := e.Replay(ctx, c, claim); a != nil {
			join(claim, a)
		}
	}
}

// Conduct is what the first engine that has something to say saw the kernel do.
func (r *Runner) Conduct(ctx context.Context, c *replay.Case, q replay.Question) *replay.Conduct {
	if c.Plan == nil {
		return nil
	}
	for _, e := range r.Engines {
		if shown := e.Conduct(ctx, c, q); shown != nil {
			return shown
		}
	}
	return nil
}

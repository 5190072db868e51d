package emulate

import (
	"context"
	"slices"

	"aliascheck/rules/replay"
)

// unready runs the configuration with garbage in the operands that decide
// addresses and that the program has yet to compute when the autotuner runs: what
// memory holds then is anything. nil where there is no such operand.
func (s *search) unready(ctx context.Context, deciding []int, known *attempt) *replay.UnreadyRun {
	if !s.plan.Early {
		return nil
	}
	u := &replay.UnreadyRun{}
	for _, n := range deciding {
		if !s.plan.Buffers[n].Ready && !slices.Contains(u.Operands, n) {
			u.Operands = append(u.Operands, n)
		}
	}
	if len(u.Operands) == 0 {
		return nil
	}
	for seed := range uint64(2) {
		var garbage []replay.Recipe
		for _, n := range u.Operands {
			garbage = append(garbage, replay.Recipe{Operand: n, Kind: replay.RandomInput, Seed: seed + uint64(n) + 1})
		}
		u.Inputs = garbage
		a, err := s.try(ctx, known.contents, garbage)
		switch {
		case err != nil:
			u.Reason = err.Error()
			return u
		case !a.outcome.Analysed:
			u.Reason = a.outcome.Reason
			return u
		case len(a.outcome.OutOfBounds) > 0:
			stray := a.outcome.OutOfBounds[0]
			u.Stray = &stray
			return u
		}
	}
	return u
}

package emulate

import (
	"context"
	"slices"

	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"
)

// attempt is one run of a configuration, and the contents that it had.
type attempt struct {
	outcome  *ptx.Outcome
	recipes  []replay.Recipe // of the contents made for it
	contents [][]byte        // by operand, nil where not known
}

// search runs a configuration until its accesses are known. First only what was
// found is known of the operands; where that does not do, the operands that decide
// addresses are made up, one recipe after another, until a try stays inside its
// buffers and writes every result that is not claimed.
type search struct {
	plan   kernelPlan
	config *configuration
	run    func(context.Context, *ptx.Launch) (*ptx.Outcome, error)
	named  []int // operands that the first run named as deciding addresses
}

func (s *search) find(ctx context.Context) (*attempt, error) {
	found := s.plan.FoundContents()
	first, err := s.try(ctx, found, nil)
	if err != nil {
		return nil, err
	}
	if s.named = s.plan.operandsOf(first.outcome.AddressFrom); first.outcome.Analysed {
		return first, nil
	}
	deciding := s.deciding(first.outcome, nil)
	if len(deciding) == 0 {
		return first, nil
	}
	best, last, err := s.among(ctx, found, deciding)
	if err != nil || best != nil {
		return best, err
	}
	// Another operand may decide too, one that no try had contents for.
	if more := s.deciding(last.outcome, deciding); len(more) > len(deciding) {
		if best, last, err = s.among(ctx, found, more); err != nil || best != nil {
			return best, err
		}
	}
	if last.outcome.Analysed {
		last = &attempt{contents: found}
		last.outcome = &ptx.Outcome{Reason: "no made-up contents of the operands that decide its addresses kept it inside its buffers"}
	}
	return last, nil
}

// deciding lists the operands to make up: those that the machine names, else the
// integers, else everything, beside those that are made up already.
func (s *search) deciding(out *ptx.Outcome, already []int) []int {
	list := slices.Clone(already)
	add := func(want func(n int) bool) {
		for n, b := range s.plan.Buffers[:s.plan.Operands] {
			if b.Found == nil && b.Size > 0 && s.config.takes(n) && want(n) && !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	named := s.plan.operandsOf(out.AddressFrom)
	add(func(n int) bool { return slices.Contains(named, n) })
	if len(list) == len(already) {
		add(func(n int) bool { return replay.IsInteger(s.plan.Buffers[n].Element) && !s.plan.Buffers[n].Empty })
	}
	if len(list) == len(already) {
		add(func(int) bool { return true })
	}
	slices.Sort(list)
	return list
}

// among tries the recipes for the deciding operands. It returns the first good
// try, else the best that stayed inside its buffers, else nil, and the last one.
func (s *search) among(ctx context.Context, found [][]byte, deciding []int) (best, last *attempt, err error) {
	var most int64 = -1
	for _, recipes := range s.plan.tries(deciding) {
		if last, err = s.try(ctx, found, recipes); err != nil {
			return nil, nil, err
		}
		out := last.outcome
		if !out.Analysed || len(out.OutOfBounds) > 0 || out.Hang != nil {
			if !out.Analysed && s.needsMore(out, deciding) {
				return best, last, nil
			}
			continue
		}
		written, all := s.plan.written(s.config, out)
		if written > most {
			best, most = last, written
		}
		if all {
			return last, last, nil
		}
	}
	return best, last, nil
}

// needsMore reports whether the machine names an operand that is not made up yet.
func (s *search) needsMore(out *ptx.Outcome, deciding []int) bool {
	return slices.ContainsFunc(s.plan.operandsOf(out.AddressFrom), func(n int) bool {
		return s.plan.Buffers[n].Found == nil && !slices.Contains(deciding, n)
	})
}

// try runs the configuration once, with these contents.
func (s *search) try(ctx context.Context, found [][]byte, recipes []replay.Recipe) (*attempt, error) {
	a := &attempt{recipes: recipes, contents: s.plan.Made(found, recipes)}
	var err error
	a.outcome, err = s.run(ctx, s.config.launch(s.plan.apart(a.contents)))
	return a, err
}

// written counts the bytes of results that a run wrote, and says whether it wrote
// what can be wanted: every result that is not claimed whole, but for those that it
// never touches (a kernel may be compiled without the part that would).
func (p kernelPlan) written(c *configuration, out *ptx.Outcome) (bytes int64, all bool) {
	all = true
	for r := range p.Buffers[p.Operands:] {
		n := p.writtenThrough(c, r)
		if n < 0 {
			continue
		}
		b := &p.Buffers[p.Operands+r]
		w := replay.Covered(replay.Joined(out.Effects[n].Written, out.Effects[n].Atomic))
		bytes += w
		all = all && (w >= b.Size || w == 0 || b.Claimant >= 0)
	}
	return bytes, all && bytes > 0
}

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
	cut      bool            // it took more steps than a try may take
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

	hint []replay.Recipe // what was good for another configuration of the call
	most int64           // steps of a try; 0: as many as the budget has
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
	if s.hint != nil {
		if a, _, err := s.first(ctx, found, [][]replay.Recipe{s.hint}, deciding); err != nil || a != nil {
			return a, err
		}
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
// What takes far longer than the program is long waits until nothing else is good.
func (s *search) among(ctx context.Context, found [][]byte, deciding []int) (best, last *attempt, err error) {
	all := s.plan.tries(deciding)
	s.most = s.config.patience()
	best, last, err = s.first(ctx, found, all, deciding)
	if s.most = 0; err == nil && best == nil && last.cut {
		best, last, err = s.first(ctx, found, all, deciding)
	}
	return best, last, err
}

// first takes the first good try of a list, as among says; last.cut says that one of
// them was cut short.
func (s *search) first(ctx context.Context, found [][]byte, list [][]replay.Recipe, deciding []int) (best, last *attempt, err error) {
	var most int64 = -1
	cut := false
	for _, recipes := range list {
		if last, err = s.probe(ctx, found, recipes); err != nil {
			return nil, nil, err
		}
		cut = cut || last.cut
		last.cut = cut
		out := last.outcome
		if !out.Analysed || len(out.OutOfBounds) > 0 || out.Hang != nil {
			if !out.Analysed && len(out.OutOfBounds) == 0 && s.needsMore(out, deciding) {
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

// patience is how many steps a try may take before others are tried: as many as its
// threads have instructions.
func (c *configuration) patience() int64 {
	const least = 1 << 27
	if c.entry == nil {
		return least
	}
	threads := c.blocks()
	for _, n := range c.geometry.Block {
		threads *= int64(max(n, 1))
	}
	return max(threads*int64(len(c.entry.Function.Body)), least)
}

// blocks is the size of the launch's grid.
func (c *configuration) blocks() int64 {
	n := int64(1)
	for _, g := range c.geometry.Grid {
		n *= int64(max(g, 1))
	}
	return n
}

// probe is a try that ends where it leaves its buffers, or takes more steps than it
// may. A few blocks go ahead of the others: that is enough to tell most that do.
func (s *search) probe(ctx context.Context, found [][]byte, recipes []replay.Recipe) (*attempt, error) {
	a := &attempt{recipes: recipes, contents: s.plan.Made(found, recipes)}
	run := func(blocks int, steps int64) (err error) {
		l := s.config.launch(s.plan.apart(a.contents))
		l.StopOutside, l.SampleBlocks, l.Budget.Steps = true, blocks, steps
		a.outcome, err = s.run(ctx, l)
		return err
	}
	const few = 16
	if all := s.config.blocks(); all >= 16*few { // one that waits for blocks that are not there is cut, and says nothing
		if err := run(few, max(s.config.patience()/all*few, 1<<20)); err != nil || len(a.outcome.OutOfBounds) > 0 {
			return a, err
		}
	}
	if err := run(0, s.most); err != nil {
		return nil, err
	}
	a.cut = s.most > 0 && !a.outcome.Analysed && a.outcome.Stats.Instructions > s.most
	return a, nil
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

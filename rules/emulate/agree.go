package emulate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"
)

// maxAgreeing bounds the runs that the stated set takes.
const maxAgreeing = 96

// agreement takes the pairs that a good try found safe through the stated set:
// contents that nobody gave prove a pair unsafe, and never safe alone.
type agreement struct {
	*search
	first *attempt         // the good try, whose contents the others vary
	open  []replay.PairRun // being judged
	sides sides
	tried []string // what agreed, in words
	late  bool     // time ran out before all were tried
}

// agree judges pairs that rest on made-up contents. Those that no recipe breaks stay
// safe where every way of every place that contents decide was gone.
func (s *search) agree(ctx context.Context, a *attempt, pairs []replay.PairRun) {
	g := &agreement{search: s, first: a, open: pairs, sides: sides{}}
	g.sides.add(a.outcome)
	g.note(a.recipes)
	if at, ok := ctx.Deadline(); ok { // what is left of the time is for other things, too
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(at)/3)
		defer cancel()
	}
	s.most = max(8*a.outcome.Stats.Instructions, 1<<27)
	g.run(ctx)
	s.most = 0
	if left := g.left(); len(left) > 0 {
		g.conclude(left)
	}
}

// left are the pairs that no recipe has broken yet.
func (g *agreement) left() []*replay.PairRun {
	var out []*replay.PairRun
	for i := range g.open {
		if p := &g.open[i]; p.Verdict.Safety == ptx.Safe && p.Basis == replay.Inputs && !p.Settled {
			out = append(out, p)
		}
	}
	return out
}

// run tries the set: all deciding operands by the same recipe, and each by every
// recipe while the others keep the good try's.
func (g *agreement) run(ctx context.Context) {
	ladders := make([][][]replay.Recipe, len(g.first.recipes))
	longest := 0
	for i, r := range g.first.recipes {
		ladders[i] = g.plan.stated(r.Operand)
		longest = max(longest, len(ladders[i]))
	}
	runs := 0
	climb := func(rungs func(k int) []replay.Recipe) bool {
		cut := false
		for k := 0; ; k++ {
			recipes := rungs(k)
			if recipes == nil || len(g.left()) == 0 {
				g.late = g.late || cut && recipes == nil
				return true
			}
			if slices.Equal(recipes, g.first.recipes) {
				return true
			}
			if runs++; runs > maxAgreeing || ctx.Err() != nil {
				g.late = true
				return false
			}
			good, short := g.judge(ctx, recipes)
			if good {
				return true
			}
			cut = cut || short
		}
	}
	for i := range ladders {
		for _, ladder := range ladders[i] {
			if !climb(func(k int) []replay.Recipe {
				if k == len(ladder) {
					return nil
				}
				out := slices.Clone(g.first.recipes)
				out[i] = ladder[k]
				return out
			}) {
				return
			}
		}
	}
	for j := range longest {
		if len(ladders) < 2 || !climb(func(k int) []replay.Recipe {
			out := make([]replay.Recipe, len(ladders))
			more := false
			for i, l := range ladders {
				ladder := l[min(j, len(l)-1)]
				out[i] = ladder[min(k, len(ladder)-1)]
				more = more || k < len(ladder)
			}
			if !more {
				return nil
			}
			return out
		}) {
			return
		}
	}
}

// judge runs one try and judges the open pairs by it. It is not good where the contents
// are none that the kernel may be given: it leaves its buffers, or does not end.
func (g *agreement) judge(ctx context.Context, recipes []replay.Recipe) (good, cut bool) {
	a, err := g.probe(ctx, g.plan.FoundContents(), recipes)
	if err != nil || !a.outcome.Analysed || len(a.outcome.OutOfBounds) > 0 || a.outcome.Hang != nil {
		return false, err != nil || a.cut
	}
	g.sides.add(a.outcome)
	g.note(recipes)
	for _, p := range g.left() {
		v := g.plan.verdict(g.config, a.outcome, p.Operand, p.Result, p.Shift)
		switch v.Safety {
		case ptx.Unsafe:
			p.Verdict, p.Inputs = v, g.plan.deciding(a)
			p.Verdict.Reason += ", for made-up contents: " + wordsOf(p.Inputs)
		case ptx.Unknown:
			p.Verdict, p.Inputs = v, g.plan.deciding(a)
		}
	}
	return true, false
}

// deciding are the recipes of the contents that decided what a try did.
func (p kernelPlan) deciding(a *attempt) []replay.Recipe {
	list, _ := p.inputs(a)
	return list
}

func (g *agreement) note(recipes []replay.Recipe) {
	if words := wordsOf(recipes); !slices.Contains(g.tried, words) {
		g.tried = append(g.tried, words)
	}
}

// conclude says of the pairs that nothing broke why they are safe, or what nobody tried.
func (g *agreement) conclude(left []*replay.PairRun) {
	missing := g.sides.missing()
	for _, p := range left {
		switch {
		case g.late:
			p.Verdict = ptx.Verdict{Reason: fmt.Sprintf("nobody gave the contents that decide its accesses, and there was no time to try all that were made up: %d agree that it is safe", len(g.tried))}
		case missing != "":
			p.Verdict = ptx.Verdict{Reason: "nobody gave the contents that decide its accesses, and none of those made up goes every way: " + missing}
		default:
			p.Verdict.Reason = fmt.Sprintf("every read comes before the writes of the same bytes, for each of %d made-up contents", len(g.tried))
		}
	}
}

// wordsOf says what contents were made of, in a message.
func wordsOf(recipes []replay.Recipe) string {
	var out []string
	for _, r := range recipes {
		out = append(out, fmt.Sprintf("operand %d %s", r.Operand, r.Words()))
	}
	return strings.Join(out, ", ")
}

package emulate

import (
	"context"
	"errors"
	"slices"
	"time"

	"aliascheck/hlo/kernel"
	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"

	"golang.org/x/sync/singleflight"
)

// Options say how kernels are run.
type Options struct {
	Budget       ptx.Budget
	SampleBlocks int           // run about this many blocks of a launch; 0 runs all
	Workers      int           // goroutines for one launch; below 1 means 1
	Time         time.Duration // for one configuration, all tries together, and for one replay; 0: no limit
	NoReplay     bool          // findings are not run again

	CacheDir string // "": nothing is kept across runs
	// CacheBytes is about the most bytes that CacheDir holds; 0: as many as come.
	CacheBytes int64
	Version    string // of this program: entries of another are not used
}

// Engine runs kernels on the PTX machine and remembers what it saw. It is safe for
// concurrent use: equal launches run once.
type Engine struct {
	opts   Options
	run    func(context.Context, *ptx.Launch) (*ptx.Outcome, error) // ptx.Run, but in tests
	memory memo
	flight singleflight.Group
}

// New returns an engine with an empty memory.
func New(o Options) *Engine {
	return &Engine{opts: o, run: ptx.Run, memory: newMemo(o.CacheDir, o.Version, o.CacheBytes)}
}

// kernelPlan is a call's plan, as the machine runs it.
type kernelPlan struct{ *replay.Plan }

// Analyse implements replay.Engine: what the call's kernels read and write, all
// configurations together. The reason says why a configuration could not be analysed.
func (k *Engine) Analyse(ctx context.Context, c *replay.Case) {
	if c.Kernel == nil {
		return
	}
	plan := kernelPlan{c.Plan}
	analysis, err := remember(k, "analysis", plan, func() (*replay.Analysis, error) { return k.analyse(ctx, plan) })
	if err == nil && !plan.fits(analysis) { // a foreign entry of the cache
		analysis, err = k.analyse(ctx, plan)
	}
	if err != nil {
		c.Reason = err.Error()
		return
	}
	c.Analysis = analysis
	_, c.Reason = analysis.Analysed()
}

// analyse runs every configuration of a plan.
func (k *Engine) analyse(ctx context.Context, p kernelPlan) (*replay.Analysis, error) {
	a := &replay.Analysis{Operands: p.Operands}
	for n := range p.Buffers {
		a.Claimant = append(a.Claimant, p.Buffers[n].Claimant)
	}
	var hint []replay.Recipe
	for n := range p.Call.Configurations {
		run := k.analyseOne(ctx, p, &p.Call.Configurations[n], hint)
		if run.Tried != nil {
			hint = run.Tried
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a.Runs = append(a.Runs, run)
	}
	return a, nil
}

// analyseOne runs one configuration until its accesses are known. hint is what made-up
// contents were good for another configuration.
func (k *Engine) analyseOne(ctx context.Context, p kernelPlan, c *kernel.Configuration, hint []replay.Recipe) replay.KernelRun {
	r := replay.KernelRun{Kernel: c.Entry, Description: c.Description, Pointers: c.Buffers()}
	config, err := p.newConfiguration(c)
	if err != nil {
		r.Reason, r.Damaged = err.Error(), errors.As(err, new(codeError))
		return r
	}
	if k.opts.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, k.opts.Time)
		defer cancel()
	}
	r.Reach = p.reach(config)
	r.Pairs = p.settled(config, r.Reach)
	s := &search{plan: p, config: config, run: k.launch, hint: hint}
	a, err := s.find(ctx)
	if err != nil {
		r.Reason, r.Late = err.Error(), ctx.Err() != nil
		return r
	}
	out := a.outcome
	if !out.Analysed {
		r.Reason = out.Reason
		r.Unready = s.unready(ctx, s.named, a)
		r.Late = ctx.Err() != nil
		return r
	}
	r.Analysed, r.Basis = true, basisOf(out)
	r.AddressFrom = p.operandsOf(out.AddressFrom)
	r.Inputs, r.Made = p.inputs(a)
	r.Tried = a.recipes
	r.Buffers = out.Effects[:len(p.Buffers)]
	r.Strays, r.Hang, r.LateCopies, r.Descriptors = out.OutOfBounds, out.Hang, out.LateCopies, out.Descriptors
	for _, pair := range p.Pairs {
		result := p.writtenThrough(config, pair.Result)
		if out.Hang == nil && (p.judged(config, pair) || p.onePointer(config, pair)) && !settles(&r, pair) {
			r.Pairs = append(r.Pairs, replay.PairRun{Operand: pair.Operand, Result: pair.Result, Shift: pair.Shift,
				Verdict: p.verdict(config, out, pair.Operand, pair.Result, pair.Shift), Basis: pairBasis(out, pair.Operand, result)})
		}
	}
	if r.Made && out.Hang == nil {
		s.agree(ctx, a, r.Pairs)
	}
	r.Unready = s.unready(ctx, r.AddressFrom, a)
	r.Late = ctx.Err() != nil
	return r
}

// judged says that a pair has two pointers, whose accesses can be held to each other.
func (p kernelPlan) judged(c *configuration, pair replay.Pair) bool {
	result := p.writtenThrough(c, pair.Result)
	return c.takes(pair.Operand) && result >= 0 && result != pair.Operand
}

// reach reads off the program what the kernel may touch; nil where that is not known.
func (p kernelPlan) reach(c *configuration) *ptx.Reach {
	reach, err := ptx.ReachOf(c.launch(p.apart(nil)))
	if err != nil {
		return nil
	}
	reach.Read, reach.Written = reach.Read[:len(p.Buffers)], reach.Written[:len(p.Buffers)]
	return reach
}

// settled lists the pairs of which no contents can change that they are safe: the
// kernel never reads the operand, or never writes the result.
func (p kernelPlan) settled(c *configuration, reach *ptx.Reach) []replay.PairRun {
	var out []replay.PairRun
	for _, pair := range p.Pairs {
		if reach == nil || !p.judged(c, pair) {
			continue
		}
		why := ""
		switch {
		case !reach.Read[pair.Operand]:
			why = "the kernel never reads the operand: no load's address can come from its pointer"
		case !reach.Written[p.writtenThrough(c, pair.Result)]:
			why = "the kernel never writes the result: no store's address can come from its pointer"
		default:
			continue
		}
		out = append(out, replay.PairRun{Operand: pair.Operand, Result: pair.Result, Shift: pair.Shift,
			Verdict: ptx.Verdict{Safety: ptx.Safe, Reason: why}, Basis: replay.Complete, Settled: true})
	}
	return out
}

// settles says that the pair is among those that the program alone decides.
func settles(r *replay.KernelRun, pair replay.Pair) bool {
	return slices.ContainsFunc(r.Pairs, func(p replay.PairRun) bool {
		return p.Settled && p.Operand == pair.Operand && p.Result == pair.Result
	})
}

// writtenThrough is the buffer through whose pointer a result leaf is written: its
// own, or where it has none the operand's that claims it; -1 where nobody writes it.
func (p kernelPlan) writtenThrough(c *configuration, result int) int {
	n := p.Operands + result
	if !c.takes(n) {
		n = p.Buffers[n].Claimant
	}
	if n < 0 || !c.takes(n) {
		return -1
	}
	return n
}

// onePointer says that the kernel was compiled to work on a declared pair through one
// pointer, and is to be held to it. jax-triton passes one pointer for kernels that were
// written to take two, or one; a Ref of Pallas is one piece of memory whose contents the
// program goes on with.
func (p kernelPlan) onePointer(c *configuration, pair replay.Pair) bool {
	return p.Call.OnePointer && pair.Shared && pair.Shift == 0 && c.takes(pair.Operand) &&
		p.writtenThrough(c, pair.Result) == pair.Operand
}

// verdict holds the accesses through a pair's pointers to each other, or through its one.
func (p kernelPlan) verdict(c *configuration, out *ptx.Outcome, operand, result int, shift int64) ptx.Verdict {
	through := p.writtenThrough(c, result)
	var v ptx.Verdict
	if through == operand {
		v = out.OneBuffer(operand)
	} else {
		v = out.InPlace(operand, through, shift)
	}
	if v.Witness != nil {
		c.locate(&v.Witness.Reader, operand, false)
		c.locate(&v.Witness.Writer, through, true)
	}
	return v
}

// locate gives an access its place in the source, where the PTX has no lines and the
// source has but one that it can be.
func (c *configuration) locate(a *ptx.Access, buffer int, write bool) {
	if s, ok := c.kernel.Site(buffer, write); ok && a.Line == 0 && a.PTXLine != 0 {
		a.File, a.Line = s.File, s.Line
	}
}

// launch runs a launch within the budget. One that takes more steps is run again on
// a sample of its blocks: half as many as the budget is enough for.
func (k *Engine) launch(ctx context.Context, l *ptx.Launch) (*ptx.Outcome, error) {
	own := l.Budget.Steps
	l.Budget, l.Workers = k.opts.Budget, k.opts.Workers
	if own > 0 && (l.Budget.Steps <= 0 || own < l.Budget.Steps) {
		l.Budget.Steps = own
	}
	if l.Mode == ptx.Full || l.SampleBlocks > 0 {
		return k.run(ctx, l)
	}
	l.SampleBlocks = k.opts.SampleBlocks
	if own > 0 {
		return k.run(ctx, l)
	}
	out, err := k.run(ctx, l)
	limit := l.Budget.Steps
	if limit <= 0 {
		limit = ptx.DefaultSteps
	}
	if err != nil || out.Analysed || l.SampleBlocks > 0 || out.Stats.Instructions <= limit {
		return out, err
	}
	l.SampleBlocks = int(float64(out.Stats.Blocks) * float64(limit) / float64(out.Stats.Instructions) / 2)
	if l.SampleBlocks == 0 {
		return out, nil
	}
	return k.run(ctx, l)
}

func basisOf(out *ptx.Outcome) replay.Basis {
	switch {
	case out.Sampled:
		return replay.Sampled
	case out.Complete:
		return replay.Complete
	}
	return replay.Inputs
}

// pairBasis is what a verdict on two buffers rests on: whatever contents decide of
// other buffers' accesses, these two have the same in every run.
func pairBasis(out *ptx.Outcome, operand, result int) replay.Basis {
	basis := basisOf(out)
	if basis == replay.Inputs && out.Hang == nil && out.MemoryOrder == nil && len(out.Steered) > 0 && !out.Steered[operand] && !out.Steered[result] {
		return replay.Complete
	}
	return basis
}

// operandsOf keeps the buffers that are operands; a claimed result stands for its
// claimant, whose contents it starts with.
func (p kernelPlan) operandsOf(buffers []int) []int {
	var out []int
	for _, n := range buffers {
		if n >= p.Operands && n < len(p.Buffers) {
			n = p.Buffers[n].Claimant
		}
		if n >= 0 && n < p.Operands {
			out = append(out, n)
		}
	}
	return out
}

// inputs lists the contents that decided a run's accesses, and says whether any of
// them were made up.
func (p kernelPlan) inputs(a *attempt) (list []replay.Recipe, made bool) {
	for _, n := range p.operandsOf(a.outcome.AddressFrom) {
		if p.Buffers[n].Found != nil {
			list = append(list, p.Buffers[n].Recipe)
		}
		for _, r := range a.recipes {
			if r.Operand == n {
				list, made = append(list, r), true
			}
		}
	}
	return list, made
}

// fits reports whether an analysis from the cache is one of this plan: whether
// every index in it is an index of the plan.
func (p kernelPlan) fits(a *replay.Analysis) bool {
	if a == nil || a.NotRun || a.Shown != nil || a.Operands != p.Operands || len(a.Claimant) != len(p.Buffers) || len(a.Runs) != len(p.Call.Configurations) {
		return false
	}
	operand := func(n int) bool { return n >= 0 && n < p.Operands }
	recipe := func(r replay.Recipe) bool { return operand(r.Operand) }
	for i := range a.Runs {
		r := &a.Runs[i]
		if r.Kernel != p.Call.Configurations[i].Entry || r.Analysed && len(r.Buffers) != len(p.Buffers) ||
			!all(r.AddressFrom, operand) || !all(r.Inputs, recipe) {
			return false
		}
		if r.Unready != nil && (!all(r.Unready.Operands, operand) || !all(r.Unready.Inputs, recipe)) {
			return false
		}
	}
	return true
}

func all[T any](list []T, good func(T) bool) bool {
	return !slices.ContainsFunc(list, func(v T) bool { return !good(v) })
}

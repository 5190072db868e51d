package jax

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"aliascheck/rules/replay"

	"github.com/ianlancetaylor/demangle"
)

// Engine replays and traces the calls of an audit in a session: those whose kernels the
// dump does not hold, or that nobody else could analyse.
type Engine struct {
	options  Options
	all      bool // calls that were analysed, too
	notes    bool // a run's processes noted who registered what
	mu       sync.Mutex
	sessions map[string]*Session // by platform
}

// EngineOptions say which calls an engine is to run.
type EngineOptions struct {
	All   bool
	Notes bool // believe the notes beside the dumps: only of one's own run
}

// NewEngine returns an engine; the platform is that of each dump.
func NewEngine(o Options, e EngineOptions) *Engine {
	return &Engine{options: o, all: e.All, notes: e.Notes, sessions: map[string]*Session{}}
}

// Close ends the workers.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var failed error
	for _, s := range e.sessions {
		failed = errors.Join(failed, s.Close())
	}
	return failed
}

// session is that of the platform that a module was compiled for, by its file's name.
func (e *Engine) session(modulePath string) *Session {
	o := e.options
	o.Platform = "cuda"
	if strings.Contains(filepath.Base(modulePath), "cpu_after_optimizations") {
		o.Platform = "cpu"
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sessions[o.Platform] == nil {
		e.sessions[o.Platform] = NewSession(o)
	}
	return e.sessions[o.Platform]
}

// asked is what came of a call.
type asked struct {
	request Request
	out     *Outcome
	device  string
	err     error
}

// Analyse implements replay.Engine: the accesses of the call's machine code, where they
// can be traced; else what sharing the pairs that share, or are declared, changes.
func (e *Engine) Analyse(ctx context.Context, c *replay.Case) {
	if c.Plan == nil || c.Kernel != nil && c.Reason == "" && !e.all {
		return
	}
	a := e.ask(ctx, c)
	if a.err != nil && a.out == nil {
		c.Reason = e.why(c, a.err)
		return
	}
	if c.Kernel != nil && c.Analysis != nil && c.Reason == "" {
		return // the machine has said it all; replays come with the findings
	}
	trace := a.out.Modes.Trace
	switch {
	case a.out.Fault != nil:
		c.Reason = "in the user's JAX: " + a.out.Fault.words()
	case trace == nil || trace.Reason != "":
		c.Reason = "its accesses were not traced"
		if trace != nil {
			c.Reason += ": " + trace.Reason
		}
	default:
		c.Analysis, c.Reason = replay.NewTraced(c.Plan, e.traced(c, a)), ""
		return
	}
	if c.Analysis == nil {
		c.Analysis = replay.NotAnalysed(c.Plan, c.Reason)
		c.Analysis.Tried = true
	}
	e.show(c, a)
}

// why keeps what was known to be missing, and adds what this engine lacks.
func (e *Engine) why(c *replay.Case, err error) string {
	if c.Reason == "" {
		return "not replayed in JAX: " + err.Error()
	}
	return c.Reason + "; not replayed in JAX: " + err.Error()
}

// show adds pairs that differed when they were run in one place.
func (e *Engine) show(c *replay.Case, a *asked) {
	for _, pair := range c.Plan.Pairs {
		if reason := a.differs(Pair{pair.Operand, pair.Result}); reason != "" {
			more := *c.Analysis
			more.Shown = append(more.Shown, replay.PairShown{Operand: pair.Operand, Result: pair.Result, Reason: reason})
			c.Analysis = &more
		}
	}
}

// differs says how a pair's runs in one place differed; empty where they did not.
func (a *asked) differs(p Pair) string {
	if a.out == nil {
		return ""
	}
	for _, m := range []struct {
		how  string
		runs *Shared
	}{{"", a.out.Modes.Shared[p]}, {", with few multiprocessors free", a.out.Modes.Confined[p]}} {
		if m.runs != nil && m.runs.Differing > 0 && !a.unstable() {
			return fmt.Sprintf("on %s, in the user's JAX: up to %d elements differ in %d of %d runs with the pair in one place%s",
				a.device, m.runs.Most, m.runs.Differing, m.runs.Runs, m.how)
		}
	}
	return ""
}

// unstable reports whether equal runs with everything apart differ already.
func (a *asked) unstable() bool {
	if a.out.Modes.Apart == nil {
		return true
	}
	for _, r := range a.out.Modes.Apart.Results {
		if r.Control > 0 {
			return true
		}
	}
	return false
}

func (f *Fault) words() string {
	if f.Hang {
		return "it does not end (" + f.Mode + ")"
	}
	return "it ends the process (" + f.Mode + "): " + f.Error
}

// ask has the call replayed and traced, once a case.
func (e *Engine) ask(ctx context.Context, c *replay.Case) *asked {
	if a, ok := c.Kept(e).(*asked); ok {
		return a
	}
	a := &asked{}
	c.Keep(e, a)
	var files string
	if files, a.err = os.MkdirTemp(e.options.Dir, "aliascheck-operands-"); a.err != nil {
		return a
	}
	defer os.RemoveAll(files)
	if a.request, a.err = e.rebuild(c, files); a.err != nil {
		return a
	}
	session := e.session(c.Call.Module.Path)
	ready, err := session.Ready(ctx)
	if err != nil {
		a.err = err
		return a
	}
	a.device = ready.Device
	a.out, a.err = session.Ask(ctx, a.request)
	return a
}

// rebuild makes the request for a case: the call as its instruction has it, every pair
// of the plan to be traced, and those that are declared or share memory to be replayed.
func (e *Engine) rebuild(c *replay.Case, files string) (Request, error) {
	var r Request
	m, at := c.Call.Module, c.Call.Instruction
	in := &m.Instructions[at]
	r.Call = Call{
		Target: strings.Clone(c.Call.Target), APIVersion: c.Call.APIVersion, Config: c.Call.Config,
		SideEffect: in.Custom != nil && in.Custom.HasSideEffect,
	}
	r.Claims = map[int]int{}
	for n, l := range c.Call.Operands {
		if len(l.Index) > 0 {
			return r, fmt.Errorf("operand %d is a tuple", l.Operand)
		}
		a := Array{Type: l.Element.String(), Dims: l.Dims, Seed: n + 1}
		layouts, err := m.Layouts(in.Operands[l.Operand])
		if err != nil {
			return r, err
		}
		a.Layout = layouts[0]
		if found := c.Plan.Buffers[n].Found; found != nil {
			a.File = filepath.Join(files, fmt.Sprintf("operand-%d", n))
			if err := os.WriteFile(a.File, found, 0o600); err != nil {
				return r, err
			}
		}
		r.Call.Operands = append(r.Call.Operands, a)
	}
	layouts, err := m.Layouts(at)
	if err != nil {
		return r, err
	}
	for n, l := range c.Call.Results {
		if len(l.Index) > 1 {
			return r, errors.New("its result is a tuple of tuples")
		}
		r.Call.Results = append(r.Call.Results, Array{Type: l.Element.String(), Dims: l.Dims, Layout: layouts[n]})
		if claimant := c.Plan.Buffers[c.Plan.Operands+n].Claimant; claimant >= 0 {
			r.Claims[n] = claimant
		}
	}
	for _, pair := range c.Plan.Pairs {
		p := Pair{pair.Operand, pair.Result}
		if pair.Shift == 0 {
			r.Trace = append(r.Trace, p)
		}
		if (pair.Shared || c.Call.IsDeclared(pair.Operand, pair.Result)) && pair.Shift == 0 {
			r.Pairs = append(r.Pairs, p)
		}
	}
	r.Imports, r.Traced = builtin(r.Call.Target), true
	if e.notes {
		modules, paths := importsOf(ReadNotes(m.Path), r.Call.Target)
		r.Imports, r.Paths = append(r.Imports, modules...), paths
	}
	return r, nil
}

// traced turns a trace into what an analysis is made of.
func (e *Engine) traced(c *replay.Case, a *asked) replay.Traced {
	t := a.out.Modes.Trace
	out := replay.Traced{Engine: "trace", Kernels: kernels(t)}
	for _, p := range t.Pairs {
		pair := replay.TracedPair{
			Operand: p.Operand, Result: p.Result, Verdict: replay.Verdict(p.Verdict), Reason: p.Reason, Byte: p.Byte,
		}
		if p.Verdict == string(replay.Unsafe) {
			if p.Witness != nil {
				pair.Reader, pair.Writer = p.Witness.Reader.traced(), p.Witness.Writer.traced()
			} else {
				pair.Reader, pair.Writer = replay.TracedAccess{Code: out.Kernels}, replay.TracedAccess{Code: out.Kernels}
			}
		}
		out.Pairs = append(out.Pairs, pair)
	}
	next := 0
	for n := range c.Plan.Buffers {
		var b replay.TracedBuffer
		if a.request.element(n) != "token" && next < len(t.Buffers) {
			b = t.Buffers[next].traced()
			next++
		}
		// What is read first matters where the poison before shows in what comes out.
		if r := a.result(n - c.Plan.Operands); n >= c.Plan.Operands && (r == nil || r.Poison == 0) {
			b.ReadFirst = nil
		}
		out.Buffers = append(out.Buffers, b)
	}
	return out
}

// element is buffer n's type.
func (r *Request) element(n int) string {
	if n < len(r.Call.Operands) {
		return r.Call.Operands[n].Type
	}
	return r.Call.Results[n-len(r.Call.Operands)].Type
}

func (b *TracedBuffer) traced() replay.TracedBuffer {
	whole := b.ReadBytes != nil && b.WrittenBytes != nil
	return replay.TracedBuffer{Whole: whole, Read: b.ReadBytes, Written: b.WrittenBytes, ReadFirst: b.ReadFirstBytes}
}

func (a *Access) traced() replay.TracedAccess {
	out := replay.TracedAccess{Code: "a copy that the handler asked for"}
	if !a.Copy {
		out.Code = demangle.Filter(a.Kernel, demangle.NoParams)
		if a.Offset >= 0 {
			out.Code += fmt.Sprintf("+%#x", a.Offset)
		}
	}
	for i := range 3 {
		out.Block[i], out.Thread[i] = uint32(a.Block[i]), uint32(a.Thread[i])
	}
	return out
}

// kernels names what was launched.
func kernels(t *Trace) string {
	if len(t.Launches) == 0 {
		return "its copies"
	}
	name := demangle.Filter(t.Launches[0], demangle.NoParams)
	if t.Launched > 1 {
		name += fmt.Sprintf(" and %d more launches", t.Launched-1)
	}
	return name
}

// Replay implements replay.Engine.
func (e *Engine) Replay(ctx context.Context, c *replay.Case, claim *replay.Claim) *replay.Answer {
	if c.Kept(e) == nil && !e.all {
		return nil
	}
	a := e.ask(ctx, c)
	if a.out == nil {
		return &replay.Answer{Confirmation: replay.Unchecked, Reason: a.err.Error(), Where: "not replayed in JAX: "}
	}
	answer := a.judge(claim)
	if answer == nil {
		return nil
	}
	answer.Where = "on " + a.device + ", in the user's JAX: "
	if raw, err := json.Marshal(evidence{a.device, a.out}); err == nil { // else a number that is none
		answer.GPU = raw
	}
	return answer
}

// evidence is what a finding carries of a replay in JAX.
type evidence struct {
	Device string   `json:"device"`
	JAX    *Outcome `json:"jax"`
}

// judge answers a claim from what was seen; nil where that says nothing of it.
func (a *asked) judge(claim *replay.Claim) *replay.Answer {
	yes := func(format string, args ...any) *replay.Answer {
		return &replay.Answer{Confirmation: replay.Confirmed, Reason: fmt.Sprintf(format, args...)}
	}
	no := func(format string, args ...any) *replay.Answer {
		return &replay.Answer{Confirmation: replay.Unconfirmed, Reason: fmt.Sprintf(format, args...)}
	}
	apart := a.out.Modes.Apart
	switch claim.Question {
	case replay.PairShared, replay.AllShared, replay.PairForced:
		return a.judgePair(Pair{claim.Operand, claim.Result}, yes, no)
	case replay.Changed:
		if apart == nil {
			return nil
		}
		for _, w := range apart.Written {
			if w.Operand == claim.Operand {
				return yes("%d elements of the operand are changed", w.Elements)
			}
		}
		return no("no element of the operand is changed")
	case replay.Unwritten, replay.ReadFirst:
		if apart == nil || claim.Result < 0 {
			return nil
		}
		if r := a.result(claim.Result); r != nil && r.Poison > 0 {
			return yes("%d of %d elements of the result depend on what it held before", r.Poison, r.Of)
		}
		return no("no element of the result depends on what it held before")
	}
	return nil
}

// result is the apart runs' comparison of a result leaf.
func (a *asked) result(leaf int) *ApartResult {
	if a.out.Modes.Apart == nil {
		return nil
	}
	at := 0
	for n := range a.request.Call.Results {
		if a.request.Call.Results[n].Type == "token" {
			continue
		}
		if n == leaf && at < len(a.out.Modes.Apart.Results) {
			return &a.out.Modes.Apart.Results[at]
		}
		at++
	}
	return nil
}

func (a *asked) judgePair(p Pair, yes, no func(string, ...any) *replay.Answer) *replay.Answer {
	if reason := a.differs(p); reason != "" {
		return yes("%s", strings.TrimPrefix(reason, "on "+a.device+", in the user's JAX: "))
	}
	shared := a.out.Modes.Shared[p]
	switch {
	case shared == nil:
		return nil
	case shared.Reason != "":
		return &replay.Answer{Confirmation: replay.Unchecked, Reason: shared.Reason}
	case a.unstable():
		return &replay.Answer{Confirmation: replay.Unchecked, Reason: "equal runs with the buffers apart differ already"}
	}
	return no("equal bits in %d runs with the pair in one place", shared.Runs)
}

// Conduct implements replay.Engine: what the call did with everything apart.
func (e *Engine) Conduct(_ context.Context, c *replay.Case, q replay.Question) *replay.Conduct {
	a, ok := c.Kept(e).(*asked)
	if !ok || a.out == nil {
		return nil
	}
	madeUp := false
	for n := range c.Plan.Operands {
		madeUp = madeUp || c.Plan.Buffers[n].Found == nil
	}
	fault := a.out.Fault
	switch {
	case q == replay.Hangs && fault != nil && fault.Hang && fault.Mode == "apart":
		return &replay.Conduct{Text: fault.Error, MadeUp: madeUp}
	case q == replay.Faults && fault != nil && !fault.Hang && fault.Mode == "apart":
		return &replay.Conduct{Text: fault.Error, MadeUp: madeUp}
	case q == replay.Unstable && fault == nil && a.out.Modes.Apart != nil:
		for _, r := range a.out.Modes.Apart.Results {
			if r.Control > 0 {
				return &replay.Conduct{Text: fmt.Sprintf("%d of %d elements differ between two equal runs", r.Control, r.Of), MadeUp: madeUp}
			}
		}
	}
	return nil
}

package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/sources"
	"aliascheck/rules/intern"
	"aliascheck/rules/library"
	"aliascheck/rules/replay"
)

// KernelRunner runs kernels: package confirm has the one that asks engines.
type KernelRunner interface {
	// Analyse says what running a call's kernel shows.
	Analyse(ctx context.Context, c *alias.Call, k *kernel.Call) *replay.Case
	// Confirm asks what running it again shows of a claim, and writes that into it.
	Confirm(ctx context.Context, c *replay.Case, claim *replay.Claim)
	// Conduct says what the kernel did by itself when it was run; nil where that is
	// nothing that the question is about.
	Conduct(ctx context.Context, c *replay.Case, q replay.Question) *replay.Conduct
}

// Options says how an Auditor judges.
type Options struct {
	Config  Config
	SrcRoot string       // Python files are named relative to it in fingerprints
	Runner  KernelRunner // nil: kernels are not run
	// AnyCall asks the runner of calls whose kernels are not in the dump, too.
	AnyCall bool
	Sources []kernel.Source // of kernels; nil: all that this program has
	Maps    bool            // findings get memory maps
}

// Auditor judges modules one after another. Use one per worker.
type Auditor struct {
	opts      Options
	rules     []Rule
	questions map[string]replay.Question // by rule
	known     *knownKernels
	locate    locator
	alias     alias.Analyzer
	kernels   *kernel.Set
	names     intern.Names
	room      proportion
	pass      Pass         // of the call that is being judged
	report    ModuleReport // of the module that was judged last
}

// NewAuditor returns an auditor with all rules.
func NewAuditor(o Options) *Auditor {
	if o.Sources == nil {
		o.Sources = sources.All()
	}
	all := All()
	return &Auditor{
		opts: o, rules: all, questions: questions(all), known: newKnownKernels(o.Config.Kernels),
		locate:  newLocator(o.Config.LibraryCode, o.SrcRoot),
		kernels: kernel.NewSet(o.Sources, kernel.Options{WithoutCode: o.Runner == nil}),
	}
}

// ModuleReport is the outcome of one module. It holds nothing of the module itself.
// The report and its lists, but for the calls, are valid until the auditor's next
// module: most findings are equal to one that another module had, and a Collector
// copies those that it keeps.
type ModuleReport struct {
	Path, Name string
	Calls      []Call
	Findings   []Finding
	Analysed   int
	Library    int
	Declared   int // calls whose kernel the configuration describes, and that was not analysed
	Unanalysed []Unanalysed
	Unknown    []Unanalysed
	NotAudited []NotAudited
	// Incomplete is what is damaged in the module: the rest of it was audited.
	Incomplete []Incomplete

	sites []callSite // of the calls that are no library's
}

// Module judges every custom call of m, and where all its values lie.
func (a *Auditor) Module(ctx context.Context, m *hlo.Module) *ModuleReport {
	out := &a.report
	*out = ModuleReport{
		Path: strings.Clone(m.Path), Name: strings.Clone(clip(m.Name, maxText)),
		Findings: out.Findings[:0], Unanalysed: out.Unanalysed[:0], Unknown: out.Unknown[:0], NotAudited: out.NotAudited[:0],
		sites:      out.sites[:0],
		Incomplete: out.Incomplete[:0],
	}
	a.room.begin(m)
	calls := a.alias.Calls(m)
	names := instructionNames(calls)
	out.Calls = make([]Call, 0, len(calls)) // of calls that were read, not a number of the file's
	for i := range calls {
		if ctx.Err() != nil {
			return out
		}
		n := len(m.Instructions[calls[i].Instruction].Name)
		a.call(ctx, out, &calls[i], clip(names[:n], maxText))
		names = names[n:]
	}
	a.module(out, m)
	a.room.tooMany(out)
	return out
}

// instructionNames copies the names of calls in one piece, one after the other.
func instructionNames(calls []alias.Call) string {
	size := 0
	for i := range calls {
		size += len(calls[i].Module.Instructions[calls[i].Instruction].Name)
	}
	var b strings.Builder
	b.Grow(size)
	for i := range calls {
		b.WriteString(calls[i].Module.Instructions[calls[i].Instruction].Name)
	}
	return b.String()
}

// call judges one custom call, whose instruction's name is given.
func (a *Auditor) call(ctx context.Context, out *ModuleReport, c *alias.Call, name string) {
	p := &a.pass
	in := &c.Module.Instructions[c.Instruction]
	*p = Pass{
		Call: c, Lives: &a.alias, known: a.known, names: &a.names, room: &a.room, findings: p.findings[:0], leaves: p.leaves[:0], listed: p.listed[:0],
		target: a.names.Keep(clip(c.Target, maxText)), instruction: name,
		computation: a.names.Keep(clip(c.Module.Computations[in.Computation].Name, maxText)),
	}
	p.Overlaps = a.alias.Overlaps(c)
	var reason string
	if p.Overwrites, reason = a.alias.Overwrites(c); reason != "" {
		out.NotAudited = append(out.NotAudited, NotAudited{Check: "AC104", Calls: 1, Reason: strings.Clone(reason)})
	}
	libraries := out.Library
	a.kernel(ctx, out, p)
	if out.Library == libraries {
		out.sites = append(out.sites, callSite{a.locate.source(c.Module, c.Instruction), kindOf(c, cmp.Or(p.KernelName, p.target))})
	}
	if reason := unresolved(p); reason != "" {
		out.incomplete(p, reason)
	}
	for n := range a.rules {
		if a.rules[n].Check != nil {
			p.rule = &a.rules[n]
			a.rules[n].Check(p)
		}
	}
	a.confirm(ctx, p)
	a.room.call++
	a.place(out, p)
	report := p.callReport(out)
	if p.unknown != "" {
		out.Unknown = count(out.Unknown, Unanalysed{Target: p.target, Kernel: p.KernelName, Calls: 1, Reason: a.names.Keep(p.unknown)})
	}
	report.Findings = append(report.Findings, p.listed...)
	out.Calls = append(out.Calls, report)
}

// kernel decodes and runs the call's kernel, and counts the call as analysed,
// library or unanalysed.
func (a *Auditor) kernel(ctx context.Context, out *ModuleReport, p *Pass) {
	c := p.Call
	decoder := a.kernels.For(c.Target)
	p.kernelSource = a.kernels.Source(c.Target)
	switch {
	case decoder != nil:
		p.unanalysed = a.decode(out, p, decoder)
	case library.IsLibrary(c.Target, a.opts.Config.LibraryTargets):
		out.Library++
		p.library = true
		if a.opts.AnyCall {
			p.run = a.opts.Runner.Analyse(ctx, c, nil)
			p.Effects = p.run.Known()
		}
		return
	default:
		p.unanalysed = "its kernel is not in the dump"
	}
	if p.unwanted = a.opts.Runner == nil; p.unanalysed == "" && p.unwanted {
		p.unanalysed = "kernels are not analysed (--replay off)"
	}
	if p.unanalysed != "" && a.opts.AnyCall {
		a.anyCall(ctx, out, p)
		return
	}
	if p.unanalysed == "" {
		p.run = a.opts.Runner.Analyse(ctx, c, p.Kernel)
		p.Effects, p.unanalysed = p.run.Analysis, a.names.Keep(clip(p.run.Reason, maxText))
		if reason := damaged(p.run.Analysis); reason != "" {
			out.incomplete(p, clip(reason, maxText))
		}
	}
	if p.unanalysed == "" {
		out.Analysed++
		return
	}
	if a.known.declared(p.name()) {
		out.Declared++
		p.unanalysed = "" // the configuration says what there is to know
		return
	}
	out.unanalysed(p)
}

// damaged says what is wrong with a kernel's code; empty where nothing is, as far as the
// machine has read it.
func damaged(a *replay.Analysis) string {
	if a == nil {
		return ""
	}
	for i := range a.Runs {
		if a.Runs[i].Damaged {
			return a.Runs[i].Reason
		}
	}
	return ""
}

// anyCall has engines that need no kernel from the dump look at the call.
func (a *Auditor) anyCall(ctx context.Context, out *ModuleReport, p *Pass) {
	p.run = a.opts.Runner.Analyse(ctx, p.Call, nil)
	p.Effects = p.run.Known()
	switch {
	case p.Effects != nil && p.run.Reason == "":
		p.unanalysed = ""
		out.Analysed++
		return
	case p.run.Reason != "":
		p.unanalysed = a.names.Keep(clip(p.unanalysed+"; "+p.run.Reason, maxText))
	}
	out.unanalysed(p)
}

// unanalysed counts the call, with those before it of which the same is to be said.
func (out *ModuleReport) unanalysed(p *Pass) {
	out.Unanalysed = count(out.Unanalysed, Unanalysed{Target: p.target, Kernel: p.KernelName, Calls: 1, Reason: p.unanalysed})
}

func count(list []Unanalysed, u Unanalysed) []Unanalysed {
	if n := len(list); n > 0 {
		last := &list[n-1]
		if last.Target == u.Target && last.Kernel == u.Kernel && last.Reason == u.Reason {
			last.Calls++
			return list
		}
	}
	return append(list, u)
}

// decode reads the kernel call, and says why there is nothing to run. One that is damaged
// makes the audit incomplete: who flips a byte must not lose a finding. Where no kernel is
// run, the static rules need no more than the kernel's name; but where the table knows
// the name and the call declares a pair, whether the kernel has a pointer of its own for
// the result decides AC201.
func (a *Auditor) decode(out *ModuleReport, p *Pass, d kernel.Decoder) (reason string) {
	c := p.Call
	if a.opts.Runner == nil {
		name, ok := d.Peek(c.Target, c.Config)
		if ok && (len(c.Declared) == 0 || !a.known.lists(string(name))) {
			p.KernelName, p.configurations = a.names.KeepBytes(name[:min(len(name), maxText)]), 1
			return ""
		}
	}
	k, err := d.Decode(c.Request())
	switch {
	case err != nil:
		reason = a.names.Keep(clip(err.Error(), maxText))
		out.incomplete(p, reason)
		return reason
	case k.Problem != "" || len(k.Configurations) == 0:
		p.KernelName = a.names.Keep(clip(k.Name, maxText))
		return a.names.Keep(clip(k.Problem, maxText))
	}
	p.Kernel, p.KernelName, p.configurations = k, a.names.Keep(clip(k.Configurations[0].Name(), maxText)), len(k.Configurations)
	return ""
}

// unresolved says which leaf of the call has no slice, and why; empty when all have one.
// XLA gives every array that a call reads or writes its bytes: what has none was lost.
func unresolved(p *Pass) string {
	for i := range p.Call.Operands {
		if l := &p.Call.Operands[i]; l.Unresolved != "" && l.Bytes > 0 {
			return p.Operand(i) + " has no slice: " + l.Unresolved
		}
	}
	for i := range p.Call.Results {
		if l := &p.Call.Results[i]; l.Unresolved != "" && l.Bytes > 0 {
			return p.Result(i) + " has no slice: " + l.Unresolved
		}
	}
	return ""
}

// incomplete notes damage at the call that is being judged. Nothing found at it says that
// there is nothing.
func (out *ModuleReport) incomplete(p *Pass, reason string) {
	what := "custom call " + strconv.Quote(p.instruction)
	if p.KernelName != "" {
		what += " of kernel " + strconv.Quote(p.KernelName)
	}
	out.Incomplete = append(out.Incomplete, Incomplete{Path: out.Path, Error: what + ": " + reason})
}

// place gives the call's findings what they have in common, and cuts their ties to
// the module's memory.
func (a *Auditor) place(out *ModuleReport, p *Pass) {
	if len(p.findings) == 0 {
		return
	}
	source := a.locate.source(p.Call.Module, p.Call.Instruction)
	for i := range p.findings {
		f := &p.findings[i]
		f.Module, f.Path, f.Source = out.Name, out.Path, source
		f.Computation, f.Instruction = p.computation, p.instruction
		for n := range f.Related {
			r := &f.Related[n]
			r.Instruction, r.File, r.Text = strings.Clone(r.Instruction), strings.Clone(r.File), strings.Clone(r.Text)
		}
		if f.Related == nil {
			f.Related = []Related{}
		}
		f.Tests = []string{}
		f.Fingerprint = fingerprint(&a.names, f, a.opts.SrcRoot)
		if a.opts.Maps && a.room.maps > 0 {
			f.Map = p.memoryMap(f)
			a.room.mapped(f.Map)
		}
		a.room.bound(f)
		listed, first := a.room.counts(f)
		if listed {
			out.Findings = append(out.Findings, *f)
		}
		if first {
			p.listed = append(p.listed, f.Fingerprint)
		}
	}
}

// maxPairs bounds the pairs that a report lists of one call.
const maxPairs = 1 << 12

// callReport is the call as the report lists it: every pair of leaves that is
// declared, shares bytes, or could share because its sizes are equal.
func (p *Pass) callReport(out *ModuleReport) Call {
	c := p.Call
	r := Call{
		Module: out.Name, Path: out.Path, Computation: p.room.name(p.computation), Instruction: p.instruction,
		Target: p.room.name(p.target), Kernel: p.room.name(p.KernelName), KernelSource: p.kernelSource,
		Configurations: p.configurations, Pairs: []Pair{}, Unanalysed: p.unanalysed,
	}
	for a := range c.Operands {
		for b := range c.Results {
			if len(r.Pairs) < maxPairs {
				p.pairReport(&r, a, b)
			}
		}
	}
	return r
}

func (p *Pass) pairReport(r *Call, a, b int) {
	x, y := &p.Call.Operands[a], &p.Call.Results[b]
	declared := p.Call.IsDeclared(a, b)
	shared := x.Allocation >= 0 && y.Allocation >= 0 && x.Slice.Shares(y.Slice)
	could := (p.configurations > 0 || p.Effects != nil) && x.Bytes == y.Bytes && x.Bytes > 0
	if !declared && !shared && !could {
		return
	}
	v := p.Pair(a, b)
	if isItsOperand(p, a, b) && v.Verdict != Unsafe {
		v = PairVerdict{Verdict: Safe, Basis: v.Basis, Reason: "the kernel takes one pointer for both"}
	}
	if p.Effects != nil {
		v.Reason = p.names.Keep(v.Reason) // else a constant's, or the configuration's
	}
	pair := Pair{
		Operand: int(x.Operand), OperandIndex: ints(x.Index), ResultIndex: ints(y.Index),
		Declared: declared, Shared: shared,
		Verdict: string(v.Verdict), Basis: string(v.Basis), Reason: clip(v.Reason, maxText),
	}
	if v.Emulated != nil {
		pair.Engine = v.Emulated.Engine
	}
	if v.Verdict == Unknown && pair.Counts() && p.unanalysed == "" && p.Effects != nil && p.unknown == "" {
		p.unknown = fmt.Sprintf("whether %s and %s may share memory is not known: %s", p.Operand(a), p.Result(b), pair.Reason)
	}
	if p.room.takes(&pair) || declared {
		r.Pairs = append(r.Pairs, pair)
	}
}

// byPlace orders findings totally: module, instruction, operand, code, and what is
// left to tell them apart.
func byPlace(x, y *Finding) int {
	op := func(f *Finding) int {
		if f.Operand == nil {
			return -1
		}
		return *f.Operand
	}
	if c := cmp.Compare(x.Module, y.Module); c != 0 {
		return c // as nearly always, and what follows is dear
	}
	return cmp.Or(
		cmp.Compare(x.Instruction, y.Instruction), cmp.Compare(op(x), op(y)),
		cmp.Compare(x.Code, y.Code), slices.Compare(x.OperandIndex, y.OperandIndex),
		slices.Compare(x.ResultIndex, y.ResultIndex), cmp.Compare(x.Path, y.Path), cmp.Compare(x.Message, y.Message))
}

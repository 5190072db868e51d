package rules

import (
	"cmp"
	"slices"
	"strings"
)

// Collector joins the outcomes of modules into one report. Modules may come in any
// order; the report does not depend on it.
type Collector struct {
	summary    Summary
	calls      Calls
	findings   map[string]*Finding  // by fingerprint
	stacks     map[string][]*Source // of findings that were merged, each stack once
	callers    callers
	unanalysed map[Unanalysed]int
	unknown    map[Unanalysed]int
	notAudited map[NotAudited]int
}

// NewCollector returns an empty collector.
func NewCollector() *Collector {
	return &Collector{
		findings:   map[string]*Finding{},
		stacks:     map[string][]*Source{},
		unanalysed: map[Unanalysed]int{},
		unknown:    map[Unanalysed]int{},
		notAudited: map[NotAudited]int{},
	}
}

// Add takes in one module's outcome.
func (c *Collector) Add(m *ModuleReport) {
	c.summary.Modules++
	c.summary.CustomCalls += len(m.Calls)
	c.summary.Analysed += m.Analysed
	c.summary.Library += m.Library
	c.summary.Declared += m.Declared
	if len(m.Calls) > 0 {
		c.calls = append(c.calls, m.Calls)
	}
	gather(c.unanalysed, m.Unanalysed)
	gather(c.unknown, m.Unknown)
	for _, u := range m.NotAudited {
		n := u.Calls
		u.Calls = 0
		c.notAudited[u] += n
	}
	c.summary.Incomplete = append(c.summary.Incomplete, m.Incomplete...)
	for _, site := range m.sites {
		c.callers.add(site)
	}
	for i := range m.Findings {
		c.finding(&m.Findings[i])
	}
}

// finding counts equal findings once. The one that stays is the gravest, then the
// best confirmed, then the first by place.
func (c *Collector) finding(f *Finding) {
	old := c.findings[f.Fingerprint]
	if old == nil {
		kept := *f
		c.findings[f.Fingerprint] = &kept
		return
	}
	if f.Source != nil && f.Source != old.Source {
		c.stack(old, f)
	}
	calls := old.Calls + f.Calls
	tests, gpus := union(old.Tests, f.Tests), old.CompiledFor
	if len(f.CompiledFor) > 0 {
		gpus = union(gpus, f.CompiledFor)
	}
	if graver(f, old) {
		*old = *f
	}
	old.Calls, old.Tests, old.CompiledFor = calls, tests, gpus
}

// maxStacks bounds the stacks of equal findings that are kept.
const maxStacks = 1 << 10

// stack notes that two equal findings have not the same stack.
func (c *Collector) stack(old, f *Finding) {
	known := c.stacks[old.Fingerprint]
	for _, s := range [...]*Source{old.Source, f.Source} {
		if s != nil && len(known) < maxStacks && !slices.Contains(known, s) {
			known = append(known, s)
		}
	}
	c.stacks[old.Fingerprint] = known
}

func graver(x, y *Finding) bool {
	if c := cmp.Or(
		cmp.Compare(x.Severity.rank(), y.Severity.rank()),
		cmp.Compare(confirmationRank(x.Confirmation), confirmationRank(y.Confirmation))); c != 0 {
		return c > 0
	}
	return byPlace(x, y) < 0
}

// rank orders severities, the gravest highest.
func (s Severity) rank() int {
	switch s {
	case Error:
		return 3
	case Warning:
		return 2
	case Note:
		return 1
	}
	return 0
}

// AtLeast reports whether s is as grave as t.
func (s Severity) AtLeast(t Severity) bool { return s.rank() >= t.rank() }

// confirmationRank orders confirmations, the best founded highest.
func confirmationRank(c Confirmation) int {
	switch c {
	case Confirmed:
		return 3
	case Unconfirmed:
		return 2
	case Unchecked:
		return 1
	}
	return 0
}

func union(a, b []string) []string {
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	out = slices.Compact(out)
	if out == nil {
		return []string{}
	}
	return out
}

// Incomplete notes an input that could not be read whole, under its path.
func (c *Collector) Incomplete(path string, err error) {
	text := strings.TrimPrefix(err.Error(), path+": ") // a reader's error has the path, too
	c.summary.Incomplete = append(c.summary.Incomplete, Incomplete{Path: path, Error: text})
}

// Report makes the report: the findings that were chosen, everything in order.
func (c *Collector) Report(tool Tool, o Choices) *Report {
	r := &Report{SchemaVersion: SchemaVersion, Tool: tool, Summary: c.summary, Calls: c.calls}
	s := &r.Summary
	kept, silenced, stale := o.choose(c.placed(), commentsOf(o.Sources, c.files()))
	s.Suppressed, s.Stale = len(silenced), append([]Stale{}, stale...)
	r.Findings = []Finding{}
	for i := range kept {
		if o.selects(&kept[i]) {
			r.Findings = append(r.Findings, kept[i])
		} else {
			s.Deselected++
		}
	}
	if o.KeepLines {
		r.Lines = c.callers.list()
	}
	if o.KeepSuppressed {
		r.Suppressed = silenced
	}
	r.patch()
	r.count()
	r.compare()
	c.sortSummary(s)
	r.Calls.sort()
	return r
}

// placed returns the findings in order, with the lines that tell their calls apart.
func (c *Collector) placed() []Finding {
	all := make([]Finding, 0, len(c.findings))
	for _, f := range c.findings {
		f := *f
		f.Callers = c.callers.others(f.Source, c.stacks[f.Fingerprint])
		f.Source = c.callers.apart(f.Source)
		all = append(all, f)
	}
	slices.SortFunc(all, func(x, y Finding) int { return byPlace(&x, &y) })
	return all
}

// files are the Python files that calls were made in, as the dump names them, each with
// a function of it.
func (c *Collector) files() map[string]string {
	out := map[string]string{}
	for site := range c.callers.seen {
		for _, n := range site.source.Own {
			f := &site.source.Stack[n]
			if old, known := out[f.File]; !known || f.Function < old { // the same, whoever came first
				out[f.File] = f.Function
			}
		}
	}
	return out
}

// patch gives the findings the code that mends them.
func (r *Report) patch() {
	all := map[string]Rule{}
	for _, rule := range All() {
		all[rule.Code] = rule
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if rule, ok := all[f.Code]; ok {
			f.Patch = rule.Patch(f)
		}
	}
}

// count counts the findings by severity.
func (r *Report) count() {
	s := &r.Summary
	s.Errors, s.Warnings, s.Notes = 0, 0, 0
	for i := range r.Findings {
		switch r.Findings[i].Severity {
		case Error:
			s.Errors++
		case Warning:
			s.Warnings++
		default:
			s.Notes++
		}
	}
}

// gather counts calls of which the same is to be said together.
func gather(all map[Unanalysed]int, list []Unanalysed) {
	for _, u := range list {
		n := u.Calls
		u.Calls = 0
		all[u] += n
	}
}

// groups lists them in order.
func groups(all map[Unanalysed]int) []Unanalysed {
	out := []Unanalysed{}
	for u, n := range all {
		u.Calls = n
		out = append(out, u)
	}
	slices.SortFunc(out, func(x, y Unanalysed) int {
		return cmp.Or(cmp.Compare(x.Target, y.Target), cmp.Compare(x.Kernel, y.Kernel), cmp.Compare(x.Reason, y.Reason))
	})
	return out
}

// UnknownCalls is how many calls were analysed and have a pair that is not known.
func (s *Summary) UnknownCalls() int {
	n := 0
	for _, u := range s.Unknown {
		n += u.Calls
	}
	return n
}

func (c *Collector) sortSummary(s *Summary) {
	s.Unanalysed, s.Unknown = groups(c.unanalysed), nil
	if len(c.unknown) > 0 {
		s.Unknown = groups(c.unknown)
	}
	s.NotAudited = []NotAudited{}
	for u, n := range c.notAudited {
		u.Calls = n
		s.NotAudited = append(s.NotAudited, u)
	}
	slices.SortFunc(s.NotAudited, func(x, y NotAudited) int {
		return cmp.Or(cmp.Compare(x.Check, y.Check), cmp.Compare(x.Reason, y.Reason))
	})
	s.Incomplete = append([]Incomplete{}, c.summary.Incomplete...)
	slices.SortFunc(s.Compiled, func(x, y Compiled) int { return cmp.Compare(x.GPU, y.GPU) })
	slices.SortFunc(s.Incomplete, func(x, y Incomplete) int {
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Error, y.Error))
	})
}

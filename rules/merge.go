package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mergeError says why reports cannot become one.
type mergeError string

func (e mergeError) Error() string { return string(e) }

const errNoReports = mergeError("there is no report to merge")

// Merge joins the reports of a sharded audit into one. Equal findings are counted
// once, with the calls and tests of all; summaries are added; the order does not
// depend on that of the reports. A report of another schema version is an error:
// what it means is not known.
func Merge(reports []*Report) (*Report, error) {
	if len(reports) == 0 {
		return nil, errNoReports
	}
	c := NewCollector()
	out := &Report{SchemaVersion: SchemaVersion, Tool: reports[0].Tool}
	var stale [][]Stale
	// Where each report knows its lines, what tells calls apart is found anew.
	lines := !slices.ContainsFunc(reports, func(r *Report) bool { return len(r.Findings) > 0 && len(r.Lines) == 0 })
	for n, r := range reports {
		if r.SchemaVersion != SchemaVersion {
			return nil, fmt.Errorf("report %d has schema version %d, and this aliascheck knows %d", n+1, r.SchemaVersion, SchemaVersion)
		}
		if r.Tool.Version != out.Tool.Version {
			out.Tool.Version = joinVersions(out.Tool.Version, r.Tool.Version)
		}
		c.merge(r)
		if lines {
			c.callers.merge(r.Lines)
		}
		out.Calls = append(out.Calls, r.Calls...)
		stale = append(stale, r.Summary.Stale)
	}
	out.Summary = c.summary
	out.Summary.Stale = inAll(stale)
	out.Findings = make([]Finding, 0, len(c.findings))
	for _, f := range c.findings {
		f := *f
		f.Callers = c.callers.others(f.Source, c.stacks[f.Fingerprint])
		f.Source = c.callers.apart(f.Source)
		out.Findings = append(out.Findings, f)
	}
	slices.SortFunc(out.Findings, func(x, y Finding) int { return byPlace(&x, &y) })
	out.count()
	out.compare()
	c.sortSummary(&out.Summary)
	out.Summary.Suppressed = suppressedOnce(out, reports)
	out.Calls.sort()
	return out, nil
}

// suppressedOnce counts the suppressed findings of all reports, equal ones once:
// calls name what was found at them, the suppressed too.
func suppressedOnce(out *Report, reports []*Report) int {
	kept, gone := map[string]bool{}, map[string]bool{}
	for i := range out.Findings {
		kept[out.Findings[i].Fingerprint] = true
	}
	for c := range out.Calls.All() {
		for _, print := range c.Findings {
			if !kept[print] {
				gone[print] = true
			}
		}
	}
	n := len(gone)
	for _, r := range reports {
		n = max(n, r.Summary.Suppressed)
	}
	return n
}

// merge adds a report. Counts that only grow are added; what the summary groups is
// grouped again.
func (c *Collector) merge(r *Report) {
	s, t := &c.summary, &r.Summary
	s.Modules += t.Modules
	s.CustomCalls += t.CustomCalls
	s.Analysed += t.Analysed
	s.Library += t.Library
	s.Declared += t.Declared
	for _, x := range t.Incomplete {
		if !slices.Contains(s.Incomplete, x) { // every shard meets a path that is not there
			s.Incomplete = append(s.Incomplete, x)
		}
	}
	s.Compiled = mergeCompiled(s.Compiled, t.Compiled)
	gather(c.unanalysed, t.Unanalysed)
	gather(c.unknown, t.Unknown)
	for _, u := range t.NotAudited {
		n := u.Calls
		u.Calls = 0
		c.notAudited[u] += n
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		for n := range f.Callers {
			c.stacks[f.Fingerprint] = append(c.stacks[f.Fingerprint], &f.Callers[n])
		}
		c.finding(f)
	}
}

// inAll returns the stale entries that every report has: a suppression that one
// shard needs is not stale.
func inAll(lists [][]Stale) []Stale {
	seen := map[Stale]int{}
	for _, list := range lists {
		here := map[Stale]bool{}
		for _, x := range list {
			if !here[x] {
				here[x] = true
				seen[x]++
			}
		}
	}
	out := []Stale{}
	for _, x := range lists[0] {
		if seen[x] == len(lists) && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(x, y Stale) int {
		return cmp.Or(cmp.Compare(x.Where, y.Where), cmp.Compare(x.Text, y.Text), cmp.Compare(x.Reason, y.Reason))
	})
	return out
}

// joinVersions lists the versions that wrote the merged reports.
func joinVersions(all, version string) string {
	list := strings.Split(all, ", ")
	if !slices.Contains(list, version) {
		list = append(list, version)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

package rules

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Baseline is a list of findings that a project lives with: they are counted as
// suppressed. It holds fingerprints, which survive recompilation.
type Baseline struct {
	Name    string
	Entries []BaselineEntry
}

// BaselineEntry is one finding. Only the fingerprint is matched; the rest is for people.
type BaselineEntry struct {
	Line        int    `yaml:"-"`
	Fingerprint string `yaml:"fingerprint"`
	Code        string `yaml:"code,omitempty"`
	Target      string `yaml:"target,omitempty"`
	Kernel      string `yaml:"kernel,omitempty"`
	Source      string `yaml:"source,omitempty"`
}

// NewBaseline lists a report's findings, sorted, each once.
func NewBaseline(findings []Finding) *Baseline {
	b := &Baseline{}
	for i := range findings {
		f := &findings[i]
		e := BaselineEntry{Fingerprint: f.Fingerprint, Code: f.Code, Target: f.Target, Kernel: f.Kernel}
		if f.Source != nil {
			e.Source = stablePath(f.Source.File, "") + " " + f.Source.Function
		}
		b.Entries = append(b.Entries, e)
	}
	slices.SortFunc(b.Entries, func(x, y BaselineEntry) int {
		return cmp.Or(cmp.Compare(x.Code, y.Code), cmp.Compare(x.Target, y.Target),
			cmp.Compare(x.Kernel, y.Kernel), cmp.Compare(x.Fingerprint, y.Fingerprint))
	})
	b.Entries = slices.CompactFunc(b.Entries, func(x, y BaselineEntry) bool { return x.Fingerprint == y.Fingerprint })
	return b
}

// Bytes writes the file that ParseBaseline reads.
func (b *Baseline) Bytes() []byte {
	var out bytes.Buffer
	fmt.Fprintln(&out, "# Findings that this project lives with. aliascheck --update-baseline writes this file.")
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	entries := b.Entries
	if entries == nil {
		entries = []BaselineEntry{}
	}
	// Encoding plain structs into memory does not fail.
	_ = enc.Encode(struct {
		Version  int             `yaml:"version"`
		Findings []BaselineEntry `yaml:"findings"`
	}{1, entries})
	_ = enc.Close()
	return out.Bytes()
}

// apply takes the findings that the baseline lists out, and reports its entries
// that match nothing any more.
func (b *Baseline) apply(findings []Finding) (kept []Finding, silenced []Suppressed, stale []Stale) {
	if b == nil {
		return findings, nil, nil
	}
	known := map[string]int{}
	for n, e := range b.Entries {
		known[e.Fingerprint] = n
	}
	used := make([]bool, len(b.Entries))
	for _, f := range findings {
		if n, ok := known[f.Fingerprint]; ok {
			used[n] = true
			silenced = append(silenced, Suppressed{f, fmt.Sprintf("%s:%d", b.Name, b.Entries[n].Line), "the baseline lists it"})
		} else {
			kept = append(kept, f)
		}
	}
	for n, e := range b.Entries {
		if known[e.Fingerprint] == n && !used[n] {
			stale = append(stale, Stale{
				Where: fmt.Sprintf("%s:%d", b.Name, e.Line), Text: e.Code + " " + e.Kernel, Reason: "matches no finding"})
		}
	}
	return kept, silenced, stale
}

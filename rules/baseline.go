package rules

import (
	"bytes"
	"cmp"
	"errors"
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

// LoadBaseline reads a baseline file. Its errors name file and line.
func LoadBaseline(path string) (*Baseline, error) {
	data, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	return ParseBaseline(path, data)
}

// ParseBaseline is LoadBaseline of a file's contents.
func ParseBaseline(name string, data []byte) (*Baseline, error) {
	y := &yamlFile{name: name}
	b := &Baseline{Name: name}
	if top := y.parse(data); top != nil {
		y.fields(top, "version, findings", func(key string, v *yaml.Node) bool {
			switch key {
			case "version":
				y.version(v)
			case "findings":
				y.each(v, "findings", func(n *yaml.Node) { b.Entries = append(b.Entries, y.entry(n)) })
			default:
				return false
			}
			return true
		})
	}
	if err := errors.Join(y.errs...); err != nil {
		return nil, err
	}
	return b, nil
}

func (y *yamlFile) entry(n *yaml.Node) BaselineEntry {
	e := BaselineEntry{Line: n.Line}
	y.fields(n, "fingerprint, code, target, kernel, source", func(key string, v *yaml.Node) bool {
		to := map[string]*string{
			"fingerprint": &e.Fingerprint, "code": &e.Code, "target": &e.Target, "kernel": &e.Kernel, "source": &e.Source,
		}[key]
		if to == nil {
			return false
		}
		y.text(v, to)
		return true
	})
	if e.Fingerprint == "" {
		y.fail(n, "a finding needs its fingerprint")
	}
	return e
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

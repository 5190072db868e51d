// Package tensormap gathers the TMA descriptors of a log, or one that flags describe,
// judges them by rules/tensormap and writes what came of it: text and JSON of every
// descriptor, and findings for the reports of an audit. Memory is bounded: maxDescriptors
// distinct ones are kept, and the rest is counted.
package tensormap

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"aliascheck/rules"
	tma "aliascheck/rules/tensormap"
)

const (
	maxDescriptors = 10000 // distinct descriptors that are kept
	maxListed      = 8     // addresses and processes that are listed of one
)

// group is all that was read of one descriptor: prints that differ in
// nothing but addresses of the same alignment, lines and processes.
type group struct {
	entry     tma.Entry // the first
	judgement tma.Judgement
	prints    int
	addresses []uint64 // globalAddress of the first few that differ
	streams   []string // processes, the first few
	driver    *driverAnswer
}

// Report gathers descriptors in bounded memory.
type Report struct {
	path       string
	stats      tma.LogStats
	groups     []*group
	byKey      map[string]*group
	dropped    int // prints of descriptors past the limit
	incomplete []rules.Incomplete
	about      string // the driver that was asked
}

// New is a report without descriptors, on what a reader calls path.
func New(path string) *Report {
	return &Report{path: path, byKey: map[string]*group{}}
}

// ReadLog takes in every descriptor of a log. A log that ends in an error is not whole,
// and the report says so.
func (r *Report) ReadLog(in io.Reader) {
	stats, err := tma.ReadLog(in, r.Add)
	r.stats = stats
	if err != nil {
		r.incomplete = append(r.incomplete, rules.Incomplete{Path: r.path, Error: err.Error()})
	}
}

// Add takes in one entry of a log.
func (r *Report) Add(e tma.Entry) {
	key := keyOf(&e)
	g := r.byKey[key]
	if g == nil {
		if len(r.groups) >= maxDescriptors {
			r.dropped++
			return
		}
		g = &group{entry: e, judgement: e.Judgement()}
		r.byKey[key] = g
		r.groups = append(r.groups, g)
	}
	g.prints += max(1, e.Prints)
	if e.Descriptor.Has(tma.FieldAddress) && len(g.addresses) < maxListed && !slices.Contains(g.addresses, e.Descriptor.Address) {
		g.addresses = append(g.addresses, e.Descriptor.Address)
	}
	if e.Stream != "" && len(g.streams) < maxListed && !slices.Contains(g.streams, e.Stream) {
		g.streams = append(g.streams, e.Stream)
	}
}

// keyOf is equal for prints that are one descriptor to the rules.
func keyOf(e *tma.Entry) string {
	d := e.Descriptor
	null := d.Address == 0
	d.Address, d.TensorMap = d.Address%32, d.TensorMap%64
	h := sha256.New()
	fmt.Fprint(h, e.Kind, e.HasCode, e.Code, e.Name, null, d.Mode, d.Known, d.TensorMap, int(d.DataType), d.Rank, d.Address, d.Dims, d.Strides,
		d.Box, d.ElementStrides, int(d.Interleave), int(d.Swizzle), int(d.L2Promotion), int(d.OOBFill),
		d.LowerCorner, d.UpperCorner, d.ChannelsPerPixel, d.PixelsPerColumn)
	return hex.EncodeToString(h.Sum(nil)[:10])
}

// Audit makes findings of what was gathered.
func (r *Report) Audit(tool rules.Tool) *rules.Report {
	full := &rules.Report{SchemaVersion: rules.SchemaVersion, Tool: tool, Findings: []rules.Finding{}}
	s := &full.Summary
	s.Unanalysed, s.NotAudited, s.Stale = []rules.Unanalysed{}, []rules.NotAudited{}, []rules.Stale{}
	s.Incomplete = append([]rules.Incomplete{}, r.incomplete...)
	for _, g := range r.groups {
		if f, ok := r.finding(g); ok {
			full.Findings = append(full.Findings, f)
			switch f.Severity {
			case rules.Error:
				s.Errors++
			case rules.Warning:
				s.Warnings++
			default:
				s.Notes++
			}
		}
		if reason := g.unjudged(); reason != "" {
			s.Incomplete = append(s.Incomplete, rules.Incomplete{Path: r.place(g), Error: reason})
		}
	}
	if r.dropped > 0 {
		s.Incomplete = append(s.Incomplete, rules.Incomplete{Path: r.path,
			Error: fmt.Sprintf("%d prints of further descriptors are not judged: more than %d distinct ones", r.dropped, maxDescriptors)})
	}
	if n := r.stats.Unread; n > 0 {
		s.Incomplete = append(s.Incomplete, rules.Incomplete{Path: r.path,
			Error: fmt.Sprintf("%d lines have a descriptor's address amid other text: characters of several processes are mixed", n)})
	}
	if n := r.stats.LongLines; n > 0 {
		s.NotAudited = append(s.NotAudited, rules.NotAudited{Check: "lines over 64 KiB", Calls: int(min(n, 1<<30)), Reason: "too long to be part of a print"})
	}
	return full
}

// unjudged says why a descriptor has no verdict; "" where it has one.
func (g *group) unjudged() string {
	switch {
	case g.entry.Kind == tma.Bare:
		return ""
	case g.judgement.Verdict != tma.Undecided:
		return ""
	case len(g.entry.Problems) > 0:
		return g.entry.Problems[0]
	}
	for _, u := range g.judgement.Unchecked {
		if u.Rule == 0 { // an array of the wrong length, a number without a meaning
			return u.Reason
		}
	}
	const unneeded = tma.FieldTensorMap | tma.FieldAddress | tma.FieldL2Promotion
	return (g.entry.Descriptor.Missing() &^ unneeded).String() + " not known"
}

// place names the lines of a print.
func (r *Report) place(g *group) string {
	if g.entry.First == 0 {
		return r.path
	}
	return fmt.Sprintf("%s:%d", r.path, g.entry.First)
}

// finding is what rule tensormap-invalid says of a descriptor, where there is one.
func (r *Report) finding(g *group) (rules.Finding, bool) {
	e, j := &g.entry, &g.judgement
	severity, message := g.verdict()
	if severity == "" {
		return rules.Finding{}, false
	}
	rule, _ := rules.Lookup("tensormap-invalid")
	f := rules.Finding{Code: rule.Code, Rule: rule.Name, Severity: severity, Fingerprint: keyOf(e), Path: r.path,
		Target: e.Descriptor.Mode.Function(), Kernel: e.Name, Related: []rules.Related{}, Tests: []string{}, Calls: g.prints,
		Message: message, Fix: fixText(j)}
	if e.First > 0 {
		f.Module, f.Instruction = r.path, fmt.Sprintf("lines %d to %d", e.First, e.Last)
		f.Source = &rules.Source{File: r.path, Line: int(min(e.First, 1<<30))}
	}
	for _, v := range j.Violations {
		if v.Enforced {
			f.Why = v.Why
			break
		}
	}
	f.Confirmation, f.ConfirmationReason = g.confirmation(r.about)
	return f, true
}

// verdict is the severity and the message of a finding; no severity, no finding.
func (g *group) verdict() (rules.Severity, string) {
	e, j := &g.entry, &g.judgement
	refused := e.HasCode && e.Code == tma.CodeInvalidValue
	switch {
	case e.Kind == tma.Bare && (refused || !e.HasCode):
		return rules.Error, "The driver refused a TMA descriptor, and its parameters were not printed."
	case e.Kind == tma.Bare:
		return rules.Note, sentence(j.Cause.Text, fmt.Sprintf("A TMA descriptor failed with code %s.", e.Code))
	case j.Verdict == tma.Refused:
		return rules.Error, fmt.Sprintf("The driver refuses this TMA descriptor: %s. %s", brokenRules(j), sentence(j.Cause.Text, ""))
	case refused:
		return rules.Error, sentence(j.Cause.Text, "The driver refused this TMA descriptor.")
	case e.HasCode && e.Code != tma.CodeSuccess:
		return rules.Note, sentence(j.Cause.Text, "")
	case g.driver != nil && g.driver.Code != 0 && g.driver.Error == "":
		return rules.Error, fmt.Sprintf("The driver of this machine refuses this TMA descriptor (%s), which breaks no documented rule.", g.driver.Text)
	case j.Verdict == tma.Undecided && e.First > 0:
		return rules.Warning, "A printed TMA descriptor could not be judged: " + g.unjudged() + "."
	}
	return "", ""
}

// confirmation says what the driver said: of the log, or of this machine.
func (g *group) confirmation(about string) (rules.Confirmation, string) {
	e := &g.entry
	switch {
	case g.driver != nil && g.driver.Error == "" && g.driver.Code == tma.CodeInvalidValue:
		return rules.Confirmed, about + " refuses it"
	case g.driver != nil && g.driver.Error == "" && g.driver.Code == 0 && g.judgement.Verdict == tma.Refused:
		return rules.Unconfirmed, about + " accepts it"
	case e.HasCode && e.Code == tma.CodeInvalidValue:
		return rules.Confirmed, "the log shows that the driver refused it"
	}
	return rules.Unchecked, "held to the documented rules; --driver asks the driver"
}

func brokenRules(j *tma.Judgement) string {
	var parts []string
	for _, v := range j.Violations {
		if v.Enforced {
			parts = append(parts, fmt.Sprintf("%s is %s and must be %s (rule %d)", v.Parameter, v.Value, v.Needs, v.Rule))
		}
	}
	return strings.Join(parts, "; ")
}

func fixText(j *tma.Judgement) string {
	if j.Fix == nil {
		return ""
	}
	var parts []string
	for _, c := range j.Fix.Changes {
		text := fmt.Sprintf("%s %s instead of %s", c.Parameter, c.To, c.From)
		if c.Note != "" {
			text += " (" + c.Note + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// sentence makes a sentence of a text that may start small and end without a stop.
func sentence(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

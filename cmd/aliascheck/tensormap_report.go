package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"aliascheck/rules"
	"aliascheck/rules/tensormap"
)

const (
	maxTensormaps = 10000 // distinct descriptors that are kept
	maxListed     = 8     // addresses and processes that are listed of one
)

// tensormapGroup is all that was read of one descriptor: prints that differ in
// nothing but addresses of the same alignment, lines and processes.
type tensormapGroup struct {
	entry     tensormap.Entry // the first
	judgement tensormap.Judgement
	prints    int
	addresses []uint64 // globalAddress of the first few that differ
	streams   []string // processes, the first few
	driver    *driverAnswer
}

// tensormapReport gathers descriptors in bounded memory.
type tensormapReport struct {
	path       string
	stats      tensormap.LogStats
	groups     []*tensormapGroup
	byKey      map[string]*tensormapGroup
	dropped    int // prints of descriptors past the limit
	incomplete []rules.Incomplete
	about      string // the driver that was asked
}

func newTensormapReport() *tensormapReport {
	return &tensormapReport{byKey: map[string]*tensormapGroup{}}
}

// add takes in one entry of a log.
func (r *tensormapReport) add(e tensormap.Entry) {
	key := tensormapKey(&e)
	g := r.byKey[key]
	if g == nil {
		if len(r.groups) >= maxTensormaps {
			r.dropped++
			return
		}
		g = &tensormapGroup{entry: e, judgement: e.Judgement()}
		r.byKey[key] = g
		r.groups = append(r.groups, g)
	}
	g.prints += max(1, e.Prints)
	if e.Descriptor.Has(tensormap.FieldAddress) && len(g.addresses) < maxListed && !slices.Contains(g.addresses, e.Descriptor.Address) {
		g.addresses = append(g.addresses, e.Descriptor.Address)
	}
	if e.Stream != "" && len(g.streams) < maxListed && !slices.Contains(g.streams, e.Stream) {
		g.streams = append(g.streams, e.Stream)
	}
}

// tensormapKey is equal for prints that are one descriptor to the rules.
func tensormapKey(e *tensormap.Entry) string {
	d := e.Descriptor
	null := d.Address == 0
	d.Address, d.TensorMap = d.Address%32, d.TensorMap%64
	h := sha256.New()
	fmt.Fprint(h, e.Kind, e.HasCode, e.Code, e.Name, null, d.Mode, d.Known, d.TensorMap, int(d.DataType), d.Rank, d.Address, d.Dims, d.Strides,
		d.Box, d.ElementStrides, int(d.Interleave), int(d.Swizzle), int(d.L2Promotion), int(d.OOBFill),
		d.LowerCorner, d.UpperCorner, d.ChannelsPerPixel, d.PixelsPerColumn)
	return hex.EncodeToString(h.Sum(nil)[:10])
}

// report makes findings of what was gathered.
func (r *tensormapReport) report() *rules.Report {
	full := &rules.Report{SchemaVersion: rules.SchemaVersion, Tool: rules.Tool{Name: "aliascheck", Version: version()},
		Findings: []rules.Finding{}}
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
			Error: fmt.Sprintf("%d prints of further descriptors are not judged: more than %d distinct ones", r.dropped, maxTensormaps)})
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
func (g *tensormapGroup) unjudged() string {
	switch {
	case g.entry.Kind == tensormap.Bare:
		return ""
	case g.judgement.Verdict != tensormap.Undecided:
		return ""
	case len(g.entry.Problems) > 0:
		return g.entry.Problems[0]
	}
	for _, u := range g.judgement.Unchecked {
		if u.Rule == 0 { // an array of the wrong length, a number without a meaning
			return u.Reason
		}
	}
	const unneeded = tensormap.FieldTensorMap | tensormap.FieldAddress | tensormap.FieldL2Promotion
	return (g.entry.Descriptor.Missing() &^ unneeded).String() + " not known"
}

// place names the lines of a print.
func (r *tensormapReport) place(g *tensormapGroup) string {
	if g.entry.First == 0 {
		return r.path
	}
	return fmt.Sprintf("%s:%d", r.path, g.entry.First)
}

// finding is the AC401 of a descriptor, where there is one.
func (r *tensormapReport) finding(g *tensormapGroup) (rules.Finding, bool) {
	e, j := &g.entry, &g.judgement
	severity, message := g.verdict()
	if severity == "" {
		return rules.Finding{}, false
	}
	f := rules.Finding{Code: "AC401", Rule: "tensormap-invalid", Severity: severity, Fingerprint: tensormapKey(e), Path: r.path,
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
func (g *tensormapGroup) verdict() (rules.Severity, string) {
	e, j := &g.entry, &g.judgement
	refused := e.HasCode && e.Code == tensormap.CodeInvalidValue
	switch {
	case e.Kind == tensormap.Bare && (refused || !e.HasCode):
		return rules.Error, "The driver refused a TMA descriptor, and its parameters were not printed."
	case e.Kind == tensormap.Bare:
		return rules.Note, sentence(j.Cause.Text, fmt.Sprintf("A TMA descriptor failed with code %s.", e.Code))
	case j.Verdict == tensormap.Refused:
		return rules.Error, fmt.Sprintf("The driver refuses this TMA descriptor: %s. %s", brokenRules(j), sentence(j.Cause.Text, ""))
	case refused:
		return rules.Error, sentence(j.Cause.Text, "The driver refused this TMA descriptor.")
	case e.HasCode && e.Code != tensormap.CodeSuccess:
		return rules.Note, sentence(j.Cause.Text, "")
	case g.driver != nil && g.driver.Code != 0 && g.driver.Error == "":
		return rules.Error, fmt.Sprintf("The driver of this machine refuses this TMA descriptor (%s), which breaks no documented rule.", g.driver.Text)
	case j.Verdict == tensormap.Undecided && e.First > 0:
		return rules.Warning, "A printed TMA descriptor could not be judged: " + g.unjudged() + "."
	}
	return "", ""
}

// confirmation says what the driver said: of the log, or of this machine.
func (g *tensormapGroup) confirmation(about string) (rules.Confirmation, string) {
	e := &g.entry
	switch {
	case g.driver != nil && g.driver.Error == "" && g.driver.Code == tensormap.CodeInvalidValue:
		return rules.Confirmed, about + " refuses it"
	case g.driver != nil && g.driver.Error == "" && g.driver.Code == 0 && g.judgement.Verdict == tensormap.Refused:
		return rules.Unconfirmed, about + " accepts it"
	case e.HasCode && e.Code == tensormap.CodeInvalidValue:
		return rules.Confirmed, "the log shows that the driver refused it"
	}
	return rules.Unchecked, "held to the documented rules; --driver asks the driver"
}

func brokenRules(j *tensormap.Judgement) string {
	var parts []string
	for _, v := range j.Violations {
		if v.Enforced {
			parts = append(parts, fmt.Sprintf("%s is %s and must be %s (rule %d)", v.Parameter, v.Value, v.Needs, v.Rule))
		}
	}
	return strings.Join(parts, "; ")
}

func fixText(j *tensormap.Judgement) string {
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

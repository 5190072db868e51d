package report

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"strings"

	"aliascheck/rules"
)

// assets are the page's template, style and scripts. Embedding needs a variable of
// the package; nothing writes to it.
//
//go:embed html
var assets embed.FS

// mapBudget bounds the memory maps of one page, in bytes as they are written. The
// gravest findings have the first claim on it; the others' maps are thinned out.
const mapBudget = 48 << 20

// HTML writes a report as one page that needs nothing else: an overview, then every
// finding with its memory map, its witness and its replay, to be filtered and linked
// to. Names stand in it as JSON that the page's script turns into text, and its
// content security policy runs no other script.
func HTML(w io.Writer, r *rules.Report, o Options) error {
	page, err := newPage()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	list := bySeverity(r.Findings)
	if err := page.templates.ExecuteTemplate(out, "head", page.head(r, list, o)); err != nil {
		return err
	}
	budget := mapBudget
	for n, f := range list {
		one := struct {
			Number  int
			Finding htmlFinding
		}{n, findingView(f, o, &budget)}
		if err := page.templates.ExecuteTemplate(out, "finding", one); err != nil {
			return err
		}
	}
	if err := page.templates.ExecuteTemplate(out, "tail", page); err != nil {
		return err
	}
	return out.Flush()
}

// htmlPage is the page's parts that are the same for every report.
type htmlPage struct {
	templates             *template.Template
	Style                 template.CSS
	Script                template.JS
	StyleHash, ScriptHash string
}

func newPage() (*htmlPage, error) {
	p := &htmlPage{}
	text, err := fs.ReadFile(assets, "html/page.html")
	if err != nil {
		return nil, err
	}
	if p.templates, err = template.New("page").Parse(string(text)); err != nil {
		return nil, err
	}
	style, err := fs.ReadFile(assets, "html/style.css")
	if err != nil {
		return nil, err
	}
	var script strings.Builder
	script.WriteString("(function () {\n\"use strict\";\n")
	for _, name := range [...]string{"dom", "list", "map", "detail", "main"} {
		part, err := fs.ReadFile(assets, "html/"+name+".js")
		if err != nil {
			return nil, err
		}
		script.Write(part)
	}
	script.WriteString("})();\n")
	p.Style, p.Script = template.CSS(style), template.JS(script.String())
	p.StyleHash, p.ScriptHash = hashSource(string(style)), hashSource(script.String())
	return p, nil
}

// hashSource is a source expression of a content security policy that allows one
// inline text and no other (CSP level 3, 2.3.1).
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// htmlHead is what the page says before the findings.
type htmlHead struct {
	*htmlPage
	Verdict, Worst, Version                                                   string
	Modules, CustomCalls, Analysed, Library, Declared, Unanalysed, Suppressed string
	IncompleteTitle, GapsTitle, EmptyText                                     string
	Incomplete, Gaps                                                          []htmlGap
	Codes                                                                     []htmlCode
	Findings                                                                  int
	Index                                                                     []htmlEntry
	Rules                                                                     map[string]htmlDoc
}

// htmlGap is something that was not looked at.
type htmlGap struct {
	Calls      string
	Name, Text string
}

type htmlCode struct {
	Code, Name, Summary string
	Counts              []htmlCount // by severity, the gravest first
}

// htmlCount is a count in the colour of what it counts.
type htmlCount struct{ Severity, Count, Title string }

// htmlEntry is a finding in the list: short names, there may be thousands.
type htmlEntry struct {
	N           int      `json:"n"`
	Fingerprint string   `json:"f"`
	Code        string   `json:"c"`
	Rule        string   `json:"r"`
	Severity    string   `json:"s"`
	Kernel      string   `json:"k"`
	Module      string   `json:"m"`
	Place       string   `json:"p"`
	Proof       string   `json:"q"`
	Calls       int      `json:"x"`
	Text        string   `json:"t"`
	Tests       []string `json:"u,omitempty"`
}

type htmlDoc struct {
	What  string `json:"what"`
	Why   string `json:"why"`
	Mend  string `json:"mend"`
	Wrong string `json:"wrong"`
}

// maxGaps bounds what the overview lists of one kind.
const maxGaps = 200

func (p *htmlPage) head(r *rules.Report, list []*rules.Finding, o Options) htmlHead {
	s := &r.Summary
	other := 0
	for _, u := range s.Unanalysed {
		other += u.Calls
	}
	h := htmlHead{
		htmlPage: p, Verdict: verdict(s), Worst: worst(s), Version: Clean(r.Tool.Version),
		Modules: thousands(s.Modules), CustomCalls: thousands(s.CustomCalls), Analysed: thousands(s.Analysed),
		Library: thousands(s.Library), Declared: thousands(s.Declared), Unanalysed: thousands(other), Suppressed: thousands(s.Suppressed),
		Codes: codesOf(list), Findings: len(list), Index: []htmlEntry{}, Rules: map[string]htmlDoc{},
		IncompleteTitle: plural(len(s.Incomplete), "input") + " could not be read whole: what they hold was not audited",
		EmptyText:       "Nothing was found in " + plural(s.CustomCalls, "custom call") + ".",
	}
	if len(s.Incomplete) > 0 {
		h.EmptyText = "Nothing was found in what could be read."
	}
	for n, f := range list {
		h.Index = append(h.Index, entryOf(n, f, o))
		if rule, ok := rules.Lookup(f.Code); ok {
			h.Rules[codeOf(f)] = htmlDoc{rule.Doc.What, rule.Doc.Why, rule.Doc.Mend, rule.Doc.Wrong}
		}
	}
	for _, x := range s.Incomplete {
		h.Incomplete = append(h.Incomplete, htmlGap{Name: Clean(x.Path), Text: reason(x)})
	}
	h.Incomplete = cut(h.Incomplete)
	h.gaps(s)
	return h
}

// gaps lists what was not audited, and suppressions that are stale.
func (h *htmlHead) gaps(s *rules.Summary) {
	calls := 0
	for _, u := range s.Unanalysed {
		calls += u.Calls
		h.Gaps = append(h.Gaps, htmlGap{thousands(u.Calls), strings.TrimSpace(Clean(u.Target) + " " + Clean(u.Kernel)), Clean(u.Reason)})
	}
	for _, u := range s.Unknown {
		h.Gaps = append(h.Gaps, htmlGap{thousands(u.Calls), strings.TrimSpace(Clean(u.Target) + " " + Clean(u.Kernel)), Clean(u.Reason)})
	}
	for _, line := range compiled(s.Compiled) {
		h.Gaps = append(h.Gaps, htmlGap{"", "compiled", line})
	}
	for _, u := range s.NotAudited {
		h.Gaps = append(h.Gaps, htmlGap{thousands(u.Calls), "", "not audited for " + Clean(u.Check) + ": " + Clean(u.Reason)})
	}
	for _, x := range s.Stale {
		h.Gaps = append(h.Gaps, htmlGap{"", Clean(x.Where + " " + x.Text), "stale: " + Clean(x.Reason)})
	}
	h.GapsTitle = fmt.Sprintf("What was not looked at, and why (%s without an analysis)", plural(calls, "call"))
	h.Gaps = cut(h.Gaps)
}

func cut(list []htmlGap) []htmlGap {
	if len(list) <= maxGaps {
		return list
	}
	return append(list[:maxGaps:maxGaps], htmlGap{Text: fmt.Sprintf("and %d more; the JSON report has them all", len(list)-maxGaps)})
}

func worst(s *rules.Summary) string {
	switch {
	case s.Errors > 0 || len(s.Incomplete) > 0:
		return "error"
	case s.Warnings > 0:
		return "warning"
	case s.Notes > 0:
		return "note"
	}
	return "good"
}

// codesOf counts the findings of each code, the gravest codes first.
func codesOf(list []*rules.Finding) []htmlCode {
	var out []htmlCode
	at, counts := map[string]int{}, []map[rules.Severity]int{}
	for _, f := range list {
		n, seen := at[f.Code]
		if !seen {
			n = len(out)
			at[f.Code] = n
			summary := ""
			if rule, ok := rules.Lookup(f.Code); ok {
				summary = rule.Summary
			}
			out = append(out, htmlCode{Code: codeOf(f), Name: shorten(Clean(f.Rule), htmlRule), Summary: summary})
			counts = append(counts, map[rules.Severity]int{})
		}
		counts[n][f.Severity]++
	}
	for n := range out {
		for _, s := range [...]rules.Severity{rules.Error, rules.Warning, rules.Note} {
			if c := counts[n][s]; c > 0 {
				out[n].Counts = append(out[n].Counts, htmlCount{string(s), thousands(c), plural(c, string(s))})
			}
		}
	}
	return out
}

func entryOf(n int, f *rules.Finding, o Options) htmlEntry {
	return htmlEntry{
		N: n, Fingerprint: Clean(f.Fingerprint), Code: codeOf(f), Rule: shorten(Clean(f.Rule), htmlRule), Severity: Clean(string(f.Severity)),
		Kernel: shorten(Clean(kernelOf(f)), markdownName), Module: shorten(Clean(f.Module), markdownName),
		Place: shorten(placeOf(f.Source, o.SrcRoot), markdownName),
		Proof: Clean(string(f.Confirmation)), Calls: f.Calls, Text: shorten(Clean(f.Message), markdownName),
		Tests: cleanAll(f.Tests, htmlTests),
	}
}

// Codes and names of rules are ours and short, unless a merged report lies.
const (
	htmlCodeName = 24
	htmlRule     = 60
)

func codeOf(f *rules.Finding) string { return shorten(Clean(f.Code), htmlCodeName) }

func ruleOf(f *rules.Finding) string { return shorten(Clean(f.Rule), htmlRule) }

// placeOf is the Python line of a finding, empty where the dump has none.
func placeOf(s *rules.Source, root string) string {
	if s == nil || s.File == "" {
		return ""
	}
	return Clean(fmt.Sprintf("%s:%d", relative(s.File, root), s.Line))
}

// thousands prints a count with commas.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

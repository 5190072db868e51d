package cudarun

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// SanitizerReport is what a tool of compute-sanitizer said.
type SanitizerReport struct {
	Tool     string   `json:"tool"`
	Errors   int64    `json:"errors"`   // by the tool's own summary
	Warnings int64    `json:"warnings"` // racecheck tells hazards that it is less sure of
	Hazards  []Hazard `json:"hazards,omitempty"`
	Outcome  *Outcome `json:"outcome,omitempty"` // of the worker under the tool
	Note     string   `json:"note,omitempty"`    // how the worker ended, where not well
}

// Hazard is one entry of a report.
type Hazard struct {
	Severity string      `json:"severity"` // "error" or "warning"
	Text     string      `json:"text"`     // the tool's words
	Places   []CodePlace `json:"places,omitempty"`
	Count    int64       `json:"count"` // of those that the tool printed
}

// CodePlace is an instruction of a kernel, and its line where the code tells.
type CodePlace struct {
	Kernel string `json:"kernel,omitempty"`
	Offset string `json:"offset,omitempty"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
}

const (
	maxHazards   = 1000
	maxHazardLen = 4 << 10
)

// parseSanitizer reads a report. Every line of the tool begins with "=========";
// an entry begins at its first word, and its other lines are indented. Without a
// summary the tool did not come to its end, and nothing it left out is clean.
func parseSanitizer(r io.Reader, tool string) (*SanitizerReport, error) {
	p := reportParser{report: &SanitizerReport{Tool: tool}}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), 1<<20)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "=========")
		if !ok {
			continue
		}
		p.line(strings.TrimRight(text, " \r"))
	}
	p.end()
	switch {
	case lines.Err() != nil:
		return nil, fmt.Errorf("its report: %w", lines.Err())
	case p.trouble != "":
		return nil, errors.New(p.trouble)
	case !p.summed:
		return nil, errors.New("its report has no summary: it did not come to its end")
	}
	return p.report, nil
}

// reportParser is a report under way.
type reportParser struct {
	report  *SanitizerReport
	open    *Hazard // the entry that the next indented lines belong to
	summed  bool
	trouble string
}

func (p *reportParser) line(text string) {
	switch {
	case strings.TrimSpace(text) == "":
		p.end()
	case strings.HasPrefix(text, "    "), strings.HasPrefix(text, "\t"):
		p.detail(strings.TrimSpace(text))
	default:
		p.end()
		p.head(strings.TrimSpace(text))
	}
}

// head begins an entry, or is a summary.
func (p *reportParser) head(text string) {
	if strings.Contains(text, "SUMMARY:") {
		p.summary(text)
		return
	}
	h := Hazard{Severity: "error", Text: text}
	switch {
	case strings.HasPrefix(text, "COMPUTE-SANITIZER"), strings.HasPrefix(text, "This tool is deprecated"):
		return
	case strings.HasPrefix(text, "Warning: Race reported"), strings.HasPrefix(text, "Warning: Potential"):
		h.Severity = "warning"
	case strings.HasPrefix(text, "Error: Race reported"), strings.HasPrefix(text, "Error: Potential"):
	case strings.HasPrefix(text, "Error:"), strings.HasPrefix(text, "Internal Sanitizer Error"), strings.Contains(text, "not supported"):
		p.trouble = text
		return
	case strings.HasPrefix(text, "Program hit"), strings.HasPrefix(text, "Target application"), strings.HasPrefix(text, "Warning:"):
		return // what became of the program is in the outcome
	}
	p.open = &h
	p.place(text)
	p.count(text)
}

// detail adds a line to the open entry, but for the host's stack.
func (p *reportParser) detail(text string) {
	if p.open == nil || strings.HasPrefix(text, "Host Frame") || strings.HasPrefix(text, "Saved host backtrace") {
		return
	}
	if len(p.open.Text)+len(text) < maxHazardLen {
		p.open.Text += "; " + text
	}
	p.place(text)
	p.count(text)
}

// end closes the open entry.
func (p *reportParser) end() {
	if p.open != nil {
		p.keep(*p.open)
	}
	p.open = nil
}

// keep adds a hazard, or counts it where one of the same kind at the same
// instructions is there: a tool repeats itself for every thread.
func (p *reportParser) keep(h Hazard) {
	h.Count = max(h.Count, 1)
	kind := func(h *Hazard) string { return strings.SplitN(h.Text, ";", 2)[0] }
	for i := range p.report.Hazards {
		same := &p.report.Hazards[i]
		if len(h.Places) > 0 && kind(same) == kind(&h) && slices.Equal(same.Places, h.Places) {
			same.Count += h.Count
			return
		}
	}
	if len(p.report.Hazards) < maxHazards {
		p.report.Hazards = append(p.report.Hazards, h)
	}
}

// place finds "at KERNEL+0x70 in FILE:LINE", and what older tools print,
// "at 0x70 in FILE:LINE:KERNEL".
func (p *reportParser) place(text string) {
	forms := []string{
		`(?:^|\s)at (?P<kernel>[^\s+]+)\+(?P<offset>0x[0-9a-f]+)(?: in (?P<file>.+?):(?P<line>\d+))?(?:\s|$)`,
		`(?:^|\s)at (?P<offset>0x[0-9a-f]+) in (?P<file>.+?):(?P<line>\d+):(?P<kernel>\S+)`,
		`(?:^|\s)at (?P<offset>0x[0-9a-f]+) in (?P<kernel>\S+)`,
	}
	for _, form := range forms {
		re := regexp.MustCompile(form)
		m := re.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		var c CodePlace
		for i, name := range re.SubexpNames() {
			switch name {
			case "kernel":
				c.Kernel = m[i]
			case "offset":
				c.Offset = m[i]
			case "file":
				c.File = m[i]
			case "line":
				c.Line, _ = strconv.Atoi(m[i])
			}
		}
		if len(p.open.Places) < maxSpots {
			p.open.Places = append(p.open.Places, c)
		}
		return
	}
}

// count finds "[524288 hazards]".
func (p *reportParser) count(text string) {
	if m := regexp.MustCompile(`\[(\d+) hazards?\]`).FindStringSubmatch(text); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		p.open.Count += n
	}
}

// summary reads the last line of a tool that came to its end.
func (p *reportParser) summary(text string) {
	number := func(form string) int64 {
		m := regexp.MustCompile(form).FindStringSubmatch(text)
		if m == nil {
			return 0
		}
		n, _ := strconv.ParseInt(m[1], 10, 64)
		return n
	}
	switch {
	case strings.HasPrefix(text, "RACECHECK SUMMARY:") && p.report.Tool == "racecheck":
		p.summed = true
		p.report.Errors = number(`(\d+) errors?`)
		p.report.Warnings = number(`(\d+) warnings?`)
	case strings.HasPrefix(text, "ERROR SUMMARY:") && p.report.Tool != "racecheck" && !strings.Contains(text, "not printed"):
		p.summed = true
		p.report.Errors = number(`ERROR SUMMARY: (\d+) errors?`)
	}
}

package cudarun

import (
	"context"
	"fmt"
	"strings"

	"aliascheck/rules/replay"
)

// sanitizerResult is a tool's report on a plan, or why there is none.
type sanitizerResult struct {
	report *SanitizerReport
	err    error
}

// sanitize runs the tools that the user asks for on a plan, each once, and adds
// their reports to the evidence. Hazards of the right tool confirm a finding.
func (e *Engine) sanitize(ctx context.Context, to *Evidence, q replay.Question, plan *Plan) {
	if e.o.Sanitizer == "" {
		return
	}
	for _, tool := range e.o.Tools {
		r := e.sanitizeOnce(ctx, tool, plan)
		if r.err != nil {
			to.Trouble = append(to.Trouble, r.err.Error())
			continue
		}
		to.Sanitizers = append(to.Sanitizers, r.report)
		if tool == sanitizerOf(q) && len(r.report.Hazards) > 0 && to.Verdict.Confirmation != string(replay.Confirmed) {
			to.Verdict = Verdict{Confirmation: string(replay.Confirmed), Reason: hazardWords(r.report)}
		}
	}
}

// sanitizeOnce runs one tool on one plan, one at a time: a tool slows a kernel
// down a hundredfold.
func (e *Engine) sanitizeOnce(ctx context.Context, tool string, plan *Plan) sanitizerResult {
	key := plan.Key() + " " + tool
	e.mu.Lock()
	defer e.mu.Unlock()
	if r, ok := e.sanitized[key]; ok {
		return r
	}
	report, err := Sanitize(ctx, e.o.Options, e.o.Sanitizer, tool, plan)
	if report != nil {
		report.Outcome = nil // the evidence has a better one
	}
	e.sanitized[key] = sanitizerResult{report, err}
	return e.sanitized[key]
}

// sanitizerOf is the tool whose hazards are what a question is about.
func sanitizerOf(q replay.Question) string {
	switch q {
	case replay.Outside, replay.Faults:
		return "memcheck"
	case replay.ReadFirst:
		return "initcheck"
	case replay.LateCopy, replay.Unstable:
		return "racecheck"
	case replay.Hangs:
		return "synccheck"
	}
	return ""
}

// hazardWords says what a tool found, with the lines that it knows.
func hazardWords(r *SanitizerReport) string {
	h := r.Hazards[0]
	var places []string
	for _, p := range h.Places {
		if p.File != "" {
			places = append(places, fmt.Sprintf("%s:%d", p.File, p.Line))
		}
	}
	text := fmt.Sprintf("%s: %d errors, %d warnings; %s", r.Tool, r.Errors, r.Warnings, strings.SplitN(h.Text, ";", 2)[0])
	if places != nil {
		text += " (" + strings.Join(places, ", ") + ")"
	}
	return text
}

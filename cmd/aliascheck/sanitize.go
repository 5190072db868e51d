package main

import (
	"context"
	"fmt"
	"strings"

	"aliascheck/cudarun"
	"aliascheck/rules"
)

// sanitizerResult is a tool's report on a plan, or why there is none.
type sanitizerResult struct {
	report *cudarun.SanitizerReport
	err    error
}

// sanitize runs the tools that the user asks for on a plan, each once, and adds
// their reports to the evidence. Hazards of the right tool confirm a finding.
func (g *gpuRunner) sanitize(ctx context.Context, e *gpuEvidence, code string, plan *cudarun.Plan) {
	if g.sanitizer == "" {
		return
	}
	for _, tool := range g.flags.sanitize {
		r := g.sanitizeOnce(ctx, tool, plan)
		if r.err != nil {
			e.Trouble = append(e.Trouble, r.err.Error())
			continue
		}
		e.Sanitizers = append(e.Sanitizers, r.report)
		if tool == sanitizerOf(code) && len(r.report.Hazards) > 0 && e.Verdict.Confirmation != string(rules.Confirmed) {
			e.Verdict = cudarun.Verdict{Confirmation: string(rules.Confirmed), Reason: hazardWords(r.report)}
		}
	}
}

// sanitizeOnce runs one tool on one plan, one at a time: a tool slows a kernel
// down a hundredfold.
func (g *gpuRunner) sanitizeOnce(ctx context.Context, tool string, plan *cudarun.Plan) sanitizerResult {
	key := plan.Key() + " " + tool
	g.mu.Lock()
	defer g.mu.Unlock()
	if r, ok := g.sanitized[key]; ok {
		return r
	}
	report, err := cudarun.Sanitize(ctx, g.options, g.sanitizer, tool, plan)
	if report != nil {
		report.Outcome = nil // the evidence has a better one
	}
	g.sanitized[key] = sanitizerResult{report, err}
	return g.sanitized[key]
}

// sanitizerOf is the tool whose hazards are what a code is about.
func sanitizerOf(code string) string {
	switch code {
	case "AC206", "AC903":
		return "memcheck"
	case "AC205":
		return "initcheck"
	case "AC402", "AC901":
		return "racecheck"
	case "AC902":
		return "synccheck"
	}
	return ""
}

// hazardWords says what a tool found, with the lines that it knows.
func hazardWords(r *cudarun.SanitizerReport) string {
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

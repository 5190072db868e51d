package report

import (
	"net/url"
	"path"
	"strings"

	"aliascheck/rules"
)

// result is one finding: at its Python line, with the witness's reader and writer
// beside it, and an identity that survives recompilation and moved lines.
func (s *sarifWriter) result(f *rules.Finding) sarifResult {
	code := Clean(f.Code)
	out := sarifResult{
		RuleID: code, RuleIndex: s.ruleIndex(code), Level: sarifLevel(f.Severity),
		Message:   sarifMessage{unlinked(Clean(f.Message) + " " + Clean(f.Why))},
		Locations: []sarifLocation{s.location(f)},
		Fingerprints: map[string]string{
			"aliascheck/v1": Clean(f.Fingerprint),
			// The one that GitHub matches alerts by. Its own would be made of the
			// text around the line, which changes more often.
			"primaryLocationLineHash": Clean(f.Fingerprint) + ":1",
		},
		Occurrences: max(f.Calls, 1),
		Properties: sarifProperties{
			Target: Clean(f.Target), Kernel: Clean(f.Kernel),
			Confirmation: Clean(string(f.Confirmation)), ConfirmationReason: Clean(f.ConfirmationReason),
			Fix: Clean(f.Fix), Patch: strings.Join(patchLines(f.Patch), "\n"), Tests: cleanAll(f.Tests, sarifTests),
			CompiledFor: cleanAll(f.CompiledFor, sarifTests), NotFor: cleanAll(f.NotFor, sarifTests),
		},
	}
	if text := compiledFor(f); text != "" {
		out.Message.Text += " GPUs: " + unlinked(text) + "."
	}
	for n, r := range append(asRelated(f.Values), f.Related...) {
		if n == sarifLocations-1 {
			break
		}
		out.Related = append(out.Related, s.related(n+1, f, r))
	}
	if f.Source != nil && len(f.Source.Stack) > 0 {
		out.Stacks = []sarifStack{s.stack(f.Source)}
	}
	return out
}

// asRelated are values as places beside a finding.
func asRelated(values []rules.Value) []rules.Related {
	var list []rules.Related
	for i := range values {
		r := rules.Related{Role: values[i].Role, Instruction: values[i].Instruction, Text: valueWords(&values[i])}
		if values[i].Source != nil {
			r.File, r.Line = values[i].Source.File, values[i].Source.Line
		}
		list = append(list, r)
	}
	return list
}

// ruleIndex is the rule's place among the driver's rules, -1 (which means: not
// there) where there were too many unknown codes.
func (s *sarifWriter) ruleIndex(code string) int {
	if n, ok := s.index[code]; ok {
		return n
	}
	return -1
}

// location is the Python line, or the dump itself where the dump names none.
// GitHub drops results without a file.
func (s *sarifWriter) location(f *rules.Finding) sarifLocation {
	loc := sarifLocation{Logical: []sarifLogical{{
		Name: Clean(f.Instruction),
		Full: Clean(f.Module) + "/" + Clean(f.Computation) + "/" + Clean(f.Instruction),
		Kind: "member",
	}}}
	switch {
	case f.Source != nil && f.Source.File != "":
		loc.Physical = s.physical(f.Source.File, f.Source.Line)
	case f.Path != "":
		loc.Physical = s.physical(f.Path, 1)
	}
	return loc
}

func (s *sarifWriter) physical(file string, line int) *sarifPhysical {
	return &sarifPhysical{Artifact: artifact(file, s.options.SrcRoot), Region: &sarifRegion{max(line, 1)}}
}

// artifact names a file by a relative URI: below SRCROOT, or where the file's path begins
// at the root of the file system, below that. Whatever a dump calls a file, no reader
// takes it for another scheme, for another host, or for a place above.
func artifact(file, root string) sarifArtifact {
	name, base := relative(file, root), "SRCROOT"
	if strings.HasPrefix(name, "/") {
		base = "FILESYSTEM"
	}
	var parts []string
	for _, part := range strings.Split(path.Clean("/"+name), "/") {
		if part != "" {
			// A colon would end a scheme.
			parts = append(parts, strings.ReplaceAll(url.PathEscape(part), ":", "%3A"))
		}
	}
	if len(parts) == 0 {
		parts = []string{"unknown"}
	}
	return sarifArtifact{URI: strings.Join(parts, "/"), Base: base}
}

func (s *sarifWriter) related(id int, f *rules.Finding, r rules.Related) sarifLocation {
	text := Clean(r.Role)
	for _, part := range [...]string{r.Instruction, r.Text} {
		if part != "" {
			text += ": " + Clean(part)
		}
	}
	loc := sarifLocation{ID: id, Message: &sarifMessage{unlinked(text)}}
	switch {
	case r.File != "":
		loc.Physical = s.physical(r.File, r.Line)
	case f.Source != nil && f.Source.File != "":
		loc.Physical = s.physical(f.Source.File, f.Source.Line)
	}
	if r.Instruction != "" {
		loc.Logical = []sarifLogical{{Name: Clean(r.Instruction), Full: Clean(f.Module) + "/" + Clean(r.Instruction), Kind: "member"}}
	}
	return loc
}

func (s *sarifWriter) stack(source *rules.Source) sarifStack {
	out := sarifStack{Message: sarifMessage{"where the call was made, innermost first"}, Frames: []sarifFrame{}}
	for n, f := range source.Stack {
		if n == sarifFrames {
			break
		}
		loc := sarifLocation{Physical: s.physical(f.File, f.Line)}
		if f.Function != "" {
			loc.Logical = []sarifLogical{{Name: Clean(f.Function), Full: Clean(f.Function), Kind: "function"}}
		}
		out.Frames = append(out.Frames, sarifFrame{loc})
	}
	return out
}

// unlinked takes the embedded links (3.11.6) out of a text that holds names from a
// dump: "[words](target)" is only a link without a space in the middle.
func unlinked(text string) string { return strings.ReplaceAll(text, "](", "] (") }

func cleanAll(names []string, most int) []string {
	var out []string
	for _, n := range names[:min(len(names), most)] {
		out = append(out, Clean(n))
	}
	return out
}

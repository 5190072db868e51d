package report

import (
	"fmt"
	"slices"
	"strings"

	"aliascheck/rules"
)

// compiledFor says which GPUs a finding holds for, and which not; empty where nothing
// was compiled for any.
func compiledFor(f *rules.Finding) string {
	if len(f.CompiledFor) == 0 {
		return ""
	}
	text := list(f.CompiledFor, 20)
	if len(f.NotFor) > 0 {
		text += "; not " + list(f.NotFor, 20)
	}
	return Clean(text)
}

// compiled says what was compiled for which GPUs, in a line for each outcome.
func compiled(all []rules.Compiled) []string {
	var lines []string
	for _, c := range all {
		line := fmt.Sprintf("for %s: %s", c.GPU, plural(c.Programs, "program"))
		if c.JAX != "" {
			line += " by JAX " + c.JAX
		}
		if c.Failed > 0 {
			line += fmt.Sprintf("; %d could not be compiled", c.Failed)
		}
		if t := c.Tests; t != nil {
			line += fmt.Sprintf("; of %s %d ran to their end, %d failed (functions returned zeros), %d compiled nothing",
				plural(t.Ended+t.Failed, "test"), t.Ended, t.Failed, t.CompiledNothing)
		}
		lines = append(lines, Clean(line))
	}
	var placeholders []string
	for _, c := range all {
		for _, p := range c.Placeholders {
			if !slices.Contains(placeholders, p) {
				placeholders = append(placeholders, p)
			}
		}
	}
	if len(placeholders) > 0 {
		slices.Sort(placeholders)
		lines = append(lines, Clean("with placeholders for FFI targets that nobody registered: "+strings.Join(placeholders[:min(len(placeholders), 20)], ", ")))
	}
	return lines
}

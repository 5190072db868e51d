package main

import (
	"aliascheck/cmd/aliascheck/report"

	"github.com/spf13/cobra"
)

// completeValues lets the shells complete the values of a command's flags, where
// they are words of a list.
func completeValues(cmd *cobra.Command) {
	outputs := report.Formats()
	for i := range outputs {
		outputs[i] += "="
	}
	for name, words := range map[string][]string{
		"format":  report.Formats(),
		"output":  outputs,
		"replay":  {"auto", "off", "emulate", "gpu"},
		"fail-on": {"error", "warning", "note", "never"},
		"color":   {"auto", "always", "never"},
		"keep":    {"all", "findings", "none"},
	} {
		if cmd.Flags().Lookup(name) == nil {
			continue
		}
		directive := cobra.ShellCompDirectiveNoFileComp
		if name == "output" {
			directive |= cobra.ShellCompDirectiveNoSpace // a file follows
		}
		// The only error is a flag that is not there.
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, directive))
	}
}

package cli

import (
	"errors"

	"aliascheck/cmd/aliascheck/report"

	"github.com/spf13/cobra"
)

// RefuseShells makes the command that writes completions refuse the shells that it does
// not know; by itself it prints its help, and ends with 0.
func RefuseShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args = cobra.ArbitraryArgs
			c.RunE = func(*cobra.Command, []string) error {
				return errors.New("one shell was expected: `aliascheck completion bash`, fish, powershell or zsh")
			}
		}
	}
}

// CompleteValues lets the shells complete the values of a command's flags, where
// they are words of a list.
func CompleteValues(cmd *cobra.Command) {
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

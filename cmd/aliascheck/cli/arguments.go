package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// AtLeastOne refuses a command line without arguments, and says what is missing.
func AtLeastOne(missing string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New(missing)
		}
		return nil
	}
}

// Exactly refuses a command line that has not n arguments, and says what was expected.
func Exactly(n int, expected string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return errors.New(expected)
		}
		return nil
	}
}

// Misspelt refuses a first argument that is no file, but nearly a command.
func Misspelt(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := os.Lstat(args[0]); err == nil {
		return nil
	}
	root.SuggestionsMinimumDistance = 2
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("%s: no such dump, and no such command: did you mean `aliascheck %s`?", args[0], near[0])
	}
	return nil
}

// What the help is wrapped to: the default where the terminal says nothing, or has no
// room for flags and what they do.
const (
	minHelpWidth     = 60
	defaultHelpWidth = 80
	maxHelpWidth     = 120
)

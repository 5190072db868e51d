package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// atLeastOne refuses a command line without arguments, and says what is missing.
func atLeastOne(missing string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New(missing)
		}
		return nil
	}
}

// exactly refuses a command line that has not n arguments, and says what was expected.
func exactly(n int, expected string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return errors.New(expected)
		}
		return nil
	}
}

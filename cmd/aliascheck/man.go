package main

import (
	"runtime/debug"
	"time"

	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/man"

	"github.com/spf13/cobra"
)

// newManCommand writes the manual page out of the commands' own help. It is for
// packagers: `make man`.
func newManCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Write the manual page", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return man.Write(a.Stdout, cmd.Root(), a.Version, buildDate())
		},
	}
}

// buildDate is the day of the revision that this build was made of, where it is known.
func buildDate() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.time" && len(s.Value) >= len(time.DateOnly) {
				return s.Value[:len(time.DateOnly)]
			}
		}
	}
	return ""
}

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"aliascheck/cmd/aliascheck/cli"

	"github.com/spf13/cobra"
)

// release is set by who builds one: -ldflags "-X main.release=v1.2.3". The linker sets
// nothing but a package variable; no code writes to it.
var release string

// version is what this build calls itself: the release that it was built as or tagged
// with, else the revision it was built from.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(len(s.Value), 12)]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+changes"
			}
		}
	}
	if revision == "" {
		return "devel"
	}
	return "devel-" + revision + dirty
}

// versionLine is what the version command and the version flag print.
func versionLine() string {
	return fmt.Sprintf("aliascheck %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func newVersionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(a.Stdout, versionLine())
			return err
		},
	}
}

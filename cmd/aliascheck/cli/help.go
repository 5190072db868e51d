package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"aliascheck/rules"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroup is a heading of the help, and the flags below it.
type flagGroup struct {
	title string
	flags []string
}

// flagGroups lists the flags that commands share, in the order of the help. Flags that
// no group has, a command's own, stand first.
func flagGroups() []flagGroup {
	return []flagGroup{
		{"Report", []string{"format", "output", "verbose", "color", "quiet", "src-root"}},
		{"What counts", []string{"fail-on", "findings-exit-code", "select", "ignore", "show-suppressed", "config", "baseline", "update-baseline", "require-analysis"}},
		{"Running kernels", []string{"replay", "operand", "sample-blocks", "max-steps", "max-kernel-bytes", "max-kernel-time"}},
		{"On a GPU", []string{"all", "device", "gpu-timeout", "gpu-budget", "sanitize", "sanitizer-dir", "engine"}},
		{"Machine", []string{"jobs", "shard", "max-module-bytes", "max-archive-bytes", "cache-dir", "max-cache-bytes", "no-cache"}},
	}
}

// Usage prints a command's usage with its flags in groups.
func Usage(w io.Writer, c *cobra.Command, columns int) error {
	if columns < minHelpWidth {
		columns = defaultHelpWidth
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", c.UseLine())
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", c.CommandPath())
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&b, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	for _, g := range grouped(c.Flags()) {
		fmt.Fprintf(&b, "\n%s:\n%s", g.title, g.set.FlagUsagesWrapped(min(columns, maxHelpWidth)))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nUse \"%s [command] --help\" for more information about a command.\n", c.CommandPath())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

type titledFlags struct {
	title string
	set   *pflag.FlagSet
}

// grouped divides flags into the groups of the help; empty ones are left out.
func grouped(all *pflag.FlagSet) []titledFlags {
	groups := flagGroups()
	out := make([]titledFlags, len(groups)+1)
	for n := range out {
		out[n].set = pflag.NewFlagSet("", pflag.ContinueOnError)
		out[n].set.SortFlags = n == 0
		out[n].title = "Flags"
		if n > 0 {
			out[n].title = groups[n-1].title
			for _, name := range groups[n-1].flags {
				if f := all.Lookup(name); f != nil {
					out[n].set.AddFlag(f)
				}
			}
		}
	}
	all.VisitAll(func(f *pflag.Flag) {
		if !slices.ContainsFunc(groups, func(g flagGroup) bool { return slices.Contains(g.flags, f.Name) }) {
			out[0].set.AddFlag(f)
		}
	})
	return slices.DeleteFunc(out, func(g titledFlags) bool { return !g.set.HasAvailableFlags() })
}

// FlagError says what is wrong with a flag, and which one was probably meant.
func FlagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near := rules.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			return fmt.Errorf("%w; did you mean --%s?", err, near)
		}
	}
	return fmt.Errorf("%w; `%s --help` lists the flags", err, c.CommandPath())
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"aliascheck/cmd/aliascheck/audit"
	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/rules"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// newInitCommand writes a configuration to begin with.
func newInitCommand(a *cli.App) *cobra.Command {
	o := audit.Options{Replay: "off", FailOn: "never", Format: "text", Color: "never", FindingsCode: cli.ExitFindings}
	cmd := &cobra.Command{
		Use:   "init [flags] [DUMP...]",
		Short: "Write a configuration to begin with, out of what a dump has",
		Long: `init writes ` + audit.DefaultConfig + ` with what the dumps have of its subjects: helpers of
yours that all calls pass (library-code), kernels that could not be analysed
(kernels, to be filled in), and the keys that there are. It overwrites nothing.`,
		Example: "  aliascheck init dump_dir/",
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeFirstConfig(cmd.Context(), a, &o, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Config, "config", audit.DefaultConfig, "`FILE` to write")
	f.IntVar(&o.Jobs, "jobs", 1, "read `N` modules at the same time")
	return cmd
}

// writeFirstConfig audits the dumps without running kernels, and writes the file.
func writeFirstConfig(ctx context.Context, a *cli.App, o *audit.Options, paths []string) error {
	path := o.Config
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already; --config FILE writes another", path)
	}
	if err := o.Check(); err != nil {
		return err
	}
	job := &audit.Job{Options: o, Collector: rules.NewCollector()}
	job.Audit(ctx, paths, audit.NewProgress(nil, true))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r := job.Collector.Report(a.Tool(), rules.Choices{Now: time.Now()})
	if n := len(r.Summary.Incomplete); n > 0 {
		return fmt.Errorf("%s: %s", r.Summary.Incomplete[0].Path, r.Summary.Incomplete[0].Error)
	}
	if err := cli.WriteFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, firstConfig(r))
		return err
	}); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "%s was written; `aliascheck --config %s DUMP` uses it\n", path, cli.ShellWord(path))
	return nil
}

// firstConfig is a configuration with what a report has of its subjects.
func firstConfig(r *rules.Report) string {
	var b strings.Builder
	b.WriteString("# What aliascheck is to know of this project. docs/aliascheck.schema.json describes the file.\nversion: 1\n\n" +
		"# Python code that a finding's line is not to be in: helpers that all calls pass.\n")
	wrappers := wrappersOf(r)
	if len(wrappers) == 0 {
		b.WriteString("# library-code: [\"helpers.py\", \"helpers.py:call\"]\n")
	} else {
		b.WriteString("library-code:\n")
		for _, w := range wrappers {
			fmt.Fprintf(&b, "  - %s\n", yamlText(w))
		}
	}
	b.WriteString("\n# Kernels that you know not to be safe in place. What aliascheck runs itself need not stand here.\n# kernels:\n")
	names := unknownKernels(r)
	if len(names) == 0 {
		names = []string{"my_reverse_kernel"}
	}
	for _, n := range names {
		fmt.Fprintf(&b, "#   - {name: %s, unsafe: [{operand: 0, result: 0}], reason: \"why\"}\n", yamlText(n))
	}
	b.WriteString("\n# Which rules to report, and how grave they are.\n# select: [AC1, AC2, AC3, AC4, AC9]\n# ignore: [AC210]\n# severity: {AC202: warning}\n" +
		"\n# Findings to live with, each with its reason.\n# suppress:\n#   - {code: AC202, kernel: \"my_kernel\", reason: \"why\", expires: 2027-01-31}\n")
	return b.String()
}

// wrappersOf are the helpers that findings were traced through, as library-code has them.
func wrappersOf(r *rules.Report) []string {
	var out []string
	for i := range r.Findings {
		if s := r.Findings[i].Source; s != nil && s.Wrapper != nil {
			file := s.Wrapper.File[strings.LastIndexByte(s.Wrapper.File, '/')+1:]
			out = append(out, file+":"+s.Wrapper.Function)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unknownKernels are calls whose kernel no dump has.
func unknownKernels(r *rules.Report) []string {
	var out []string
	for c := range r.Calls.All() {
		if c.Unanalysed != "" && c.Kernel == "" {
			out = append(out, c.Target)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// yamlText is a name from a dump as YAML has it, on one line.
func yamlText(s string) string {
	b, err := yaml.Marshal(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle})
	if err != nil {
		return `""`
	}
	return strings.ReplaceAll(strings.TrimSpace(string(b)), "\n", " ")
}

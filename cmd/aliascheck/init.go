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

	"aliascheck/rules"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// newInitCommand writes a configuration to begin with.
func newInitCommand(a *app) *cobra.Command {
	o := auditOptions{replay: "off", failOn: "never", format: "text", color: "never", findingsCode: exitFindings}
	cmd := &cobra.Command{
		Use:   "init [flags] [DUMP...]",
		Short: "Write a configuration to begin with, out of what a dump has",
		Long: `init writes ` + defaultConfig + ` with what the dumps have of its subjects: helpers of
yours that all calls pass (library-code), kernels that could not be analysed
(kernels, to be filled in), and the keys that there are. It overwrites nothing.`,
		Example: "  aliascheck init dump_dir/",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.init(cmd.Context(), a, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.config, "config", defaultConfig, "`FILE` to write")
	f.IntVar(&o.jobs, "jobs", 1, "read `N` modules at the same time")
	return cmd
}

// init audits the dumps without running kernels, and writes the file.
func (o *auditOptions) init(ctx context.Context, a *app, paths []string) error {
	path := o.config
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already; --config FILE writes another", path)
	}
	if err := o.check(); err != nil {
		return err
	}
	job := &auditJob{options: o, collector: rules.NewCollector()}
	job.audit(ctx, paths, newProgress(nil, true))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r := job.collector.Report(tool(), rules.Choices{Now: time.Now()})
	if n := len(r.Summary.Incomplete); n > 0 {
		return fmt.Errorf("%s: %s", r.Summary.Incomplete[0].Path, r.Summary.Incomplete[0].Error)
	}
	if err := writeFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, firstConfig(r))
		return err
	}); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s was written; `aliascheck --config %s DUMP` uses it\n", path, shellWord(path))
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

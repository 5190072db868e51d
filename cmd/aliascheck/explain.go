package main

import (
	"fmt"
	"io"
	"strings"

	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/rules"

	"github.com/spf13/cobra"
)

func newRulesCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "rules", Short: "List the rules", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			width := 0
			for _, r := range rules.All() {
				width = max(width, len(r.Name))
			}
			for _, r := range rules.All() {
				if _, err := fmt.Fprintf(a.Stdout, "%s  %-8s %-*s  %s\n", r.Code, r.Default, width, r.Name, r.Summary); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func newExplainCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "explain CODE...", Short: "Explain rules: what is wrong, why it hurts, how to mend it", Args: cli.AtLeastOne("no rule was named: `aliascheck explain AC201` explains one, `aliascheck rules` lists them"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var codes []string
			for _, r := range rules.All() {
				codes = append(codes, r.Code+"\t"+r.Summary)
			}
			return codes, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var out strings.Builder
			for n, arg := range args {
				r, ok := rules.Lookup(strings.TrimSpace(arg))
				if !ok {
					r, ok = rules.Lookup(strings.ToUpper(arg))
				}
				if !ok {
					return fmt.Errorf("no rule is called %q; `aliascheck rules` lists them", arg)
				}
				if n > 0 {
					out.WriteByte('\n')
				}
				explain(&out, r)
			}
			_, err := io.WriteString(a.Stdout, out.String())
			return err
		},
	}
}

func explain(w io.Writer, r rules.Rule) {
	fmt.Fprintf(w, "%s %s (%s)\n%s\n", r.Code, r.Name, r.Default, r.Summary)
	for _, part := range [][2]string{
		{"What is wrong", r.Doc.What}, {"Why it hurts", r.Doc.Why},
		{"How to mend it", r.Doc.Mend}, {"When the rule is wrong", r.Doc.Wrong},
	} {
		fmt.Fprintf(w, "\n%s\n%s\n", part[0], fill(part[1], 78))
		if part[0] == "How to mend it" {
			explainPatches(w, &r)
		}
	}
}

// explainPatches prints the mend as code, for each way to make the call.
func explainPatches(w io.Writer, r *rules.Rule) {
	for _, target := range []string{"triton_kernel_call_ffi", "__gpu$xla.gpu.triton", "my_handler"} {
		p := r.Patch(&rules.Finding{Kernel: "kernel", Target: target})
		if p == nil {
			continue
		}
		fmt.Fprintf(w, "\n  with %s:\n", p.Through)
		for _, part := range [...][2]string{{"-", p.Before}, {"+", p.After}} {
			for line := range strings.SplitSeq(part[1], "\n") {
				fmt.Fprintf(w, "    %s %s\n", part[0], line)
			}
		}
	}
}

// fill wraps a paragraph and indents it by two.
func fill(text string, width int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case column == 0:
			b.WriteString("  ")
			column = 2
		case column+1+n > width:
			b.WriteString("\n  ")
			column = 2
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newManCommand writes the manual page out of the commands' own help. It is for
// packagers: `make man`.
func newManCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Write the manual page", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return writeMan(a.stdout, cmd.Root(), version())
		},
	}
}

// writeMan writes the page in the man macros (groff_man(7)), which mandoc reads as well.
func writeMan(to io.Writer, root *cobra.Command, version string) error {
	m := &manPage{bufio.NewWriter(to)}
	name := root.Name()
	m.macro("TH", strings.ToUpper(name), "1", "", name+" "+version, "User Commands")
	m.macro("SH", "NAME")
	m.line(name + ` \- ` + roff(root.Short))
	m.macro("SH", "SYNOPSIS")
	commands := visible(root)
	for _, c := range append([]*cobra.Command{root}, commands...) {
		m.synopsis(c)
	}
	m.macro("SH", "DESCRIPTION")
	m.text(root.Long)
	m.macro("SH", "OPTIONS")
	m.flags(root.LocalFlags(), nil)
	m.macro("SH", "COMMANDS")
	for _, c := range commands {
		m.command(c, root)
	}
	if root.Example != "" {
		m.macro("SH", "EXAMPLES")
		m.verbatim(root.Example)
	}
	return m.Flush()
}

func visible(root *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			out = append(out, c)
		}
	}
	return out
}

// manPage writes one page; the first error sticks in the writer.
type manPage struct{ *bufio.Writer }

func (m *manPage) line(s string) { fmt.Fprintln(m, s) }

// macro writes a request with its arguments quoted.
func (m *manPage) macro(name string, args ...string) {
	fmt.Fprintf(m, ".%s", name)
	for _, a := range args {
		fmt.Fprintf(m, ` "%s"`, strings.ReplaceAll(roff(a), `"`, `\(dq`))
	}
	m.line("")
}

func (m *manPage) synopsis(c *cobra.Command) {
	words := strings.SplitN(c.UseLine(), "[", 2)
	m.macro("TP")
	line := `\fB` + roff(strings.TrimSpace(words[0])) + `\fR`
	if len(words) == 2 {
		line += " " + roff("["+words[1])
	}
	m.line(line)
	m.line(roff(c.Short) + ".")
}

func (m *manPage) command(c, root *cobra.Command) {
	m.macro("SS", c.CommandPath())
	if c.Long != "" {
		m.text(c.Long)
	} else {
		m.line(roff(c.Short) + ".")
	}
	if c.LocalFlags().Lookup("fail-on") != nil {
		m.macro("PP")
		m.line(roff("It takes the options of an audit, listed above, and these:"))
	}
	m.flags(c.LocalFlags(), root.LocalFlags())
	if c.Example != "" {
		m.macro("PP")
		m.line("Examples:")
		m.verbatim(c.Example)
	}
}

// flags lists the flags that known does not have.
func (m *manPage) flags(set, known *pflag.FlagSet) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || known != nil && known.Lookup(f.Name) != nil {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		m.macro("TP")
		head := `\fB` + roff("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			head = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + head
		}
		if value != "" {
			head += ` \fI` + roff(value) + `\fR`
		}
		m.line(head)
		if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "[]" && !strings.Contains(usage, "default") {
			usage += " (default " + d + ")"
		}
		m.text(usage)
	})
}

// text writes paragraphs; indented lines stand as they are.
func (m *manPage) text(s string) {
	for n, block := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if strings.HasPrefix(block, "  ") {
			m.verbatim(block)
			continue
		}
		if n > 0 {
			m.macro("PP")
		}
		for line := range strings.SplitSeq(block, "\n") {
			m.line(roff(line))
		}
	}
}

func (m *manPage) verbatim(s string) {
	m.macro("PP")
	m.line(".nf")
	for line := range strings.SplitSeq(strings.Trim(s, "\n"), "\n") {
		m.line(roff(line))
	}
	m.line(".fi")
}

// roff escapes text: backslashes, dashes (which would become hyphens), quotes that
// would become typographic, and what would be a request at the start of a line.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "'", `\(aq`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

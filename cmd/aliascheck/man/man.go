// Package man writes the manual page of a command out of its own help.
package man

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Write writes the page in the man macros (groff_man(7)), which mandoc reads as well.
func Write(to io.Writer, root *cobra.Command, version, date string) error {
	m := &page{bufio.NewWriter(to)}
	name := root.Name()
	// A date is not text: its dashes stay dashes.
	m.line(fmt.Sprintf(`.TH %s 1 "%s" "%s" "User Commands"`, strings.ToUpper(name), date, roff(name+" "+version)))
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
		m.lines(root.Example)
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
type page struct{ *bufio.Writer }

func (m *page) line(s string) { fmt.Fprintln(m, s) }

// macro writes a request with its arguments quoted.
func (m *page) macro(name string, args ...string) {
	fmt.Fprintf(m, ".%s", name)
	for _, a := range args {
		fmt.Fprintf(m, ` "%s"`, strings.ReplaceAll(roff(a), `"`, `\(dq`))
	}
	m.line("")
}

func (m *page) synopsis(c *cobra.Command) {
	words := strings.SplitN(c.UseLine(), "[", 2)
	m.macro("TP")
	line := `\fB` + roff(strings.TrimSpace(words[0])) + `\fR`
	if len(words) == 2 {
		line += " " + roff("["+words[1])
	}
	m.line(line)
	m.line(roff(c.Short) + ".")
}

func (m *page) command(c, root *cobra.Command) {
	m.macro("SS", c.CommandPath())
	if c.Long != "" {
		m.text(c.Long)
	} else {
		m.line(roff(c.Short) + ".")
	}
	if line := shared(c.LocalFlags(), root.LocalFlags()); line != "" {
		m.macro("PP")
		m.line(roff(line))
	}
	m.flags(c.LocalFlags(), root.LocalFlags())
	if c.Example != "" {
		m.macro("PP")
		m.line("Examples:")
		m.verbatim(c.Example)
	}
}

// shared says which of the flags above a command takes too; empty where none.
func shared(set, above *pflag.FlagSet) string {
	var names []string
	all := true
	above.VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Name == "help" || f.Hidden:
		case set.Lookup(f.Name) != nil:
			names = append(names, "--"+f.Name)
		default:
			all = false
		}
	})
	switch {
	case len(names) == 0:
		return ""
	case all:
		return "It takes every option listed above."
	}
	return "Of the options listed above it takes " + strings.Join(names, ", ") + "."
}

// flags lists the flags that known does not have.
func (m *page) flags(set, known *pflag.FlagSet) {
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
		d := f.DefValue
		if f.Name == "jobs" {
			d = "" // it is this machine's number of processors, which the page is not about
		}
		if d != "" && d != "false" && d != "0" && d != "[]" && !strings.Contains(usage, "default") {
			usage += " (default " + d + ")"
		}
		m.text(usage)
	})
}

// text writes paragraphs; indented lines stand as they are.
func (m *page) text(s string) {
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

func (m *page) verbatim(s string) {
	m.macro("PP")
	m.lines(s)
}

func (m *page) lines(s string) {
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

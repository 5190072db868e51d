package report

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"aliascheck/rules"
)

// maxLine bounds what is shown of a line of source, in characters.
const maxLine = 160

// line is one line of source, made safe to print and cut to a width; empty where the
// file is not here.
func (o *Options) line(file string, line int, function string, width int) string {
	if o.Sources == nil {
		return ""
	}
	text, _, _ := o.Sources.Line(file, line, function)
	text = strings.ReplaceAll(text, "\t", "    ")
	return shorten(Clean(text), max(min(width, maxLine), 20))
}

// source prints the Python line of a finding.
func (t *textWriter) source(s *rules.Source) {
	if s == nil {
		return
	}
	number := fmt.Sprintf("%d | ", s.Line)
	if text := t.options.line(s.File, s.Line, s.Function, t.width-2-len(number)); text != "" {
		fmt.Fprintf(t.out, "  %s%s\n", t.paint.dim(number), text)
	}
}

// link makes text a link to a line of a file, where the file is here and the terminal
// opens links (OSC 8; the address is a file's, as RFC 8089 has it).
func (t *textWriter) link(text, file string, line int, function string) string {
	if !t.options.Links || t.options.Sources == nil {
		return text
	}
	_, path, ok := t.options.Sources.Line(file, line, function)
	if !ok {
		return text
	}
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	u := url.URL{Scheme: "file", Host: host, Path: filepath.ToSlash(path), Fragment: fmt.Sprintf("L%d", line)}
	return "\x1b]8;;" + u.String() + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}

// related prints the other places that a finding speaks of: accesses with their lines of
// source, other values and instructions by their names.
func (t *textWriter) related(f *rules.Finding) {
	for _, r := range f.Related {
		if r.File == "" || r.Line == 0 {
			t.prose(Clean(r.Role), relatedWords(&r))
			continue
		}
		at := fmt.Sprintf("%s:%d", t.short(r.File), r.Line)
		text := t.options.line(r.File, r.Line, f.Kernel, t.width-4-label-len(at)-3)
		switch {
		case t.options.Verbose:
			t.prose(Clean(r.Role), relatedWords(&r))
			if text != "" {
				fmt.Fprintf(t.out, "  %s%s\n", strings.Repeat(" ", label), text)
			}
		case text != "":
			fmt.Fprintf(t.out, "  %s%s | %s\n", t.paint.dim(fmt.Sprintf("%-*s", label, Clean(r.Role))), t.link(at, r.File, r.Line, f.Kernel), text)
		default:
			t.prose(Clean(r.Role), at)
		}
	}
}

// short names a file of kernels by its last component: the stack has the whole name.
func (t *textWriter) short(file string) string {
	if at := strings.LastIndexByte(file, '/'); at >= 0 {
		file = file[at+1:]
	}
	return Clean(file)
}

func relatedWords(r *rules.Related) string {
	var parts []string
	if r.File != "" {
		parts = append(parts, fmt.Sprintf("%s:%d", Clean(r.File), r.Line))
	}
	for _, s := range []string{r.Instruction, r.Text} {
		if s != "" && (len(parts) == 0 || parts[len(parts)-1] != s) {
			parts = append(parts, Clean(s))
		}
	}
	return strings.Join(parts, ", ")
}

// patch prints the mend as code: lines to take out, and lines to put in.
func (t *textWriter) patch(p *rules.Patch) {
	for _, line := range patchLines(p) {
		color := "32"
		if line[0] == '-' {
			color = "31"
		}
		fmt.Fprintf(t.out, "    %s\n", t.paint.wrap(color, line))
	}
}

// patchLines are a patch's lines, to take out with - and to put in with +.
func patchLines(p *rules.Patch) []string {
	if p == nil {
		return nil
	}
	var out []string
	for _, part := range [...]struct{ sign, text string }{{"- ", p.Before}, {"+ ", p.After}} {
		for line := range strings.SplitSeq(part.text, "\n") {
			out = append(out, part.sign+Clean(line))
		}
	}
	return out
}

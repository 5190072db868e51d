package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// comment is `# aliascheck: ignore[AC201, AC202] reason` in a Python file: it
// suppresses the findings of these rules whose stack passes its line, or the next line
// where it stands alone.
type comment struct {
	path, where string // of the file here; file:line as the report has it
	line        int    // from 1
	alone       bool
	words       []string // codes, names, beginnings of codes
	reason      string
	files       []string // what dumps call the file
}

// maxComments bounds the comments that are kept.
const maxComments = 1 << 14

// commentsOf reads the comments of the files that calls were made in.
func commentsOf(sources Sources, files map[string]string) []comment {
	if sources == nil {
		return nil
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	read := map[string]int{} // by path: where its comments begin, and end at the next
	var out []comment
	form := regexp.MustCompile(`#\s*aliascheck:\s*ignore(?:\[([^\]]*)\])?[:\s]*(.*)$`)
	for _, name := range names {
		lines, path := sources.Lines(name, files[name])
		if lines == nil {
			continue
		}
		if _, known := read[path]; known {
			for i := range out {
				if out[i].path == path {
					out[i].files = append(out[i].files, name)
				}
			}
			continue
		}
		read[path] = len(out)
		for n, line := range lines {
			m := form.FindStringSubmatchIndex(line)
			if m == nil || len(out) >= maxComments {
				continue
			}
			c := comment{path: path, where: fmt.Sprintf("%s:%d", path, n+1), line: n + 1, files: []string{name},
				alone: strings.TrimSpace(line[:m[0]]) == "", reason: strings.TrimSpace(line[m[4]:m[5]])}
			if m[2] >= 0 {
				c.words = strings.FieldsFunc(line[m[2]:m[3]], func(r rune) bool { return r == ',' || r == ' ' })
			}
			out = append(out, c)
		}
	}
	return out
}

// wrong says why a comment suppresses nothing; empty where it can.
func (c *comment) wrong() string {
	if len(c.words) == 0 {
		return "it names no rule: `# aliascheck: ignore[AC201] reason` was expected"
	}
	for _, w := range c.words {
		if err := CheckRules(w); err != nil {
			return err.Error()
		}
	}
	if c.reason == "" {
		return "it gives no reason, and suppresses nothing without"
	}
	return ""
}

func (c *comment) text() string { return "ignore[" + strings.Join(c.words, ", ") + "]" }

// fits reports whether the comment is about a finding, of a call that was made there.
func (c *comment) fits(f *Finding, at *Source) bool {
	if at == nil || !slices.ContainsFunc(c.words, func(w string) bool { return fitsRule(w, f.Code, f.Rule) }) {
		return false
	}
	here := func(file string, line int) bool {
		return (line == c.line || c.alone && line == c.line+1) && slices.Contains(c.files, file)
	}
	if here(at.File, at.Line) {
		return true
	}
	return slices.ContainsFunc(at.Own, func(n int) bool { return here(at.Stack[n].File, at.Stack[n].Line) })
}

// ignore takes out what comments suppress, and reports comments that fit nothing. A
// finding that stands for calls of several places stays where one of them has none.
func ignore(findings []Finding, comments []comment) (kept []Finding, silenced []Suppressed, stale []Stale) {
	used := make([]bool, len(comments))
	for _, f := range findings {
		by := silencing(&f, f.Source, comments, used)
		for n := range f.Callers {
			by = min(by, silencing(&f, &f.Callers[n], comments, used))
		}
		if by < 0 {
			kept = append(kept, f)
			continue
		}
		silenced = append(silenced, Suppressed{f, comments[by].where, comments[by].reason})
	}
	for n := range comments {
		c := &comments[n]
		switch wrong := c.wrong(); {
		case wrong != "":
			stale = append(stale, Stale{Where: c.where, Text: c.text(), Reason: wrong})
		case !used[n]:
			stale = append(stale, Stale{Where: c.where, Text: c.text(), Reason: "matches no finding"})
		}
	}
	return kept, silenced, stale
}

// silencing is the number of a comment that is about a finding's call, -1 for none.
func silencing(f *Finding, at *Source, comments []comment, used []bool) int {
	by := -1
	for n := range comments {
		if comments[n].wrong() == "" && comments[n].fits(f, at) {
			used[n] = true
			by = n
		}
	}
	return by
}

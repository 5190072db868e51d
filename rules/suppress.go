package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliascheck/rules/replay"
	"go.yaml.in/yaml/v3"
)

// Suppression silences the findings that fit all of what it names.
type Suppression struct {
	Where   string // file:line
	Code    string // or a rule's name
	Target  string // patterns, in which * stands for any text; empty fits all
	Kernel  string
	Operand int    // -1 fits all
	Result  string // a shape index like {1}; empty fits all
	Value   string // pattern for the name of a value; empty fits all
	Source  string // pattern for the Python file
	Reason  string
	Expires time.Time // the first day on which it no longer holds; zero: never
}

func (y *yamlFile) suppression(n *yaml.Node) Suppression {
	s := Suppression{Where: fmt.Sprintf("%s:%d", y.name, n.Line), Operand: -1}
	y.fields(n, "code, target, kernel, operand, result, value, source, reason, expires", func(key string, v *yaml.Node) bool {
		switch key {
		case "code":
			y.text(v, &s.Code)
			if _, ok := Lookup(s.Code); s.Code != "" && !ok {
				y.fail(v, "%v", unknownRule(s.Code))
			}
		case "target":
			y.text(v, &s.Target)
		case "kernel":
			y.text(v, &s.Kernel)
		case "operand":
			y.number(v, &s.Operand)
		case "result":
			y.text(v, &s.Result)
			if s.Result != "" && !strings.HasPrefix(s.Result, "{") {
				y.fail(v, "a shape index in quotes, like \"{1}\", was expected, not %q", s.Result)
			}
		case "value":
			y.text(v, &s.Value)
		case "source":
			y.text(v, &s.Source)
		case "reason":
			y.text(v, &s.Reason)
		case "expires":
			y.date(v, &s.Expires)
		default:
			return false
		}
		return true
	})
	if s.Code == "" || s.Reason == "" {
		y.fail(n, "a suppression needs a code and a reason")
	}
	if s.Target == "" && s.Kernel == "" && s.Value == "" && s.Source == "" {
		y.fail(n, "a suppression needs a scope: a target, a kernel, a value or a source")
	}
	return s
}

// fits reports whether a finding is one that the suppression names.
func (s *Suppression) fits(f *Finding) bool {
	if s.Code != f.Code && s.Code != f.Rule {
		return false
	}
	if s.Target != "" && !replay.Matches(s.Target, f.Target) || s.Kernel != "" && !replay.Matches(s.Kernel, f.Kernel) {
		return false
	}
	if s.Source != "" && !s.made(f.Source) {
		return false
	}
	if s.Value != "" && !slices.ContainsFunc(f.Values, func(v Value) bool { return replay.Matches(s.Value, v.Name) }) {
		return false
	}
	if s.Operand >= 0 && (f.Operand == nil || *f.Operand != s.Operand) {
		return false
	}
	return s.Result == "" || f.ResultIndex != nil && s.Result == IndexText(f.ResultIndex)
}

// made reports whether a call was made in the file that the suppression names: where
// the report says, or in the helper that all of its calls pass.
func (s *Suppression) made(at *Source) bool {
	return at != nil && (replay.Matches(s.Source, at.File) || at.Wrapper != nil && replay.Matches(s.Source, at.Wrapper.File))
}

// IndexText prints a shape index as XLA does: {}, {0}, {1,2}.
func IndexText(x []int) string {
	var b [32]byte
	return string(appendIndex(b[:0], x))
}

func appendIndex(b []byte, x []int) []byte {
	b = append(b, '{')
	for n, i := range x {
		if n > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(i), 10)
	}
	return append(b, '}')
}

// suppress takes the suppressed findings out, and reports suppressions that have
// expired or fitted nothing.
func suppress(findings []Finding, list []Suppression, now time.Time) (kept []Finding, silenced []Suppressed, stale []Stale) {
	used := make([]bool, len(list))
	for _, f := range findings {
		by := -1
		for n := range list {
			if list[n].fits(&f) {
				used[n] = true
				if !list[n].expired(now) {
					by = n
				}
			}
		}
		if by >= 0 {
			silenced = append(silenced, Suppressed{f, list[by].Where, list[by].Reason})
		} else {
			kept = append(kept, f)
		}
	}
	for n := range list {
		s := &list[n]
		switch {
		case s.expired(now):
			stale = append(stale, Stale{Where: s.Where, Text: s.text(), Reason: "expired on " + s.Expires.Format(time.DateOnly)})
		case !used[n]:
			stale = append(stale, Stale{Where: s.Where, Text: s.text(), Reason: "matches no finding"})
		}
	}
	return kept, silenced, stale
}

func (s *Suppression) expired(now time.Time) bool {
	return !s.Expires.IsZero() && !now.Before(s.Expires)
}

func (s *Suppression) text() string {
	parts := []string{s.Code}
	for _, p := range []string{s.Target, s.Kernel, s.Value, s.Source} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, " ")
}

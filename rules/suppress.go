package rules

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"aliascheck/rules/replay"
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

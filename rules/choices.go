package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Choices say which findings a report is to have, and how grave they are.
type Choices struct {
	Selection
	Suppressions []Suppression
	Baseline     *Baseline
	Sources      Sources // reads Python files, for comments in them; nil: none is read
	Now          time.Time
	// KeepLines lists what is known of the lines that calls pass: a shard's report has it.
	KeepLines bool
	// KeepSuppressed lists what is suppressed in the report, too.
	KeepSuppressed bool
}

// Selection chooses rules, by codes, names and beginnings of codes: AC201,
// unsafe-in-place, AC2.
type Selection struct {
	Select     []string // empty: all
	Ignore     []string // of those that are selected
	Severities []RuleSeverity
}

// RuleSeverity gives the findings of some rules a severity.
type RuleSeverity struct {
	Rules    string
	Severity Severity
}

// Sources reads the Python files that a dump names.
type Sources interface {
	// Lines returns a file's lines and its path; nil where it is not here. The function
	// is one that the file must define, where its name alone does not tell.
	Lines(file, function string) (lines []string, path string)
}

// CheckRules says what is wrong with a word that is to choose rules.
func CheckRules(word string) error {
	if slices.ContainsFunc(All(), func(r Rule) bool { return fitsRule(word, r.Code, r.Name) }) {
		return nil
	}
	return UnknownRule(word)
}

// UnknownRule is the error about a word that names no rule.
func UnknownRule(word string) error {
	if near := nearestRule(word); near != "" {
		return fmt.Errorf("no rule is called %q; did you mean %s? `aliascheck rules` lists them", word, near)
	}
	return fmt.Errorf("no rule is called %q; `aliascheck rules` lists them", word)
}

// fitsRule reports whether a word chooses a rule.
func fitsRule(word, code, name string) bool {
	return word == name || len(word) >= 2 && strings.HasPrefix(code, strings.ToUpper(word))
}

// nearestRule is the code or name that a word was probably meant to be; empty for none.
func nearestRule(word string) string {
	var names []string
	for _, r := range All() {
		names = append(names, r.Code, r.Name)
	}
	return Nearest(word, names)
}

// Nearest is the name that a word was probably meant to be: two letters differ at most;
// empty for none.
func Nearest(word string, names []string) string {
	best, least := "", 3
	for _, name := range names {
		if d := distance(strings.ToLower(word), strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts the letters that turn one word into another (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = min(before, row[j], row[j+1]) + 1
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// selects reports whether a finding is of a rule that is wanted.
func (s *Selection) selects(f *Finding) bool {
	fits := func(word string) bool { return fitsRule(word, f.Code, f.Rule) }
	return (len(s.Select) == 0 || slices.ContainsFunc(s.Select, fits)) && !slices.ContainsFunc(s.Ignore, fits)
}

// severity gives a finding the severity that was chosen for it, the last that fits.
func (s *Selection) severity(f *Finding) {
	for i := range s.Severities {
		if fitsRule(s.Severities[i].Rules, f.Code, f.Rule) {
			f.Severity = s.Severities[i].Severity
		}
	}
}

// Suppressed is a finding that was silenced, where and why.
type Suppressed struct {
	Finding
	By     string `json:"by"` // file:line
	Reason string `json:"reason"`
}

// choose sorts out the findings: those that stay, and those that were suppressed.
func (c *Choices) choose(all []Finding, comments []comment) (kept []Finding, silenced []Suppressed, stale []Stale) {
	for i := range all {
		c.severity(&all[i])
	}
	all, silenced, stale = ignore(all, comments)
	all, more, old := suppress(all, c.Suppressions, c.Now)
	silenced, stale = append(silenced, more...), append(stale, old...)
	all, more, old = c.Baseline.apply(all)
	return all, append(silenced, more...), append(stale, old...)
}

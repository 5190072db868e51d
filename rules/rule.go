// Package rules says what an audited call's facts mean.
//
// In: the calls of package alias, the kernels of package hlo/kernel, and what the
// PTX machine saw of them. Out: findings, the verdict on every pair of leaves, and
// a Report that says what was and was not audited. A rule is one file, with its
// documentation and its check; all.go lists them.
package rules

import "aliascheck/rules/replay"

// Rule is one code: its documentation, its check, and how it is confirmed.
type Rule struct {
	Code    string // "AC101"; never changes its meaning
	Name    string // "undeclared-overlap"
	Default Severity
	Summary string // one line
	Doc     Doc
	Patches []Patch // the mend as code; none where it depends on the kernel

	// Confirm is what a run of the kernel can show of a finding. The auditor asks, when
	// all rules have reported: a rule starts nothing.
	Confirm replay.Question

	// Check reports this rule's findings on one call. It is nil for rules whose
	// findings come from elsewhere: what engines saw, a log of descriptors.
	Check func(*Pass)

	// CheckModule reports this rule's findings on one module, beside its custom calls;
	// nil for rules about calls.
	CheckModule func(*ModulePass)
	// Conduct reports what an engine saw the kernel do by itself, with its buffers
	// apart, where that is what Confirm asks of. It comes after every Check, and after
	// the engines were asked of what those reported. nil: the rule has none.
	Conduct func(*Pass, *replay.Conduct)
}

// Doc is what `aliascheck explain CODE` prints. Each field is one or more
// paragraphs of plain text, without line breaks inside a paragraph.
type Doc struct {
	What  string // what is wrong
	Why   string // why it hurts
	Mend  string // how to mend it
	Wrong string // when the rule is wrong itself
}

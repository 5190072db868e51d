// Package rules says what an audited call's facts mean.
//
// In: the calls of package alias, the kernels of package hlo/kernel, and what the
// PTX machine saw of them. Out: findings, the verdict on every pair of leaves, and
// a Report that says what was and was not audited. A rule is one file, with its
// documentation and its check; all.go lists them.
package rules

// Rule is one code of DESIGN.md: its documentation, and its check.
type Rule struct {
	Code    string // "AC101"; never changes its meaning
	Name    string // "undeclared-overlap"
	Default Severity
	Summary string // one line
	Doc     Doc

	// Check reports this rule's findings on one call. It is nil for rules whose
	// findings come from elsewhere: a replay on a card, a log of descriptors.
	Check func(*Pass)

	// CheckModule reports this rule's findings on one module, beside its custom calls;
	// nil for rules about calls.
	CheckModule func(*ModulePass)
}

// Doc is what `aliascheck explain CODE` prints. Each field is one or more
// paragraphs of plain text, without line breaks inside a paragraph.
type Doc struct {
	What  string // what is wrong
	Why   string // why it hurts
	Mend  string // how to mend it
	Wrong string // when the rule is wrong itself
}

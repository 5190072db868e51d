package rules

// All lists every rule, in the order of the codes. AC901 and AC903 come from a
// replay on a card, AC401 from logs too.
func All() []Rule {
	return []Rule{
		undeclaredOverlap(),
		partialOverlap(),
		resultsOverlap(),
		liveOverwrite(),
		aliasNotHonoured(),
		badDeclaration(),
		assignmentConflict(),
		fusionResultsOverlap(),
		unsafeInPlace(),
		unclaimedResult(),
		operandWritten(),
		resultNotWritten(),
		resultReadFirst(),
		outOfBounds(),
		spareBuffer(),
		autotuneNotRestored(),
		autotuneOverwritesParameter(),
		autotuneUnreadyAddresses(),
		autotuneBadIndex(),
		tensormapInvalid(),
		lateAsyncCopy(),
		nondeterministic(),
		hang(),
		fault(),
	}
}

// Lookup returns the rule of a code or a name.
func Lookup(codeOrName string) (Rule, bool) {
	for _, r := range All() {
		if r.Code == codeOrName || r.Name == codeOrName {
			return r, true
		}
	}
	return Rule{}, false
}

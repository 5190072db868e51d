package selftest

import (
	"testing"

	"aliascheck/cudarun"
	"aliascheck/rules"

	"github.com/stretchr/testify/assert"
)

// TestEveryRuleHasAControl: each rule is shown a case, by a module of its own or by
// the engines' kernels.
func TestEveryRuleHasAControl(t *testing.T) {
	shown := map[string]bool{}
	for _, c := range ruleControlList() {
		shown[c.code] = true
	}
	for _, c := range cudarun.Controls() {
		shown[c.Code] = true
	}
	for _, r := range rules.All() {
		assert.True(t, shown[r.Code], "%s has no control", r.Code)
	}
}

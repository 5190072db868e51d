package cudarun

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Every kind of verdict has a control that must be found and one that must not,
// and every control's kernel is there.
func TestControls(t *testing.T) {
	wants := map[string]map[string]bool{}
	for _, c := range Controls() {
		assert.NoError(t, c.Plan.Check(), c.Name)
		assert.Regexp(t, regexp.MustCompile(`\.entry `+c.Plan.Kernels[0].Entry+`\(`), controlPTX)
		assert.Empty(t, ptxFits([]byte(controlPTX), 90))
		if wants[c.Code] == nil {
			wants[c.Code] = map[string]bool{}
		}
		wants[c.Code][c.Want] = true
	}
	for code, both := range wants {
		if code != "AC101" { // sums in any order: AC201's controls are found and not found
			assert.Len(t, both, 2, code)
		}
	}
}

package alias

import (
	"path/filepath"
	"testing"

	"aliascheck/hlo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOtherReader looks for who else has a use for a call's operands and results in
// dumps whose programs say it (testdata/lab/programs.py).
func TestOtherReader(t *testing.T) {
	type want struct {
		operand, result int // of the two, -1 for none
		opcode          string
	}
	for dump, cases := range map[string][]want{
		// The kernel's operand is added to its result afterwards.
		"operand_written": {{0, -1, "fusion"}, {-1, 0, "fusion"}},
		// Only result {0} is used.
		"sort_probs_half_claimed": {{-1, 0, "fusion"}, {-1, 1, ""}},
		// The result is what the program returns.
		"matmul_apart": {{-1, 0, "custom-call"}},
		// It is copied to the donated parameter's place.
		"sort_donated": {{-1, 0, "copy"}},
		// The operand is computed for the call alone.
		"scale_apart": {{0, -1, ""}},
	} {
		t.Run(dump, func(t *testing.T) {
			files, err := filepath.Glob("../testdata/dumps/" + dump + "/*after_optimizations.hlo.pb")
			require.NoError(t, err)
			require.Len(t, files, 1)
			m, err := hlo.NewReader(hlo.Limits{}).Read(hlo.Source{Path: files[0]})
			require.NoError(t, err)
			var a Analyzer
			var call *Call
			for _, c := range a.Calls(m) {
				if c.Target == "triton_kernel_call_ffi" || c.Target == "triton_kernel_call" {
					call = &c
				}
			}
			require.NotNil(t, call)
			for _, w := range cases {
				leaf := &call.Results[max(w.result, 0)]
				if w.operand >= 0 {
					leaf = &call.Operands[w.operand]
				}
				reader, ok := a.OtherReader(call, leaf.Value)
				require.Equal(t, w.opcode != "", ok, "%+v", w)
				if ok {
					assert.Equal(t, w.opcode, m.Instructions[reader].Opcode, "%+v: %s", w, m.Instructions[reader].Name)
				}
			}
		})
	}
}

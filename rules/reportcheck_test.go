package rules

import (
	"testing"

	"aliascheck/hlo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckSaysWhatIsWrongWithAReport(t *testing.T) {
	good := func() *Report {
		zero := 0
		return &Report{SchemaVersion: SchemaVersion, Findings: []Finding{{
			Code: "AC201", Severity: Error, Fingerprint: "x", Operand: &zero,
			OperandSlice: &hlo.Slice{Size: 4}, Related: []Related{{Slice: &hlo.Slice{}}},
			Map: &MemoryMap{Size: 8, Steps: 2, Values: []MapValue{{Size: 4, To: 1}}},
		}}}
	}
	require.NoError(t, good().Check())
	for want, spoil := range map[string]func(*Report){
		"schema version 7":             func(r *Report) { r.SchemaVersion = 7 },
		"summary: a count is negative": func(r *Report) { r.Summary.Modules = -1 },
		"unanalysed 0":                 func(r *Report) { r.Summary.Unanalysed = []Unanalysed{{Calls: -1}} },
		"not audited 0":                func(r *Report) { r.Summary.NotAudited = []NotAudited{{Calls: -1}} },
		"no fingerprint":               func(r *Report) { r.Findings[0].Fingerprint = "" },
		`severity "fatal"`:             func(r *Report) { r.Findings[0].Severity = "fatal" },
		"number of calls":              func(r *Report) { r.Findings[0].Calls = -2 },
		"a frame that it has not":      func(r *Report) { r.Findings[0].Source = &Source{Own: []int{0}} },
		"names a frame":                func(r *Report) { r.Findings[0].Callers = []Source{{Own: []int{-1}}} },
		"suppressed 0":                 func(r *Report) { r.Suppressed = []Suppressed{{}} },
		"no operand":                   func(r *Report) { r.Findings[0].Operand = nil },
		"a slice has negative":         func(r *Report) { r.Findings[0].OperandSlice.Size = -1 },
		"slice of a related place":     func(r *Report) { r.Findings[0].Related[0].Slice.Offset = 1 << 60 },
		"memory map has negative":      func(r *Report) { r.Findings[0].Map.Until = -1 },
		"value 0 of the memory map":    func(r *Report) { r.Findings[0].Map.Values[0].To = -1 },
	} {
		r := good()
		spoil(r)
		assert.ErrorContains(t, r.Check(), want)
	}
}

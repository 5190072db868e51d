package rules_test

import (
	"context"
	"path/filepath"
	"testing"

	"aliascheck/hlo"
	"aliascheck/hlo/kernel/triton"
	"aliascheck/rules"
	"aliascheck/rules/confirm"
	"aliascheck/rules/emulate"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// runChanged audits a dump whose module a test has changed, on the real machine.
func runChanged(t *testing.T, dump string, change func(m *hlo.Module, call *hlo.Instruction)) []rules.Finding {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../testdata/dumps", dump, "*after_optimizations.hlo.pb"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	m, err := hlo.NewReader(hlo.Limits{}).Read(hlo.Source{Path: files[0]})
	require.NoError(t, err)
	for i := range m.Instructions {
		if in := &m.Instructions[i]; in.Custom != nil && triton.IsTarget(in.Custom.Target) {
			change(m, in)
		}
	}
	runner := confirm.New(emulate.New(emulate.Options{}))
	return rules.NewAuditor(rules.Options{Runner: runner}).Module(context.Background(), m).Findings
}

func findingOf(t *testing.T, all []rules.Finding, code string) rules.Finding {
	t.Helper()
	for _, f := range all {
		if f.Code == code {
			return f
		}
	}
	require.Fail(t, "no "+code)
	return rules.Finding{}
}

// TestUndeclaredShareOfASafeKernel: a complete analysis refutes AC101.
func TestUndeclaredShareOfASafeKernel(t *testing.T) {
	all := runChanged(t, "scale_inplace", func(_ *hlo.Module, call *hlo.Instruction) { call.Custom.Declared = nil })
	require.Len(t, all, 1)
	f := findingOf(t, all, "AC101")
	assert.Equal(t, rules.Warning, f.Severity)
	assert.Equal(t, rules.Refuted, f.Confirmation)
	assert.Equal(t, "safe", f.Evidence.Emulated.Verdict)
	assert.True(t, f.Evidence.Emulated.Complete)
}

// TestUndeclaredShareOfAnUnsafeKernel: the share and the kernel are both findings,
// each with what the replay counted.
func TestUndeclaredShareOfAnUnsafeKernel(t *testing.T) {
	all := runChanged(t, "reverse_inplace", func(_ *hlo.Module, call *hlo.Instruction) { call.Custom.Declared = nil })
	for _, code := range []string{"AC101", "AC201"} {
		f := findingOf(t, all, code)
		assert.Equal(t, rules.Error, f.Severity)
		assert.Equal(t, rules.Confirmed, f.Confirmation)
		require.Len(t, f.Evidence.Emulated.Replay, 3)
		for _, run := range f.Evidence.Emulated.Replay {
			assert.Equal(t, int64(1<<19), run.Differing[0].Elements, run.Order)
		}
	}
}

// TestPartialOverlapIsReplayedWithItsShift moves the result of an elementwise kernel
// by one block of 1024 elements: each block but the last writes over what the next
// one reads.
func TestPartialOverlapIsReplayedWithItsShift(t *testing.T) {
	const shift = 4096
	all := runChanged(t, "scale_inplace", func(m *hlo.Module, call *hlo.Instruction) {
		v := &m.Values[call.FirstValue]
		v.Offset += shift
		m.Allocations[v.Allocation].Size += shift
	})
	f := findingOf(t, all, "AC102")
	assert.Equal(t, rules.Confirmed, f.Confirmation)
	e := f.Evidence.Emulated
	require.NotNil(t, e.Witness)
	assert.Equal(t, "unsafe", e.Verdict)
	require.Len(t, e.Replay, 3)
	forward, backward := e.Replay[0].Differing[0], e.Replay[1].Differing[0]
	assert.Equal(t, int64(1<<20-1024), forward.Elements, "run forward, every block but the first reads what the one before wrote")
	assert.Equal(t, int64(1024), forward.First)
	assert.Zero(t, backward.Elements, "run backward, every block reads before the one before it writes")
}

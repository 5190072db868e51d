package rules

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/triton"
	"aliascheck/rules/ptx"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// runChanged audits a dump whose module a test has changed, on the real machine.
func runChanged(t *testing.T, dump string, change func(m *hlo.Module, call *hlo.Instruction)) []Finding {
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
	runner := NewKernelAnalyzer(KernelOptions{Replay: true})
	return NewAuditor(Options{Runner: runner}).Module(context.Background(), m).Findings
}

func findingOf(t *testing.T, all []Finding, code string) Finding {
	t.Helper()
	for _, f := range all {
		if f.Code == code {
			return f
		}
	}
	require.Fail(t, "no "+code)
	return Finding{}
}

// TestUndeclaredShareOfASafeKernel: a complete analysis refutes AC101.
func TestUndeclaredShareOfASafeKernel(t *testing.T) {
	all := runChanged(t, "scale_inplace", func(_ *hlo.Module, call *hlo.Instruction) { call.Custom.Declared = nil })
	require.Len(t, all, 1)
	f := findingOf(t, all, "AC101")
	assert.Equal(t, Warning, f.Severity)
	assert.Equal(t, Refuted, f.Confirmation)
	assert.Equal(t, "safe", f.Evidence.Emulated.Verdict)
	assert.True(t, f.Evidence.Emulated.Complete)
}

// TestUndeclaredShareOfAnUnsafeKernel: the share and the kernel are both findings,
// each with what the replay counted.
func TestUndeclaredShareOfAnUnsafeKernel(t *testing.T) {
	all := runChanged(t, "reverse_inplace", func(_ *hlo.Module, call *hlo.Instruction) { call.Custom.Declared = nil })
	for _, code := range []string{"AC101", "AC201"} {
		f := findingOf(t, all, code)
		assert.Equal(t, Error, f.Severity)
		assert.Equal(t, Confirmed, f.Confirmation)
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
	assert.Equal(t, Confirmed, f.Confirmation)
	e := f.Evidence.Emulated
	require.NotNil(t, e.Witness)
	assert.Equal(t, "unsafe", e.Verdict)
	require.Len(t, e.Replay, 3)
	forward, backward := e.Replay[0].Differing[0], e.Replay[1].Differing[0]
	assert.Equal(t, int64(1<<20-1024), forward.Elements, "run forward, every block but the first reads what the one before wrote")
	assert.Equal(t, int64(1024), forward.First)
	assert.Zero(t, backward.Elements, "run backward, every block reads before the one before it writes")
}

// TestZeroedOperandIsNotRead: bytes_to_zero on a declared operand discards its old
// contents, so the autotuner's trials have nothing to destroy.
func TestZeroedOperandIsNotRead(t *testing.T) {
	dumpedPlans(t, func(name string, _ *alias.Call, p *kernelPlan) {
		if name != "scale_inplace_auto_untold" {
			return
		}
		k := NewKernelAnalyzer(KernelOptions{})
		for _, zero := range []uint64{0, 4096, 4 << 20} {
			for i := range p.Call.Configurations {
				p.Call.Configurations[i].Params[0].Zero = zero
			}
			a, err := k.analyse(context.Background(), p)
			require.NoError(t, err)
			reads, known := a.ReadsOld(0)
			assert.True(t, known)
			assert.Equal(t, zero < 4<<20, reads, "%d bytes zeroed", zero)
		}
	})
}

// TestWhatCannotBeLaunched: each is a reason, and never a verdict.
func TestWhatCannotBeLaunched(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(k *kernel.Configuration)
		reason string
	}{
		{"no PTX", func(k *kernel.Configuration) { k.PTX = nil }, "holds no PTX"},
		{"another name", func(k *kernel.Configuration) { k.Entry = "other" }, "no entry of this name"},
		{"broken PTX", func(k *kernel.Configuration) { k.PTX = k.PTX[:2000] }, "scale_kernel.ptx:"},
		{"no grid", func(k *kernel.Configuration) { k.Grid[0] = 0 }, "blocks along x"},
		{"unknown parameter", func(k *kernel.Configuration) { k.Params[0] = kernel.Param{Kind: kernel.Other, Type: "field 12"} }, "unknown kind: field 12"},
		{"descriptor made on the host", func(k *kernel.Configuration) {
			k.Params[0] = kernel.Param{Kind: kernel.TensorMaps, Maps: make([]kernel.TensorMap, 1)}
		}, "parameter 0 has 128 bytes, the entry's 8"},
		{"zeroes more than there is", func(k *kernel.Configuration) { k.Params[1].Zero = 1 << 40 }, "bytes_to_zero of parameter 1"},
		{"too many parameters", func(k *kernel.Configuration) { k.Params = append(k.Params, k.Params...) }, "parameters for an entry"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dumpedPlans(t, func(name string, _ *alias.Call, p *kernelPlan) {
				if name != "scale_inplace" {
					return
				}
				tt.change(&p.Call.Configurations[0])
				a, err := NewKernelAnalyzer(KernelOptions{}).analyse(context.Background(), p)
				require.NoError(t, err)
				ok, reason := a.Analysed()
				assert.False(t, ok)
				assert.Contains(t, reason, tt.reason)
				v := a.Pair(0, 0)
				assert.Equal(t, Unknown, v.Verdict)
				assert.Equal(t, NoBasis, v.Basis)
			})
		})
	}
}

// TestSmallBudgetSamples: a launch beyond the budget is sampled, and says so.
func TestSmallBudgetSamples(t *testing.T) {
	dumpedPlans(t, func(name string, _ *alias.Call, p *kernelPlan) {
		if name != "scale_inplace" && name != "reverse_inplace" {
			return
		}
		k := NewKernelAnalyzer(KernelOptions{Budget: ptx.Budget{Steps: 1 << 20}})
		a, err := k.analyse(context.Background(), p)
		require.NoError(t, err)
		ok, reason := a.Analysed()
		require.True(t, ok, reason)
		assert.Equal(t, Sampled, a.Runs[0].Basis)
		assert.Equal(t, Sampled, a.Pair(0, 0).Basis)
		assert.False(t, a.Pair(0, 0).Emulated.Complete)
	})
}

// TestNoTimeIsNotRemembered: what a deadline cut short is not kept for the next run.
func TestNoTimeIsNotRemembered(t *testing.T) {
	dumpedPlans(t, func(name string, c *alias.Call, p *kernelPlan) {
		if name != "matmul_apart" {
			return
		}
		dir := t.TempDir()
		k := NewKernelAnalyzer(KernelOptions{Time: 1, CacheDir: dir})
		_, reason := k.Run(context.Background(), c, p.Call)
		assert.NotEmpty(t, reason)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, entries)
	})
}

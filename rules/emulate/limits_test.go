package emulate

import (
	"context"
	"os"
	"testing"

	"aliascheck/alias"
	"aliascheck/hlo/kernel"
	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestZeroedOperandIsNotRead: bytes_to_zero on a declared operand discards its old
// contents, so the autotuner's trials have nothing to destroy.
func TestZeroedOperandIsNotRead(t *testing.T) {
	dumpedPlans(t, func(name string, _ *alias.Call, p kernelPlan) {
		if name != "scale_inplace_auto_untold" {
			return
		}
		k := New(Options{})
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
			dumpedPlans(t, func(name string, _ *alias.Call, p kernelPlan) {
				if name != "scale_inplace" {
					return
				}
				tt.change(&p.Call.Configurations[0])
				a, err := New(Options{}).analyse(context.Background(), p)
				require.NoError(t, err)
				ok, reason := a.Analysed()
				assert.False(t, ok)
				assert.Contains(t, reason, tt.reason)
				v := a.Pair(0, 0)
				assert.Equal(t, replay.Unknown, v.Verdict)
				assert.Equal(t, replay.NoBasis, v.Basis)
			})
		})
	}
}

// TestSmallBudgetSamples: a launch beyond the budget is sampled, and says so.
func TestSmallBudgetSamples(t *testing.T) {
	dumpedPlans(t, func(name string, _ *alias.Call, p kernelPlan) {
		if name != "scale_inplace" && name != "reverse_inplace" {
			return
		}
		k := New(Options{Budget: ptx.Budget{Steps: 1 << 20}})
		a, err := k.analyse(context.Background(), p)
		require.NoError(t, err)
		ok, reason := a.Analysed()
		require.True(t, ok, reason)
		assert.Equal(t, replay.Sampled, a.Runs[0].Basis)
		assert.Equal(t, replay.Sampled, a.Pair(0, 0).Basis)
		assert.False(t, a.Pair(0, 0).Emulated.Complete)
	})
}

// TestNoTimeIsNotRemembered: what a deadline cut short is not kept for the next run.
func TestNoTimeIsNotRemembered(t *testing.T) {
	dumpedPlans(t, func(name string, c *alias.Call, p kernelPlan) {
		if name != "matmul_apart" {
			return
		}
		dir := t.TempDir()
		k := New(Options{Time: 1, CacheDir: dir})
		ran := &replay.Case{Call: c, Kernel: p.Call, Plan: p.Plan}
		k.Analyse(context.Background(), ran)
		assert.NotEmpty(t, ran.Reason)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries { // but the cache's own secret
			assert.Equal(t, secretName, e.Name())
		}
	})
}

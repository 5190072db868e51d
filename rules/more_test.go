package rules_test

import (
	"fmt"
	"os"
	"path"
	"testing"

	"aliascheck/rules"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// moreDir are dumps of kernels whose verdict hangs on one thing each: an order inside a
// warp or a cluster, waiting for memory, a pipeline, a descriptor.
const moreDir = "../testdata/more"

// moreAudit audits one of them.
func moreAudit(t *testing.T, name string, kernels bool) *rules.Report {
	t.Helper()
	if kernels {
		return auditKernels(t, path.Join("../more", name))
	}
	return auditDump(t, path.Join("../more", name), rules.Options{})
}

// TestMoreDumps holds each to its line of expect.txt, without the kernels and with them.
func TestMoreDumps(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	dirs, err := os.ReadDir(moreDir)
	require.NoError(t, err)
	for _, kernels := range []bool{false, true} {
		want, seen := expectedIn(t, moreDir, kernels), 0
		for _, d := range dirs {
			if !d.IsDir() {
				continue
			}
			seen++
			t.Run(fmt.Sprintf("%s, kernels %t", d.Name(), kernels), func(t *testing.T) {
				require.Contains(t, want, d.Name(), "expect.txt does not know this dump")
				r := moreAudit(t, d.Name(), kernels)
				if diff := cmp.Diff(want[d.Name()], graver(r)); diff != "" {
					t.Errorf("findings (-want +got):\n%s", diff)
				}
			})
		}
		require.Len(t, want, seen, "expect.txt names dumps that are not there")
	}
}

// TestMoreVerdicts holds every pair's verdict to what is known of the kernels.
func TestMoreVerdicts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	for dump, want := range map[string][]string{
		"bulk_double_inplace":       {"0 {0} safe complete"},
		"cluster_swap_bare_inplace": {"0 {0} unsafe complete"},
		"cluster_swap_inplace":      {"0 {0} safe complete"},
		"counts_zeroed_inout":       {"1 {0} safe none"}, // one pointer for both: the result is the operand
		"flip_bare_inplace":         {"0 {0} unsafe complete"},
		"flip_ordered_inplace":      {"0 {0} safe complete"},
		"gather_random":             {"0 {0} unsafe inputs", "1 {0} safe complete"},
		"lookback_scan_inplace":     {"0 {0} unknown inputs"},
		"masked_pipeline_inplace":   {"0 {0} safe complete"},
		"norm_inplace_auto":         {"0 {0} safe complete"},
		"rotary_two_results":        {"0 {0} safe complete", "0 {1} safe complete", "1 {0} unsafe complete", "1 {1} safe complete"},
		"scan_rows_inplace":         {"0 {0} safe complete"},
		"shuffle_turn_inplace":      {"0 {0} safe complete"},
		"sort_rows_inplace":         {"0 {0} safe complete"},
		"tma_bf16_inplace":          {"0 {0} safe complete"},
		"transpose_bf16":            {"0 {0} unsafe complete"},
	} {
		t.Run(dump, func(t *testing.T) {
			var got []string
			for c := range moreAudit(t, dump, true).Calls.All() {
				for _, p := range c.Pairs {
					leaf := 0
					if len(p.ResultIndex) > 0 {
						leaf = p.ResultIndex[0]
					}
					got = append(got, fmt.Sprintf("%d {%d} %s %s", p.Operand, leaf, p.Verdict, p.Basis))
				}
			}
			assert.Equal(t, want, got)
		})
	}
}

// TestLookBackNamesItsWait: the reason for not knowing is the line that waits.
func TestLookBackNamesItsWait(t *testing.T) {
	r := moreAudit(t, "lookback_scan_inplace", true)
	require.Equal(t, 1, r.Calls.Len())
	require.Len(t, r.Calls[0][0].Pairs, 1)
	assert.Regexp(t, `^more_kernels\.py:59 \(PTX line \d+\): bra: the kernel is ordered by waiting for memory`, r.Calls[0][0].Pairs[0].Reason)
}

// TestRefusedDescriptors: rows 8 bytes apart, told with the value, the rule and, of a
// descriptor that the kernel builds, the line of its first use.
func TestRefusedDescriptors(t *testing.T) {
	for dump, place := range map[string]string{
		"tma_f16_stride8":    "(more_kernels.py:13)",
		"tma_f32_3d_stride8": "(more_kernels.py:21)",
		"tma_host_stride8":   "parameter 0",
	} {
		t.Run(dump, func(t *testing.T) {
			f := only(t, moreAudit(t, dump, true), "AC401")
			assert.Contains(t, f.Message, place)
			assert.Contains(t, f.Message, "globalStrides[0] is 8 and must be a multiple of 16 (rule 6)")
		})
	}
}

package rules_test

import (
	"fmt"
	"os"
	"path"
	"testing"

	"aliascheck/rules"
	"aliascheck/rules/confirm"
	"aliascheck/rules/emulate"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// auditKernels audits a dump with its kernels run and its findings replayed.
func auditKernels(t *testing.T, dump string) *rules.Report {
	t.Helper()
	return auditDump(t, dump, rules.Options{Runner: confirm.New(emulate.New(emulate.Options{}))})
}

// TestDumpsWithKernels holds every dump to what was measured of it, brackets included.
func TestDumpsWithKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	want := expected(t, true)
	dirs, err := os.ReadDir(dumpDir)
	require.NoError(t, err)
	analysed, unanalysed := 0, 0
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		t.Run(d.Name(), func(t *testing.T) {
			r := auditKernels(t, d.Name())
			if diff := cmp.Diff(want[d.Name()], graver(r)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			analysed += r.Summary.Analysed
			for _, u := range r.Summary.Unanalysed {
				if u.Target == "triton_kernel_call" || u.Target == "triton_kernel_call_ffi" {
					t.Logf("%d calls of %s: %s", u.Calls, u.Kernel, u.Reason)
					unanalysed += u.Calls
				}
			}
		})
	}
	assert.GreaterOrEqual(t, analysed*100, 95*(analysed+unanalysed), "%d of %d Triton calls analysed", analysed, analysed+unanalysed)
	assert.Equal(t, 58, analysed+unanalysed)
}

// TestWitnessLines holds a finding's reader and writer to the lines of
// testdata/lab/kernels.py that read and write.
func TestWitnessLines(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	for dump, want := range map[string]struct {
		code           string
		reader, writer int
		basis          string
	}{
		"matmul_inplace":        {"AC201", 114, 117, "complete"},
		"reverse_inplace":       {"AC201", 64, 65, "complete"},
		"sort_inplace_declared": {"AC201", 20, 21, "inputs"},
		"matmul_apart":          {"AC202", 114, 117, "complete"},
		"sort_unclaimed_ffi":    {"AC202", 20, 21, "inputs"},
	} {
		t.Run(dump, func(t *testing.T) {
			f := only(t, auditKernels(t, dump), want.code)
			require.NotNil(t, f.Evidence)
			e := f.Evidence.Emulated
			require.NotNil(t, e)
			assert.Equal(t, want.basis, e.Basis)
			assert.Equal(t, "unsafe", e.Verdict)
			require.NotNil(t, e.Witness)
			assert.Equal(t, "kernels.py", path.Base(e.Witness.Reader.File))
			assert.Equal(t, want.reader, e.Witness.Reader.Line, "reader")
			assert.Equal(t, want.writer, e.Witness.Writer.Line, "writer")
			assert.Equal(t, rules.Confirmed, f.Confirmation)
			t.Log(f.Message, "|", f.ConfirmationReason)
		})
	}
}

// only returns the one finding of a code.
func only(t *testing.T, r *rules.Report, code string) rules.Finding {
	t.Helper()
	var found []rules.Finding
	for _, f := range r.Findings {
		if f.Code == code {
			found = append(found, f)
		}
	}
	require.Len(t, found, 1, code)
	return found[0]
}

// TestPairVerdicts holds the verdicts in `calls` to what is known of the kernels.
func TestPairVerdicts(t *testing.T) {
	for dump, want := range map[string][]string{
		"softmax_inplace":        {"0 safe complete"},
		"scale_inplace":          {"0 safe complete"},
		"axpby_inplace":          {"0 safe complete", "1 safe complete"},
		"matmul_inplace":         {"0 unsafe complete", "1 unsafe complete"},
		"stencil_inplace":        {"0 unsafe complete"},
		"transpose_apart":        {"0 unsafe complete"},
		"tma_copy":               {"0 safe complete"},
		"sort_inplace_declared":  {"0 unsafe inputs"},
		"sort_unclaimed_v2_auto": {"0 unsafe inputs"},
	} {
		t.Run(dump, func(t *testing.T) {
			r := auditKernels(t, dump)
			var got []string
			for c := range r.Calls.All() {
				for _, p := range c.Pairs {
					got = append(got, fmt.Sprintf("%d %s %s", p.Operand, p.Verdict, p.Basis))
				}
			}
			assert.Equal(t, want, got)
		})
	}
}

// TestReplaysOfDumps: what was wrong on the card is wrong on the machine too.
func TestReplaysOfDumps(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	for dump, want := range map[string]struct {
		code, order string
		least       int64 // elements that differ, in the order that shows most
	}{
		"sort_inplace_declared":     {"AC201", "forward", 1 << 20},
		"reverse_inplace":           {"AC201", "forward", 1 << 18},
		"scale_inplace_auto_untold": {"AC301", "autotuner trials", 1 << 20},
		"sort_donated_ffi_auto":     {"AC302", "autotuner trials", 1 << 20},
	} {
		t.Run(dump, func(t *testing.T) {
			f := only(t, auditKernels(t, dump), want.code)
			assert.Equal(t, rules.Confirmed, f.Confirmation)
			var most int64
			for _, run := range f.Evidence.Emulated.Replay {
				for _, d := range run.Differing {
					most = max(most, d.Elements)
				}
			}
			assert.GreaterOrEqual(t, most, want.least, f.ConfirmationReason)
			t.Log(f.ConfirmationReason)
		})
	}
}

package rules_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aliascheck/hlo"
	"aliascheck/rules"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

const dumpDir = "../testdata/dumps"

// expected reads the dumps' expect.txt.
func expected(t *testing.T, kernels bool) map[string][]string {
	t.Helper()
	return expectedIn(t, dumpDir, kernels)
}

// expectedIn reads a folder's expect.txt: lines of findings by case. kernels says
// whether what only running the kernels can show is owed too.
func expectedIn(t *testing.T, dir string, kernels bool) map[string][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "expect.txt"))
	require.NoError(t, err)
	defer f.Close()
	out := map[string][]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		line, owed := strings.CutPrefix(s.Text(), "kernel ")
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, finding, _ := strings.Cut(line, " ")
		if out[name] == nil {
			out[name] = []string{}
		}
		if finding != "-" && (!owed || kernels) {
			out[name] = append(out[name], finding)
		}
	}
	return out
}

// auditDump audits one folder of testdata/dumps.
func auditDump(t *testing.T, name string, o rules.Options) *rules.Report {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dumpDir, name, "*.hlo.pb"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	reader, auditor, c := hlo.NewReader(hlo.Limits{}), rules.NewAuditor(o), rules.NewCollector()
	for _, file := range files {
		m, err := reader.Read(hlo.Source{Path: file})
		require.NoError(t, err)
		c.Add(auditor.Module(context.Background(), m))
	}
	return c.Report(rules.Tool{Name: "aliascheck"}, rules.Choices{Now: time.Now()})
}

// graver lists a report's findings of severity warning or worse as expect.txt does.
func graver(r *rules.Report) []string {
	out := []string{}
	for _, f := range r.Findings {
		if !f.Severity.AtLeast(rules.Warning) {
			continue
		}
		operand := "-"
		if f.Operand != nil {
			operand = fmt.Sprint(*f.Operand)
		}
		out = append(out, fmt.Sprintf("%s %s %s %d", f.Code, f.Severity, operand, f.Calls))
	}
	slices.Sort(out)
	return out
}

func TestDumpsWithoutKernels(t *testing.T) {
	want := expected(t, false)
	dirs, err := os.ReadDir(dumpDir)
	require.NoError(t, err)
	seen := 0
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		seen++
		t.Run(d.Name(), func(t *testing.T) {
			require.Contains(t, want, d.Name(), "expect.txt does not know this dump")
			r := auditDump(t, d.Name(), rules.Options{})
			if diff := cmp.Diff(want[d.Name()], graver(r)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
	require.Len(t, want, seen, "expect.txt names dumps that are not there")
}

// TestConfigurationsAreCounted: of one kernel, of an autotuned call, of none; the
// same with and without running them.
func TestConfigurationsAreCounted(t *testing.T) {
	for dump, want := range map[string]int{"scale_inplace": 1, "scale_apart": 1, "sort_kept_ffi_auto": 3, "host_callback": 0} {
		r := auditDump(t, dump, rules.Options{})
		last := r.Calls[len(r.Calls)-1]
		require.Equal(t, want, last[len(last)-1].Configurations, dump)
	}
}

// TestPallasIsNotLibrary: a kernel that XLA compiled from Pallas is the user's, and
// nobody has looked at it where its PTX is not in the dump.
func TestPallasIsNotLibrary(t *testing.T) {
	r := auditKernels(t, "pallas_triton")
	reason := "its PTX is not in the dump: add --xla_dump_emitter_re=ptx"
	require.Equal(t, []rules.Unanalysed{
		{Target: "__gpu$xla.gpu.triton", Kernel: "rev", Calls: 1, Reason: reason},
		{Target: "__gpu$xla.gpu.triton", Kernel: "scale", Calls: 1, Reason: reason},
	}, r.Summary.Unanalysed)
	require.Zero(t, r.Summary.Library)
}

package cudarun

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Reports that compute-sanitizer of CUDA 13.0 wrote on an H200.
func TestSanitizerReports(t *testing.T) {
	for _, c := range []struct {
		file, tool       string
		errors, warnings int64
		hazards          []Hazard
	}{
		{"late_copy", "racecheck", 0, 1, []Hazard{{
			Severity: "warning", Count: 524288,
			Text:   "Warning: Race reported between Write access at late_copy_kernel+0xf50; and Write access at late_copy_kernel+0x1140 [524288 hazards]",
			Places: []CodePlace{{Kernel: "late_copy_kernel", Offset: "0xf50"}, {Kernel: "late_copy_kernel", Offset: "0x1140"}},
		}}},
		{"clean", "racecheck", 0, 0, nil},
		{"stray_read", "memcheck", 232128, 0, []Hazard{{
			Severity: "error", Count: 3,
			Text: "Invalid __global__ read of size 4 bytes; at stray_read_kernel+0xe0; by thread (0,0,0) in block (8,0,0); " +
				"Access to 0x7fea8aa02000 is out of bounds; and is 68,583,169,537 bytes after the nearest allocation at 0x7fda92c00000 of size 512 bytes",
			Places: []CodePlace{{Kernel: "stray_read_kernel", Offset: "0xe0"}},
		}}},
		{"clean", "memcheck", 0, 0, nil},
	} {
		f, err := os.Open(filepath.Join("testdata", "sanitizer", c.file+"."+c.tool+".txt"))
		require.NoError(t, err)
		defer f.Close()
		r, err := parseSanitizer(f, c.tool)
		require.NoError(t, err, "%s %s", c.file, c.tool)
		assert.Equal(t, &SanitizerReport{Tool: c.tool, Errors: c.errors, Warnings: c.warnings, Hazards: c.hazards}, r)
	}
}

func TestSanitizerReportWords(t *testing.T) {
	for _, c := range []struct {
		name, tool, text, trouble string
		places                    []CodePlace
	}{
		{"no summary", "memcheck", "========= COMPUTE-SANITIZER\n", "no summary", nil},
		{"nothing", "racecheck", "", "no summary", nil},
		{"another tool's summary", "racecheck", "========= ERROR SUMMARY: 0 errors\n", "no summary", nil},
		{"only how many were left out", "memcheck", "========= ERROR SUMMARY: 100 errors were not printed. Use --print-limit option\n", "no summary", nil},
		{"the tool itself failed", "memcheck", "========= Error: Target application terminated before first instrumented API call\n========= ERROR SUMMARY: 0 errors\n",
			"terminated before", nil},
		{"no such device", "memcheck", "========= Error: Device not supported.\n", "not supported", nil},
		{"its own mistake", "memcheck", "========= Internal Sanitizer Error: x\n========= ERROR SUMMARY: 1 error\n", "Internal", nil},
		{"a line of Python", "racecheck", "========= Error: Race reported between Read access at k+0x10 in /a b/kernels.py:81\n=========     and Write access at k+0x20 in kernels.py:82 [3 hazards]\n" +
			"=========\n========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n", "",
			[]CodePlace{{"k", "0x10", "/a b/kernels.py", 81}, {"k", "0x20", "kernels.py", 82}}},
		{"older words", "memcheck", "========= Invalid __global__ write of size 4 bytes\n=========     at 0x70 in kernels.cu:12:k(int*)\n========= ERROR SUMMARY: 1 error\n", "",
			[]CodePlace{{"k(int*)", "0x70", "kernels.cu", 12}}},
		{"older still", "memcheck", "========= Invalid __global__ write of size 4 bytes\n=========     at 0x70 in k\n========= ERROR SUMMARY: 1 error\n", "",
			[]CodePlace{{Kernel: "k", Offset: "0x70"}}},
		{"what the program prints is not the tool's", "memcheck", "ERROR SUMMARY: 0 errors\n=== ERROR SUMMARY: 0 errors\n", "no summary", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := parseSanitizer(strings.NewReader(c.text), c.tool)
			if c.trouble != "" {
				assert.ErrorContains(t, err, c.trouble)
				return
			}
			require.NoError(t, err)
			require.Len(t, r.Hazards, 1)
			assert.Equal(t, c.places, r.Hazards[0].Places)
			assert.Equal(t, int64(1), r.Errors)
		})
	}
}

func FuzzSanitizerReport(f *testing.F) {
	files, err := filepath.Glob("testdata/sanitizer/*.txt")
	require.NoError(f, err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(b), strings.Contains(file, "race"))
	}
	f.Fuzz(func(t *testing.T, text string, race bool) {
		tool := "memcheck"
		if race {
			tool = "racecheck"
		}
		r, err := parseSanitizer(strings.NewReader(text), tool)
		if err != nil {
			return
		}
		assert.Contains(t, text, "SUMMARY:", "a report without a summary is never clean")
		assert.LessOrEqual(t, len(r.Hazards), maxHazards)
		for _, h := range r.Hazards {
			assert.NotZero(t, h.Count)
			assert.LessOrEqual(t, len(h.Places), maxSpots)
		}
	})
}

// fakeSanitizer is a wrapper that runs the worker and writes a report, or not.
func fakeSanitizer(t *testing.T, report string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "compute-sanitizer")
	script := "#!/bin/sh\nlog=$4\nshift 6\n\"$@\"\n"
	if report != "" {
		script += fmt.Sprintf("cat > \"$log\" <<'END'\n%s\nEND\n", report)
	}
	require.NoError(t, os.WriteFile(path, []byte(script), 0o755))
	return path
}

func TestSanitize(t *testing.T) {
	plan := pairPlan("scale", testElements, true, true)
	warning := "========= Warning: Race reported between Write access at scale+0x10\n=========     and Write access at scale+0x20 [8 hazards]\n" +
		"========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)"
	r, err := Sanitize(context.Background(), fakeOptions("fake"), fakeSanitizer(t, warning), "racecheck", &plan)
	require.NoError(t, err)
	assert.Equal(t, int64(1), r.Warnings, "its exit code is 0, its words are not")
	assert.Equal(t, int64(8), r.Hazards[0].Count)
	require.NotNil(t, r.Outcome)
	assert.Empty(t, r.Outcome.Configurations[0].Reason)

	_, err = Sanitize(context.Background(), fakeOptions("fake"), fakeSanitizer(t, ""), "racecheck", &plan)
	assert.ErrorContains(t, err, "it wrote no report")
	_, err = Sanitize(context.Background(), fakeOptions("fake"), fakeSanitizer(t, "========= COMPUTE-SANITIZER"), "racecheck", &plan)
	assert.ErrorContains(t, err, "no summary")
	_, err = Sanitize(context.Background(), fakeOptions("fake"), "sanitizer", "spellcheck", &plan)
	assert.ErrorContains(t, err, `no tool "spellcheck"`)
	_, err = Sanitize(context.Background(), fakeOptions("dead"), fakeSanitizer(t, ""), "memcheck", &plan)
	assert.ErrorContains(t, err, "no luck today")

	fault := pairPlan("fault", testElements, true, true)
	r, err = Sanitize(context.Background(), fakeOptions("fake"), fakeSanitizer(t, "========= Invalid __global__ read of size 4 bytes\n"+
		"=========     at fault+0x10 in kernels.py:7\n========= ERROR SUMMARY: 1 error"), "memcheck", &fault)
	require.NoError(t, err)
	assert.Equal(t, StopFault, r.Outcome.Configurations[0].Stop.Kind)
	assert.Equal(t, 7, r.Hazards[0].Places[0].Line)
}

// The plain run under a tool leaves nothing behind either.
func TestSanitizeRun(t *testing.T) {
	for _, entry := range []string{"scale", "mutate", "half", "refused"} {
		d := newFake()
		p := pairPlan(entry, testElements, true, true)
		p.Kernels[0].Params = append(p.Kernels[0].Params[:2:2], Param{Kind: ParamScratch, Bytes: 64}, p.Kernels[0].Params[2])
		var out Outcome
		err := sanitizeRun(d, &p, helperDeadline, &out)
		assert.Equal(t, entry == "refused", err != nil, "%v", err)
		d.lost = false
		assert.Empty(t, d.leaks())
		assert.Len(t, d.launches, 1)
	}
}

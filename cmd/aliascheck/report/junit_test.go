package report

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"aliascheck/rules"

	"github.com/joshdk/go-junit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readJUnit(t *testing.T, r *rules.Report, o Options) []junit.Suite {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, JUnit(&out, r, o))
	suites, err := junit.Ingest(out.Bytes())
	require.NoError(t, err)
	return suites
}

func TestJUnitTellsOutcomesApart(t *testing.T) {
	suites := readJUnit(t, sample(), Options{SrcRoot: "/home/me/project"})
	require.Len(t, suites, 3)

	notes, sort, broken := suites[0], suites[1], suites[2]
	assert.Equal(t, "jit_notes", notes.Name)
	assert.Equal(t, junit.StatusPassed, notes.Tests[0].Status, "a note does not fail")
	assert.Contains(t, notes.Tests[0].SystemOut, "AC202")
	assert.Equal(t, junit.StatusSkipped, notes.Tests[1].Status)
	assert.Equal(t, "its kernel is not in the dump", notes.Tests[1].Message)

	assert.Equal(t, "jit_sort", sort.Name)
	failed := sort.Tests[0]
	assert.Equal(t, junit.StatusFailed, failed.Status)
	assert.Equal(t, "call.1: _sort_chunks", failed.Name)
	assert.Equal(t, "tests/test_sort.py", failed.Properties["file"])
	assert.Equal(t, "81", failed.Properties["line"])
	text := failed.Error.(junit.Error).Body
	assert.Contains(t, text, "AC201 unsafe-in-place")
	assert.Contains(t, text, "tests/test_sort.py::test_grad")
	assert.NotContains(t, text, "AC301", "a warning is no failure")
	assert.Contains(t, failed.SystemOut, "AC301")
	assert.Equal(t, junit.StatusPassed, sort.Tests[1].Status)
	assert.Equal(t, junit.StatusSkipped, sort.Tests[2].Status)
	assert.Equal(t, "1 finding suppressed", sort.Tests[2].Message)
	assert.Equal(t, 1, sort.Totals.Failed)
	assert.Equal(t, 1, sort.Totals.Skipped)
	assert.Equal(t, 1, sort.Totals.Passed)

	assert.Equal(t, junit.StatusError, broken.Tests[0].Status)
	assert.Equal(t, "field 3 at byte 120 is cut off", broken.Tests[0].Message)
}

func TestJUnitFailsFromTheGatesSeverity(t *testing.T) {
	for _, test := range []struct {
		failOn rules.Severity
		failed int
	}{{"", 1}, {rules.Error, 1}, {rules.Warning, 1}, {rules.Note, 2}, {"never", 0}} {
		failed := 0
		for _, s := range readJUnit(t, sample(), Options{FailOn: test.failOn}) {
			failed += s.Totals.Failed
		}
		assert.Equal(t, test.failed, failed, "fail on %q", test.failOn)
	}
}

func TestJUnitOfNothing(t *testing.T) {
	assert.Empty(t, readJUnit(t, &rules.Report{}, Options{}))
}

func TestJUnitOfHostileNames(t *testing.T) {
	suites := readJUnit(t, hostile(), Options{})
	require.NotEmpty(t, suites)
	assert.Equal(t, Clean(hostileName()), suites[0].Name, "a name comes back as it was shown")
	tests := 0
	for _, s := range suites {
		tests += len(s.Tests)
	}
	assert.Equal(t, 6, tests, "no name makes another case")
}

// pythonReader reads JUnit as Python's CI tools do, and prints what it saw.
const pythonReader = `
import sys, junitparser
xml = junitparser.JUnitXml.fromstring(sys.stdin.buffer.read())
print(xml.tests, xml.failures, xml.errors, xml.skipped)
for suite in xml:
    for case in suite:
        print(suite.name, case.name, ",".join(type(r).__name__ for r in case.result) or "passed", sep="|")
`

func TestJUnitIsReadByPython(t *testing.T) {
	if out, err := exec.Command("python3", "-c", "import junitparser").CombinedOutput(); err != nil {
		t.Skipf("python3 has no junitparser (pip install junitparser): %v %s", err, out)
	}
	var doc bytes.Buffer
	require.NoError(t, JUnit(&doc, sample(), Options{}))
	cmd := exec.Command("python3", "-c", pythonReader)
	cmd.Stdin = &doc
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, strings.TrimSpace(`
6 1 1 2
jit_notes|call.1: k|passed
jit_notes|call.2: my_ffi_call|Skipped
jit_sort|call.1: _sort_chunks|Failure
jit_sort|call.2: __cublas$gemm|passed
jit_sort|call.3: k|Skipped
dump/module_0007.jit_f.hlo.pb|dump/module_0007.jit_f.hlo.pb|Error`), strings.TrimSpace(string(out)))
}

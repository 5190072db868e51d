package report

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"aliascheck/rules"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// validSARIF writes a report, holds it against the official schema, and reads it back.
func validSARIF(t *testing.T, r *rules.Report, o Options) *sarif.Run {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, SARIF(&out, r, o))
	checkSchema(t, out.Bytes())
	back, err := sarif.FromBytes(out.Bytes())
	require.NoError(t, err)
	require.Len(t, back.Runs, 1)
	return back.Runs[0]
}

func checkSchema(t *testing.T, doc []byte) {
	t.Helper()
	require.NoError(t, holdAgainstSchema(t, doc))
}

func holdAgainstSchema(t *testing.T, doc []byte) error {
	t.Helper()
	file, err := os.Open("testdata/sarif/sarif-schema-2.1.0.json")
	require.NoError(t, err)
	defer file.Close()
	schema, err := jsonschema.UnmarshalJSON(file)
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("sarif.json", schema))
	compiled, err := c.Compile("sarif.json")
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	require.NoError(t, err)
	return compiled.Validate(value)
}

func TestTheSchemaRefuses(t *testing.T) {
	for _, doc := range []string{
		`{"version":"2.1.0"}`,
		`{"version":"2.1.0","runs":[{"tool":{}}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"m"},"level":"fatal"}]}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"m"},"locations":[{"physicalLocation":{"region":{"startLine":0}}}]}]}]}`,
	} {
		assert.Error(t, holdAgainstSchema(t, []byte(doc)), doc)
	}
}

func TestSARIFSurvivesARoundTrip(t *testing.T) {
	run := validSARIF(t, sample(), Options{SrcRoot: "/home/me/project"})
	require.Len(t, run.Results, 4, "three findings, and one that is suppressed")
	assert.Equal(t, len(rules.All()), len(run.Tool.Driver.Rules))

	first := run.Results[0]
	assert.Equal(t, "AC201", *first.RuleID, "the gravest comes first")
	assert.Equal(t, "AC201", *run.Tool.Driver.Rules[first.RuleIndex].ID)
	assert.Equal(t, "error", first.Level)
	assert.Equal(t, 12, *first.OccurrenceCount)
	place := first.Locations[0].PhysicalLocation
	assert.Equal(t, "tests/test_sort.py", *place.ArtifactLocation.URI)
	assert.Equal(t, "SRCROOT", *place.ArtifactLocation.URIBaseID)
	assert.Equal(t, 81, *place.Region.StartLine)
	assert.Equal(t, "f-error:1", first.PartialFingerprints["primaryLocationLineHash"])
	assert.Equal(t, "f-error", first.PartialFingerprints["aliascheck/v1"])

	require.Len(t, first.RelatedLocations, 2)
	assert.Equal(t, "kernels/sort.py", *first.RelatedLocations[0].PhysicalLocation.ArtifactLocation.URI)
	assert.Equal(t, "reader: block 3, thread 17", *first.RelatedLocations[0].Message.Text)
	assert.Equal(t, 52, *first.RelatedLocations[1].PhysicalLocation.Region.StartLine)
	require.Len(t, first.Stacks, 1)
	assert.Equal(t, "usr/lib/python3/site-packages/jax/_src/core.py",
		*first.Stacks[0].Frames[0].Location.PhysicalLocation.ArtifactLocation.URI)

	assert.Equal(t, "note", run.Results[2].Level)
	assert.Equal(t, "dump/a.hlo.pb", *run.Results[2].Locations[0].PhysicalLocation.ArtifactLocation.URI,
		"without a Python line the dump has to do: GitHub drops results without a file")

	require.Len(t, run.Invocations, 1)
	assert.False(t, *run.Invocations[0].ExecutionSuccessful, "one input was not read whole")
	assert.Equal(t, "error", run.Invocations[0].ToolExecutionNotifications[0].Level)
}

func TestSARIFOfNothingIsValid(t *testing.T) {
	run := validSARIF(t, &rules.Report{Tool: rules.Tool{Name: "aliascheck"}}, Options{})
	assert.Empty(t, run.Results)
	assert.True(t, *run.Invocations[0].ExecutionSuccessful)
}

func TestSARIFOfHostileNamesIsValid(t *testing.T) {
	run := validSARIF(t, hostile(), Options{SrcRoot: "."})
	require.Len(t, run.Results, 4, "three findings, and one that is suppressed")
	for _, result := range run.Results {
		assert.NotContains(t, *result.Message.Text, "](", "an embedded link")
		assert.NotContains(t, *result.Message.Text, "\x1b")
		assert.NotContains(t, *result.Message.Text, "\u202e")
		assert.Equal(t, 1, *result.Locations[0].PhysicalLocation.Region.StartLine, "lines begin at 1")
	}
}

func TestSARIFStaysWithinGitHubsCount(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	r := many(sarifMaxResults + 1)
	run := validSARIF(t, r, Options{})
	assert.Len(t, run.Results, sarifMaxResults)
	assert.Equal(t, "error", run.Results[0].Level, "the gravest are kept")
	assert.Contains(t, *run.Invocations[0].ToolExecutionNotifications[0].Message.Text, "25000 of 25001 findings are here")
}

func TestSARIFStaysWithinGitHubsSize(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	r := many(4000)
	noise := rand.NewChaCha8([32]byte{1})
	random := make([]byte, 2500)
	for i := range r.Findings {
		noise.Read(random)
		r.Findings[i].Message = hex.EncodeToString(random) // halves when compressed
	}
	var out, zipped bytes.Buffer
	require.NoError(t, SARIF(&out, r, Options{}))
	z := gzip.NewWriter(&zipped)
	z.Write(out.Bytes())
	require.NoError(t, z.Close())
	assert.Less(t, zipped.Len(), sarifMaxPacked)
	assert.Greater(t, zipped.Len(), sarifMaxPacked*8/10, "what there is room for should be used")
	assert.Contains(t, out.String(), "of 4000 findings are here")
	checkSchema(t, out.Bytes())
}

func TestArtifact(t *testing.T) {
	for _, test := range []struct{ file, root, uri, base string }{
		{"/src/a/b.py", "/src", "a/b.py", "SRCROOT"},
		{"/src/a/b.py", "/src/", "a/b.py", "SRCROOT"},
		{"/srcs/b.py", "/src", "srcs/b.py", "FILESYSTEM"},
		{"a b/%20.py", "", "a%20b/%2520.py", "SRCROOT"},
		{"/a b.py", "", "a%20b.py", "FILESYSTEM"},
		{"c:evil", "", "c%3Aevil", "SRCROOT"},
		{"javascript:alert(1)//", "", "javascript%3Aalert%281%29", "SRCROOT"},
		{"https://evil.example/x.py", "", "https%3A/evil.example/x.py", "SRCROOT"},
		{"//evil.example/x.py", "", "evil.example/x.py", "FILESYSTEM"},
		{"../../etc/passwd", "", "etc/passwd", "SRCROOT"},
		{"/src/../../etc/passwd", "/src", "etc/passwd", "SRCROOT"},
		{"a/%2e%2e/b.py", "", "a/%252e%252e/b.py", "SRCROOT"},
		{`C:\..\x.py`, "", "C%3A%5C..%5Cx.py", "SRCROOT"},
		{"<a\"\n\x00\xff?#>.py", "", "%3Ca%22%0A%00%FF%3F%23%3E.py", "SRCROOT"},
		{"", "", "unknown", "SRCROOT"},
		{"/", "", "unknown", "FILESYSTEM"},
		{"..", "", "unknown", "SRCROOT"},
	} {
		got := artifact(test.file, test.root)
		assert.Equal(t, sarifArtifact{URI: test.uri, Base: test.base}, got, "%s below %s", test.file, test.root)
	}
}

// many is a report of n findings; the first is an error, the rest are warnings.
func many(n int) *rules.Report {
	r := &rules.Report{Tool: rules.Tool{Name: "aliascheck"}}
	for i := range n {
		r.Findings = append(r.Findings, rules.Finding{
			Code: "AC201", Rule: "unsafe-in-place", Severity: rules.Warning, Fingerprint: fmt.Sprintf("%020x", i),
			Module: fmt.Sprintf("jit_%d", i), Instruction: "call.1", Target: "t", Kernel: "k", Calls: 1,
			Source:  &rules.Source{File: "a.py", Line: i + 1},
			Message: strings.Repeat("m", 20), Confirmation: rules.Unchecked,
		})
	}
	r.Findings[n-1].Severity = rules.Error
	r.Summary = rules.Summary{Modules: n, CustomCalls: n, Errors: 1, Warnings: n - 1}
	return r
}

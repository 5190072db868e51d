package main

import (
	"bytes"
	stdcmp "cmp"
	"encoding/json"
	"path/filepath"
	"testing"

	"aliascheck/alias"
	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/diff"
	"aliascheck/hlo"
	"aliascheck/hlo/hlotest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// diffOf runs aliascheck diff and reads its JSON.
func diffOf(t *testing.T, old, new string, flags ...string) (*diff.Report, int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{"diff", "--quiet", "--format", "json"}, flags...)
	code := run(append(args, old, new), nil, &stdout, &stderr)
	require.Empty(t, stderr.String())
	var r diff.Report
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &r))
	return &r, code
}

func dumpPath(name string) string { return filepath.Join("..", "..", "testdata", "dumps", name) }

func TestDiffOfADumpWithItselfIsEmpty(t *testing.T) {
	r, code := diffOf(t, dumpPath(""), dumpPath(""))
	assert.Equal(t, cli.ExitClean, code)
	assert.True(t, r.Same())
	assert.Equal(t, r.Old.CustomCalls, r.New.CustomCalls)
	assert.Greater(t, r.Old.CustomCalls, 100)
}

// mutation bends one kernel call of a dump.
type mutation struct {
	name, dump  string
	instruction string // empty: lab_triton_call.1
	bend        func(t *testing.T, d *hlotest.Dump, c *alias.Call)
	want        []diff.Change // the verdicts apart, which follow from the rest
	verdict     []string
}

func mutations() []mutation {
	return []mutation{
		{
			name: "a result in the place of its operand", dump: "scale_apart",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) { moveResult(t, d, c, c.Operands[0].Slice, 0) },
			want: []diff.Change{
				{What: "sharing", Removed: []string{}, Added: []string{"operand 0 and the result have the same bytes"}},
				{What: "memory", Removed: []string{"the result: temporary"}, Added: []string{"the result: temporary, output"}},
			},
			verdict: []string{"AC101 undeclared-overlap (error)"},
		},
		{
			name: "a result some bytes behind its operand", dump: "scale_inplace",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) { moveResult(t, d, c, c.Operands[0].Slice, 4) },
			want: []diff.Change{
				{What: "sharing", Removed: []string{"operand 0 and the result have the same bytes"}, Added: []string{"operand 0 and the result overlap, the second begins 4 bytes behind the first"}},
			},
			verdict: []string{"AC102 partial-overlap (error)"},
		},
		{
			name: "a declared pair taken apart", dump: "scale_inplace",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				size := c.Results[0].Slice.Size
				moveResult(t, d, c, hlo.Slice{Allocation: d.NewAllocation(size), Size: size}, 0)
			},
			want: []diff.Change{
				{What: "sharing", Removed: []string{"operand 0 and the result have the same bytes"}, Added: []string{}},
				{What: "memory", Removed: []string{"the result: temporary, output"}, Added: []string{"the result: temporary"}},
			},
			verdict: []string{"AC105 alias-not-honoured (error)"},
		},
		{
			name: "a declaration that names no leaf", dump: "axpby_inplace",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				in := &c.Module.Instructions[c.Instruction]
				require.NoError(t, d.Redeclare(in.ID, in.Name, 99))
			},
			want: []diff.Change{
				{What: "declared", Removed: []string{"{}: (0, {})"}, Added: []string{"{}: (99, {}), the call has no operand 99 leaf {}"}},
			},
			verdict: []string{"AC101 undeclared-overlap (error)", "AC106 bad-declaration (error)"},
		},
		{
			name: "two results in one place", dump: "sort_probs_half_claimed", instruction: "lab_triton_call.3",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				require.NoError(t, d.Move(c.Module.Values[c.Results[1].Value].ID, c.Results[0].Slice.Allocation, c.Results[0].Slice.Offset, c.Results[1].Slice.Size))
			},
			want: []diff.Change{
				{What: "sharing", Removed: []string{}, Added: []string{"operand 3 and result {1} begin together and differ in size", "result {0} and result {1} begin together and differ in size"}},
			},
			verdict: []string{"AC103 results-overlap (error)"},
		},
		{
			name: "a result over a value that is needed later", dump: "operand_written",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) { moveResult(t, d, c, c.Operands[0].Slice, 0) },
			want: []diff.Change{
				{What: "sharing", Removed: []string{}, Added: []string{"operand 0 and the result have the same bytes", "the result is written over the value of a fusion: a later instruction reads it"}},
				{What: "memory", Removed: []string{"the result: temporary"}, Added: []string{"the result: temporary, output"}},
			},
			verdict: []string{"AC101 undeclared-overlap (error)", "AC104 live-overwrite (error)"},
		},
		{
			name: "a result over a parameter that the caller keeps", dump: "sort_in_cond",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) { moveResult(t, d, c, c.Operands[0].Slice, 0) },
			want: []diff.Change{
				{What: "sharing", Removed: []string{}, Added: []string{"operand 0 and the result have the same bytes", "the result is written over the value of a parameter: it is a parameter that the caller keeps"}},
				{What: "memory", Removed: []string{"the result: temporary, output"}, Added: []string{"the result: parameter"}},
			},
			verdict: []string{"AC101 undeclared-overlap (error)", "AC104 live-overwrite (error)", "AC201 unsafe-in-place (error)"},
		},
		{
			name: "a result in a loop over a value from outside", dump: "sort_in_loop",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) { moveResult(t, d, c, c.Operands[1].Slice, 0) },
			want: []diff.Change{
				{What: "sharing", Removed: []string{}, Added: []string{"operand 1 and the result begin together and differ in size", "the result is written over the value of a parameter: it is a parameter that the caller keeps"}},
				{What: "memory", Removed: []string{"the result: temporary"}, Added: []string{"the result: parameter"}},
			},
			verdict: []string{"AC102 partial-overlap (error)", "AC104 live-overwrite (error)"},
		},
	}
}

func moveResult(t *testing.T, d *hlotest.Dump, c *alias.Call, to hlo.Slice, shift int64) {
	t.Helper()
	l := &c.Results[0]
	require.NoError(t, d.Move(c.Module.Values[l.Value].ID, to.Allocation, to.Offset+shift, l.Slice.Size))
}

func TestDiffOfAMutatedDumpIsTheMutation(t *testing.T) {
	for _, mu := range mutations() {
		t.Run(mu.name, func(t *testing.T) {
			d, err := hlotest.Load(dumpPath(mu.dump))
			require.NoError(t, err)
			old, new := t.TempDir(), t.TempDir()
			_, err = d.WriteProto(old)
			require.NoError(t, err)
			bendCall(t, d, old, &mu)
			_, err = d.WriteProto(new)
			require.NoError(t, err)

			r, code := diffOf(t, old, new)
			assert.Equal(t, cli.ExitFindings, code)
			assert.Empty(t, r.Removed)
			assert.Empty(t, r.Added)
			require.Len(t, r.Changed, 1)
			var got, verdicts []diff.Change
			for _, c := range r.Changed[0].Changes {
				if c.What == "verdict" {
					verdicts = append(verdicts, c)
				} else {
					got = append(got, c)
				}
			}
			assert.Empty(t, cmp.Diff(mu.want, got))
			require.Len(t, verdicts, 1)
			assert.Equal(t, mu.verdict, verdicts[0].Added)

			back, _ := diffOf(t, new, old)
			assert.Equal(t, mu.verdict, back.Changed[0].Changes[len(back.Changed[0].Changes)-1].Removed, "the other way round")
		})
	}
}

func bendCall(t *testing.T, d *hlotest.Dump, dir string, mu *mutation) {
	t.Helper()
	m, err := hlo.NewReader(hlo.Limits{}).Read(hlo.Source{Path: filepath.Join(dir, d.Name+".hlo.pb")})
	require.NoError(t, err)
	want := stdcmp.Or(mu.instruction, "lab_triton_call.1")
	var a alias.Analyzer
	for _, c := range a.Calls(m) {
		if m.Instructions[c.Instruction].Name == want {
			mu.bend(t, d, &c)
			return
		}
	}
	t.Fatalf("the dump has no %s", want)
}

func TestDiffOfProtoAndTextIsEmpty(t *testing.T) {
	d, err := hlotest.Load(dumpPath("transformer_step"))
	require.NoError(t, err)
	proto, text := t.TempDir(), t.TempDir()
	_, err = d.WriteProto(proto)
	require.NoError(t, err)
	_, err = d.WriteText(text)
	require.NoError(t, err)
	r, code := diffOf(t, proto, text)
	assert.Empty(t, r.Changed)
	assert.Empty(t, r.Removed)
	assert.Empty(t, r.Added)
	assert.Equal(t, cli.ExitClean, code)
}

func TestDiffOfWhatIsNotWholeFails(t *testing.T) {
	r, code := diffOf(t, dumpPath("scale_apart"), filepath.Join(t.TempDir(), "missing"))
	assert.Equal(t, cli.ExitFailed, code, "unknown is never the same")
	assert.Len(t, r.New.Incomplete, 1)
	assert.Len(t, r.Removed, 1)
}

package main

import (
	"bytes"
	stdcmp "cmp"
	"encoding/json"
	"path/filepath"
	"testing"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/hlotest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// diffOf runs aliascheck diff and reads its JSON.
func diffOf(t *testing.T, old, new string, flags ...string) (*diffReport, int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{"diff", "--quiet", "--format", "json"}, flags...)
	code := run(append(args, old, new), nil, &stdout, &stderr)
	require.Empty(t, stderr.String())
	var r diffReport
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &r))
	return &r, code
}

func dumpPath(name string) string { return filepath.Join("..", "..", "testdata", "dumps", name) }

func TestDiffOfADumpWithItselfIsEmpty(t *testing.T) {
	r, code := diffOf(t, dumpPath(""), dumpPath(""))
	assert.Equal(t, exitClean, code)
	assert.True(t, r.same())
	assert.Equal(t, r.Old.CustomCalls, r.New.CustomCalls)
	assert.Greater(t, r.Old.CustomCalls, 100)
}

// mutation bends one kernel call of a dump.
type mutation struct {
	name, dump  string
	instruction string // empty: lab_triton_call.1
	bend        func(t *testing.T, d *hlotest.Dump, c *alias.Call)
	want        []change // the verdicts apart, which follow from the rest
	verdict     []string
}

func mutations() []mutation {
	return []mutation{
		{
			name: "a result in the place of its operand", dump: "scale_apart",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) { moveResult(t, d, c, c.Operands[0].Slice, 0) },
			want: []change{
				{"sharing", []string{}, []string{"operand 0 and the result have the same bytes"}},
				{"memory", []string{"the result: temporary"}, []string{"the result: temporary, output"}},
			},
			verdict: []string{"AC101 undeclared-overlap (error)"},
		},
		{
			name: "a result some bytes behind its operand", dump: "scale_inplace",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) { moveResult(t, d, c, c.Operands[0].Slice, 4) },
			want: []change{
				{"sharing", []string{"operand 0 and the result have the same bytes"}, []string{"operand 0 and the result overlap, the second begins 4 bytes behind the first"}},
			},
			verdict: []string{"AC102 partial-overlap (error)"},
		},
		{
			name: "a declared pair taken apart", dump: "scale_inplace",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				size := c.Results[0].Slice.Size
				moveResult(t, d, c, hlo.Slice{Allocation: d.NewAllocation(size), Size: size}, 0)
			},
			want: []change{
				{"sharing", []string{"operand 0 and the result have the same bytes"}, []string{}},
				{"memory", []string{"the result: temporary, output"}, []string{"the result: temporary"}},
			},
			verdict: []string{"AC105 alias-not-honoured (error)"},
		},
		{
			name: "a declaration that names no leaf", dump: "axpby_inplace",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				in := &c.Module.Instructions[c.Instruction]
				require.NoError(t, d.Redeclare(in.ID, in.Name, 99))
			},
			want: []change{
				{"declared", []string{"{}: (0, {})"}, []string{"{}: (99, {}), the call has no operand 99 leaf {}"}},
			},
			verdict: []string{"AC101 undeclared-overlap (error)", "AC106 bad-declaration (error)"},
		},
		{
			name: "two results in one place", dump: "sort_probs_half_claimed", instruction: "lab_triton_call.3",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				require.NoError(t, d.Move(c.Module.Values[c.Results[1].Value].ID, c.Results[0].Slice.Allocation, c.Results[0].Slice.Offset, c.Results[1].Slice.Size))
			},
			want: []change{
				{"sharing", []string{}, []string{"operand 3 and result {1} begin together and differ in size", "result {0} and result {1} begin together and differ in size"}},
			},
			verdict: []string{"AC103 results-overlap (error)"},
		},
		{
			name: "a result over a value that is needed later", dump: "operand_written",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) { moveResult(t, d, c, c.Operands[0].Slice, 0) },
			want: []change{
				{"sharing", []string{}, []string{"operand 0 and the result have the same bytes", "the result is written over the value of a fusion: a later instruction reads it"}},
				{"memory", []string{"the result: temporary"}, []string{"the result: temporary, output"}},
			},
			verdict: []string{"AC101 undeclared-overlap (error)", "AC104 live-overwrite (error)"},
		},
		{
			name: "a result over a parameter that the caller keeps", dump: "sort_in_cond",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) { moveResult(t, d, c, c.Operands[0].Slice, 0) },
			want: []change{
				{"sharing", []string{}, []string{"operand 0 and the result have the same bytes", "the result is written over the value of a parameter: it is a parameter that the caller keeps"}},
				{"memory", []string{"the result: temporary, output"}, []string{"the result: parameter"}},
			},
			verdict: []string{"AC101 undeclared-overlap (error)", "AC104 live-overwrite (error)", "AC201 unsafe-in-place (error)"},
		},
		{
			name: "a result in a loop over a value from outside", dump: "sort_in_loop",
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) { moveResult(t, d, c, c.Operands[1].Slice, 0) },
			want: []change{
				{"sharing", []string{}, []string{"operand 1 and the result begin together and differ in size", "the result is written over the value of a parameter: it is a parameter that the caller keeps"}},
				{"memory", []string{"the result: temporary"}, []string{"the result: parameter"}},
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
			assert.Equal(t, exitFindings, code)
			assert.Empty(t, r.Removed)
			assert.Empty(t, r.Added)
			require.Len(t, r.Changed, 1)
			var got, verdicts []change
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
	assert.Equal(t, exitClean, code)
}

func TestDiffOfWhatIsNotWholeFails(t *testing.T) {
	r, code := diffOf(t, dumpPath("scale_apart"), filepath.Join(t.TempDir(), "missing"))
	assert.Equal(t, exitFailed, code, "unknown is never the same")
	assert.Len(t, r.New.Incomplete, 1)
	assert.Len(t, r.Removed, 1)
}

// side makes one side of a diff out of calls: identity, fact, how often.
func side(calls ...any) *dumpFacts {
	d := &dumpFacts{variants: map[diffIdentity][]*variant{}}
	for n := 0; n < len(calls); n += 3 {
		for range calls[n+2].(int) {
			f := facts{Sharing: []string{calls[n+1].(string)}}
			d.add(calls[n].(diffIdentity), &variant{facts: f, key: f.key(), calls: 1})
		}
	}
	return d
}

func TestMatch(t *testing.T) {
	x, y := diffIdentity{Module: "m", Kernel: "x"}, diffIdentity{Module: "m", Kernel: "y"}
	v2, ffi := diffIdentity{Module: "m", Kernel: "k", Target: "v2"}, diffIdentity{Module: "m", Kernel: "k", Target: "ffi"}
	for _, test := range []struct {
		name                    string
		old, new                *dumpFacts
		changed, removed, added int
	}{
		{"nothing", side(), side(), 0, 0, 0},
		{"equal", side(x, "a", 2, y, "b", 1), side(y, "b", 1, x, "a", 2), 0, 0, 0},
		{"one of many changed", side(x, "a", 4), side(x, "a", 3, x, "b", 1), 1, 0, 0},
		{"one more became like another", side(x, "a", 3, x, "b", 1), side(x, "a", 2, x, "b", 2), 1, 0, 0},
		{"the full suite compiles it more often", side(x, "a", 1), side(x, "a", 7), 0, 0, 0},
		{"and once in another way", side(x, "a", 1), side(x, "a", 6, x, "b", 1), 1, 0, 0},
		{"gone and come", side(x, "a", 1), side(y, "a", 1), 0, 1, 1},
		{"another target", side(v2, "a", 1), side(ffi, "a", 1), 1, 0, 0},
		{"another target and state", side(v2, "a", 1), side(ffi, "b", 1), 1, 0, 0},
		{"all in two states", side(x, "a", 1, x, "b", 1), side(x, "c", 1, x, "d", 1), 2, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			changed, removed, added := match(test.old, test.new)
			assert.Len(t, changed, test.changed)
			assert.Len(t, removed, test.removed)
			assert.Len(t, added, test.added)
			changed, removed, added = match(test.new, test.old)
			assert.Len(t, changed, test.changed, "the other way round")
			assert.Len(t, removed, test.added)
			assert.Len(t, added, test.removed)
		})
	}
}

func TestMatchCountsTheCalls(t *testing.T) {
	x := diffIdentity{Kernel: "x"}
	changed, _, _ := match(side(x, "a", 4), side(x, "a", 1, x, "b", 3))
	require.Len(t, changed, 1)
	assert.Equal(t, 3, changed[0].oldCalls)
	assert.Equal(t, 3, changed[0].newCalls)
	assert.Equal(t, []change{{"sharing", []string{"a"}, []string{"b"}}}, changed[0].changes())
}

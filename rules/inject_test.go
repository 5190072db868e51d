package rules_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/hlotest"
	"aliascheck/rules"

	"github.com/stretchr/testify/require"
)

// injection bends one real dump, and says what must be found of which call and pair.
// allowed are codes that may stand beside it.
type injection struct {
	name, dump, code string
	instruction      string
	operand, result  int // leaves; -1 for none
	allowed          []string
	bend             func(t *testing.T, d *hlotest.Dump, c *alias.Call)
}

func injections() []injection {
	return []injection{
		{
			name: "the result in an undeclared operand's place", dump: "scale_apart", code: "AC101",
			instruction: "lab_triton_call.1", operand: 0, result: 0,
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				moveOnto(t, d, c, &c.Results[0], c.Operands[0].Slice, 0)
			},
		},
		{
			name: "the same for a kernel that is not safe in place", dump: "sort_unclaimed_ffi", code: "AC101",
			instruction: "lab_triton_call.1", operand: 0, result: 0, allowed: []string{"AC201"},
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				moveOnto(t, d, c, &c.Results[0], c.Operands[0].Slice, 0)
			},
		},
		{
			name: "the result a few bytes behind its operand", dump: "scale_apart", code: "AC102",
			instruction: "lab_triton_call.1", operand: 0, result: 0, allowed: []string{"AC107"}, // its reader writes in the operand's place, too
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				moveOnto(t, d, c, &c.Results[0], c.Operands[0].Slice, 64)
			},
		},
		{
			name: "a declared result a few bytes behind its operand", dump: "scale_inplace", code: "AC102",
			instruction: "lab_triton_call.1", operand: 0, result: 0, allowed: []string{"AC107"}, // its reader writes in the operand's place, too
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				moveOnto(t, d, c, &c.Results[0], c.Operands[0].Slice, 4)
			},
		},
		{
			name: "two results in one place", dump: "sort_probs_half_claimed", code: "AC103",
			instruction: "lab_triton_call.3", operand: -1, result: 1,
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				moveOnto(t, d, c, &c.Results[1], c.Results[0].Slice, 0)
			},
		},
		{
			name: "a result over a value that is needed later", dump: "operand_written", code: "AC104",
			instruction: "lab_triton_call.1", operand: 0, result: 0, allowed: []string{"AC101"},
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				moveOnto(t, d, c, &c.Results[0], c.Operands[0].Slice, 0)
			},
		},
		{
			name: "a result over a parameter that the caller keeps", dump: "sort_in_cond", code: "AC104",
			instruction: "lab_triton_call.1", operand: 0, result: 0, allowed: []string{"AC101", "AC201"},
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				moveOnto(t, d, c, &c.Results[0], c.Operands[0].Slice, 0)
			},
		},
		{
			name: "a result in a loop over a value from outside", dump: "sort_in_loop", code: "AC104",
			instruction: "lab_triton_call.1", operand: 1, result: 0, allowed: []string{"AC102"},
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				moveOnto(t, d, c, &c.Results[0], c.Operands[1].Slice, 0)
			},
		},
		{
			name: "a declared pair taken apart", dump: "scale_inplace", code: "AC105",
			instruction: "lab_triton_call.1", operand: 0, result: 0,
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				size := c.Results[0].Slice.Size
				to := d.NewAllocation(size)
				require.NoError(t, d.Move(valueID(c, &c.Results[0]), to, 0, size))
			},
		},
		{
			name: "a declaration that names no leaf", dump: "axpby_inplace", code: "AC106",
			instruction: "lab_triton_call.1", operand: -1, result: 0, allowed: []string{"AC101"},
			bend: func(t *testing.T, d *hlotest.Dump, c *alias.Call) {
				in := &c.Module.Instructions[c.Instruction]
				require.NoError(t, d.Redeclare(in.ID, in.Name, 99))
			},
		},
	}
}

func valueID(c *alias.Call, l *alias.Leaf) int64 { return c.Module.Values[l.Value].ID }

// moveOnto moves a leaf's value into another slice, shifted by some bytes.
func moveOnto(t *testing.T, d *hlotest.Dump, c *alias.Call, l *alias.Leaf, to hlo.Slice, shift int64) {
	t.Helper()
	require.NoError(t, d.Move(valueID(c, l), to.Allocation, to.Offset+shift, l.Slice.Size))
}

func TestInjectedFaultsAreFound(t *testing.T) {
	for _, in := range injections() {
		t.Run(in.code+" "+in.name, func(t *testing.T) {
			d, err := hlotest.Load(filepath.Join(dumpDir, in.dump))
			require.NoError(t, err)
			before := audit(t, hlo.Source{Path: write(t, d.WriteProto)})
			require.NotContains(t, codes(before), in.code, "the original must not have it")

			bend(t, d, in)
			for form, src := range map[string]hlo.Source{
				"proto": {Path: write(t, d.WriteProto)},
				"text":  textSource(write(t, d.WriteText)),
			} {
				t.Run(form, func(t *testing.T) { in.check(t, before, audit(t, src)) })
			}
		})
	}
}

// check holds the findings to the injection: the code on its call and pair, and
// nothing else that was not there before and may not stand beside it.
func (in *injection) check(t *testing.T, before, after *rules.Report) {
	found := 0
	for _, f := range after.Findings {
		if f.Code == in.code && f.Instruction == in.instruction && in.isPair(&f) {
			found++
			continue
		}
		known := slices.Contains(codes(before), f.Code) || slices.Contains(in.allowed, f.Code)
		require.True(t, known, "%s on %s: %s", f.Code, f.Instruction, f.Message)
	}
	require.Equal(t, 1, found, "findings: %v", codes(after))
}

func (in *injection) isPair(f *rules.Finding) bool {
	if in.operand < 0 != (f.Operand == nil) || f.Operand != nil && *f.Operand != in.operand {
		return false
	}
	return in.result < 0 || f.ResultIndex != nil && (len(f.ResultIndex) == 0 && in.result == 0 ||
		len(f.ResultIndex) == 1 && f.ResultIndex[0] == in.result)
}

func codes(r *rules.Report) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Code)
	}
	return out
}

// bend finds the injection's call in the dump and bends it.
func bend(t *testing.T, d *hlotest.Dump, in injection) {
	t.Helper()
	reader := hlo.NewReader(hlo.Limits{})
	m, err := reader.Read(hlo.Source{Path: write(t, d.WriteProto)})
	require.NoError(t, err)
	var a alias.Analyzer
	for _, c := range a.Calls(m) {
		if m.Instructions[c.Instruction].Name == in.instruction {
			in.bend(t, d, &c)
			return
		}
	}
	require.Fail(t, fmt.Sprintf("%s has no call %s", in.dump, in.instruction))
}

func write(t *testing.T, form func(dir string) (string, error)) string {
	t.Helper()
	path, err := form(t.TempDir())
	require.NoError(t, err)
	return path
}

func textSource(path string) hlo.Source {
	stem := path[:len(path)-len(".txt")]
	return hlo.Source{Path: path, Text: true, Assignment: stem + "-buffer-assignment.txt"}
}

func audit(t *testing.T, src hlo.Source) *rules.Report {
	t.Helper()
	return auditSuppressed(t, src, &rules.Config{})
}

func auditSuppressed(t *testing.T, src hlo.Source, config *rules.Config) *rules.Report {
	t.Helper()
	m, err := hlo.NewReader(hlo.Limits{}).Read(src)
	require.NoError(t, err)
	c := rules.NewCollector()
	c.Add(rules.NewAuditor(rules.Options{}).Module(context.Background(), m))
	return c.Report(rules.Tool{}, rules.Choices{Suppressions: config.Suppressions, Now: time.Now()})
}

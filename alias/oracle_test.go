package alias_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"aliascheck/alias"
	"aliascheck/hlo"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// FuzzOracle holds overlaps and overwrites to a brute-force check on random
// programs: every pair of leaves compared, and the program run.
func FuzzOracle(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		p := newProgram(seed)
		path := filepath.Join(t.TempDir(), "random_after_optimizations.hlo.pb")
		require.NoError(t, os.WriteFile(path, p.encode(), 0o644))
		m, err := hlo.NewReader(hlo.Limits{}).Read(hlo.Source{Path: path})
		require.NoError(t, err)
		var a alias.Analyzer
		got := map[fault]bool{}
		for _, c := range a.Calls(m) {
			checkOverlaps(t, &a, &c)
			overwrites, reason := a.Overwrites(&c)
			require.Empty(t, reason)
			for _, o := range overwrites {
				got[fault{overwrite{m.Instructions[c.Instruction].ID, int(o.Result)}, m.Values[o.Value].ID}] = true
			}
		}
		conflicts, reason := a.Conflicts()
		require.Empty(t, reason)
		pairs := map[[2]int64]bool{}
		for _, c := range conflicts {
			x, y := m.Values[c.Lost].ID, m.Values[c.Written].ID
			pairs[[2]int64{min(x, y), max(x, y)}] = true
		}
		want, wantPairs := map[fault]bool{}, map[[2]int64]bool{}
		rnd := rand.New(rand.NewPCG(seed, 11))
		for range p.runs() {
			s := simulate(p, func() int { return rnd.IntN(2) })
			for fault := range s.faults {
				want[fault] = true
			}
			for pair := range s.pairs {
				wantPairs[pair] = true
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(fault{}, overwrite{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("overwrites of program %d (-run +analysed):\n%s", seed, diff)
		}
		if diff := cmp.Diff(wantPairs, pairs, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("conflicts of program %d (-run +analysed):\n%s\n%s", seed, diff, p)
		}
	})
}

// runs is how often a program must run to have taken every way through: one way
// is at most five branches of nested and successive conditionals.
func (p *program) runs() int {
	for _, c := range p.comps {
		for _, o := range c.ops {
			if o.opcode == "conditional" {
				return 512
			}
		}
	}
	return 1
}

// checkOverlaps compares every pair of leaves, byte ranges written out.
func checkOverlaps(t *testing.T, a *alias.Analyzer, c *alias.Call) {
	t.Helper()
	meet := func(x, y *alias.Leaf) bool {
		for at := x.Slice.Offset; at < x.Slice.Offset+x.Slice.Size; at++ {
			if x.Allocation == y.Allocation && at >= y.Slice.Offset && at < y.Slice.Offset+y.Slice.Size {
				return true
			}
		}
		return false
	}
	var want alias.Overlaps
	for r := range c.Results {
		require.Empty(t, c.Results[r].Unresolved)
		for o := range c.Operands {
			require.Empty(t, c.Operands[o].Unresolved)
			if meet(&c.Operands[o], &c.Results[r]) {
				want.OperandResult = append(want.OperandResult, alias.Overlap{
					A: int32(o), B: int32(r), Exact: c.Operands[o].Slice == c.Results[r].Slice})
			}
		}
		for q := range r {
			if meet(&c.Results[q], &c.Results[r]) {
				want.ResultResult = append(want.ResultResult, alias.Overlap{
					A: int32(q), B: int32(r), Exact: c.Results[q].Slice == c.Results[r].Slice})
			}
		}
	}
	byLeaf := cmpopts.SortSlices(func(x, y alias.Overlap) bool { return x.A < y.A || x.A == y.A && x.B < y.B })
	if diff := cmp.Diff(want, a.Overlaps(c), byLeaf, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("overlaps (-brute force +sweep):\n%s", diff)
	}
}

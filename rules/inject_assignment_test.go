package rules_test

import (
	"slices"
	"testing"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/hlotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// healthyDumps are real dumps in which nothing of AC107 and AC108 is.
func healthyDumps() []string {
	return []string{
		"dumps/transformer_step", "dumps/builtin_linalg", "dumps/sort_in_loop", "dumps/sort_in_cond", "dumps/builtin_lib",
		"dumps/sort_probs_half_claimed", "cpu/nested_loops", "cpu/branches", "cpu/solve", "cpu/scanned", "cpu/loop_condition", "cpu/spectra", "cpu/factor", "more/rotary_two_results", "more/float_mix",
	}
}

// most bounds what is injected into one module, for each code.
const most = 25

// TestInjectedConflictsAreFound lays two values of a healthy module in one place, in an
// allocation of their own, and finds exactly these two.
func TestInjectedConflictsAreFound(t *testing.T) {
	found := map[string]int{}
	for _, dump := range healthyDumps() {
		t.Run(dump, func(t *testing.T) {
			d, err := hlotest.Load("../testdata/" + dump)
			require.NoError(t, err)
			src := hlo.Source{Path: write(t, d.WriteProto)}
			require.NotContains(t, codes(audit(t, src)), "AC107")
			m, err := hlo.NewReader(hlo.Limits{}).Read(src)
			require.NoError(t, err)
			for code, list := range map[string][][2]int32{"AC107": clashing(m), "AC108": together(m)} {
				for n, pair := range list {
					if n >= most {
						break
					}
					found[code]++
					injectPair(t, dump, m, code, pair)
				}
			}
		})
	}
	assert.Greater(t, found["AC107"], 30)
	assert.Greater(t, found["AC108"], 25)
}

// injectPair lays two values in one place and holds the findings to that.
func injectPair(t *testing.T, dump string, m *hlo.Module, code string, pair [2]int32) {
	t.Helper()
	bent, err := hlotest.Load("../testdata/" + dump)
	require.NoError(t, err)
	size := max(m.Values[pair[0]].Size, m.Values[pair[1]].Size)
	to := bent.NewAllocation(size)
	for _, v := range pair {
		require.NoError(t, bent.Move(m.Values[v].ID, to, 0, m.Values[v].Size))
	}
	var want []string
	for _, v := range pair {
		want = append(want, m.Instructions[m.Values[v].Instruction].Name+alias.Index(m.Values[v].Index).String())
	}
	slices.Sort(want)
	for form, src := range map[string]hlo.Source{"proto": {Path: write(t, bent.WriteProto)}, "text": textSource(write(t, bent.WriteText))} {
		var got [][]string
		for _, f := range audit(t, src).Findings {
			if f.Code != code {
				assert.NotContains(t, []string{"AC107", "AC108"}, f.Code, "%s %v: %s", form, want, f.Message)
				continue
			}
			var names []string
			for _, v := range f.Values {
				names = append(names, v.Instruction+indexText(v.Index))
			}
			slices.Sort(names)
			got = append(got, names)
		}
		assert.Equal(t, [][]string{want}, got, form)
	}
}

func indexText(x []int) string {
	var index hlo.ShapeIndex
	for _, i := range x {
		index = append(index, int64(i))
	}
	return alias.Index(index).String()
}

// clashing are pairs of values of which the second is written between the first's
// definition and a later read of it: by the schedule and the operands alone. They are
// spread over the module.
func clashing(m *hlo.Module) [][2]int32 {
	var list [][2]int32
	for k := range m.Computations {
		comp := &m.Computations[k]
		if len(comp.Schedule) < 3 || comp.Fusion {
			continue
		}
		for at, i := range comp.Schedule {
			v := soleValue(m, i)
			if v < 0 {
				continue
			}
			for later := at + 2; later < len(comp.Schedule); later++ {
				if !slices.Contains(m.Instructions[comp.Schedule[later]].Operands, i) || !reads(m.Instructions[comp.Schedule[later]].Opcode) {
					continue
				}
				if w := soleValue(m, comp.Schedule[at+1]); w >= 0 && !slices.Contains(m.Instructions[comp.Schedule[at+1]].Operands, i) {
					list = append(list, [2]int32{v, w})
				}
				break
			}
		}
	}
	if len(list) > most {
		var spread [][2]int32
		for n := range most {
			spread = append(spread, list[n*len(list)/most])
		}
		return spread
	}
	return list
}

// soleValue is the value of an instruction that writes one array of its own, else -1.
func soleValue(m *hlo.Module, i int32) int32 {
	in := &m.Instructions[i]
	if in.EndValue-in.FirstValue != 1 || in.Custom != nil || !reads(in.Opcode) || len(m.Values[in.FirstValue].Index) > 0 {
		return -1
	}
	if v := &m.Values[in.FirstValue]; v.Allocation >= 0 && v.Size > 0 && !m.Allocations[v.Allocation].ThreadLocal {
		return in.FirstValue
	}
	return -1
}

// reads tells opcodes that compute something of their operands and run nothing else.
func reads(opcode string) bool {
	switch opcode {
	case "fusion", "add", "multiply", "dot", "copy", "reduce", "broadcast", "negate", "compare", "select", "concatenate", "iota", "transpose", "dynamic-slice":
		return true
	}
	return false
}

// together are pairs of results of one fusion.
func together(m *hlo.Module) [][2]int32 {
	var list [][2]int32
	for i := range m.Instructions {
		in := &m.Instructions[i]
		if in.Opcode != "fusion" || in.EndValue-in.FirstValue < 3 || m.Computations[in.Computation].Fusion {
			continue
		}
		v, w := in.FirstValue+1, in.EndValue-1
		if m.Values[v].Size > 0 && m.Values[w].Size > 0 && m.Values[v].Allocation >= 0 && m.Values[w].Allocation >= 0 {
			list = append(list, [2]int32{v, w})
		}
	}
	return list
}

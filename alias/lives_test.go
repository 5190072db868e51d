package alias_test

import (
	"testing"

	"aliascheck/alias"
	"aliascheck/hlo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLivesOfRealDumps: no two values of an allocation are in the same bytes at the
// same time, but for those that XLA keeps in one buffer: what goes through a while,
// a call or a conditional, and what an instruction changes in place.
func TestLivesOfRealDumps(t *testing.T) {
	reader := hlo.NewReader(hlo.Limits{})
	var a alias.Analyzer
	values, met := 0, 0
	for src, err := range hlo.Find([]string{"../testdata/dumps"}, hlo.Limits{}) {
		require.NoError(t, err)
		m, err := reader.Read(src)
		require.NoError(t, err)
		calls := a.Calls(m)
		if len(calls) == 0 {
			continue
		}
		c := &calls[len(calls)/2]
		for n := range m.Allocations {
			lives, steps, left := a.Lives(c, int32(n), 1<<20)
			assert.Zero(t, left)
			values += len(lives)
			for i, x := range lives {
				assert.True(t, x.From >= 0 && x.From <= x.To && int(x.To) < steps, "%s: %+v", m.Path, x)
				for _, y := range lives[i+1:] {
					if meet(m, x, y) && !oneBuffer(m, x.Value) && !oneBuffer(m, y.Value) {
						met++
						t.Errorf("%s: %s %+v and %s %+v", m.Path, nameOf(m, x), x, nameOf(m, y), y)
					}
				}
			}
		}
	}
	require.Greater(t, values, 1000)
}

func meet(m *hlo.Module, x, y alias.Live) bool {
	v, w := &m.Values[x.Value], &m.Values[y.Value]
	return v.Offset < w.Offset+w.Size && w.Offset < v.Offset+v.Size && x.From < y.To && y.From < x.To
}

// oneBuffer reports whether a value goes through an instruction that hands memory on.
func oneBuffer(m *hlo.Module, v int32) bool {
	in := &m.Instructions[m.Values[v].Instruction]
	switch in.Opcode {
	case "while", "call", "conditional":
		return true
	case "parameter":
		return in.Computation != m.Entry
	}
	return in.Computation != m.Entry
}

func nameOf(m *hlo.Module, l alias.Live) string {
	return m.Instructions[m.Values[l.Value].Instruction].Name
}

func TestLivesAreBounded(t *testing.T) {
	reader := hlo.NewReader(hlo.Limits{})
	for src, err := range hlo.Find([]string{"../testdata/dumps/transformer_step"}, hlo.Limits{}) {
		require.NoError(t, err)
		m, err := reader.Read(src)
		require.NoError(t, err)
		var a alias.Analyzer
		c := &a.Calls(m)[0]
		for n := range m.Allocations {
			all, steps, _ := a.Lives(c, int32(n), 1<<20)
			few, _, left := a.Lives(c, int32(n), 2)
			assert.LessOrEqual(t, len(few), max(2, len(c.Operands)+len(c.Results)))
			assert.GreaterOrEqual(t, len(few)+left, len(all))
			assert.True(t, steps > 0 || len(all) == 0)
		}
	}
}

package rules_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"aliascheck/hlo"
	"aliascheck/rules"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mapsOf audits a folder of dumps, and returns the findings that have a memory map.
func mapsOf(t *testing.T, folder string) []rules.Finding {
	t.Helper()
	reader := hlo.NewReader(hlo.Limits{})
	auditor := rules.NewAuditor(rules.Options{Maps: true})
	var out []rules.Finding
	for src, err := range hlo.Find([]string{folder}, hlo.Limits{}) {
		require.NoError(t, err)
		m, err := reader.Read(src)
		require.NoError(t, err)
		for _, f := range auditor.Module(context.Background(), m).Findings {
			if f.Map != nil {
				out = append(out, f)
			}
		}
	}
	return out
}

func TestMapsOfRealDumpsAreSound(t *testing.T) {
	found := mapsOf(t, dumpDir)
	require.Greater(t, len(found), 10)
	for _, f := range found {
		m := f.Map
		assert.Less(t, m.Until, m.Steps, f.Module)
		assert.LessOrEqual(t, m.At, m.Until, f.Module)
		assert.Zero(t, m.LeftOut)
		for _, v := range m.Values {
			assert.True(t, v.Offset >= 0 && v.Size > 0 && v.Offset+v.Size <= m.Size, "%s: %+v", f.Module, v)
			assert.True(t, v.From >= 0 && v.From <= v.To && v.To < m.Steps, "%s: %+v", f.Module, v)
			switch v.Role {
			case rules.MapOperand:
				assert.True(t, v.From <= m.At && v.To >= m.Until, "the call reads it: %s: %+v", f.Module, v)
			case rules.MapResult:
				assert.Equal(t, m.At, v.From, "the call makes it: %s: %+v", f.Module, v)
			}
		}
	}
}

// TestNothingElseMeetsInAMap: but for what a finding speaks of, no two values are in
// the same bytes at the same time; XLA's assignment would be wrong, or our lifetimes.
func TestNothingElseMeetsInAMap(t *testing.T) {
	met := 0
	for _, f := range mapsOf(t, dumpDir) {
		values := f.Map.Values
		for i, v := range values {
			for _, w := range values[i+1:] {
				bytes := v.Offset < w.Offset+w.Size && w.Offset < v.Offset+v.Size
				time := v.From < w.To && w.From < v.To // one may read what the next takes the place of
				if bytes && time {
					met++
					assert.True(t, v.Role != "" && w.Role != "", "%s: %+v and %+v", f.Module, v, w)
				}
			}
		}
	}
	t.Logf("%d pairs of values that the findings speak of", met)
}

func TestMapNamesWhatIsOverwritten(t *testing.T) {
	found := mapsOf(t, filepath.Join(dumpDir, "sort_donated_ffi_auto"))
	n := slices.IndexFunc(found, func(f rules.Finding) bool { return f.Code == "AC302" })
	require.GreaterOrEqual(t, n, 0)
	var roles []rules.MapRole
	for _, v := range found[n].Map.Values {
		roles = append(roles, v.Role)
	}
	assert.ElementsMatch(t, []rules.MapRole{rules.MapResult, rules.MapOverwritten}, roles)
}

func TestMapsAreMadeOnlyWhenAskedFor(t *testing.T) {
	r := audit(t, hlo.Source{Path: filepath.Join(dumpDir, "sort_inplace_declared", "module_10598.jit_sort_inplace_declared.sm_9.0a_gpu_after_optimizations.hlo.pb")})
	require.NotEmpty(t, r.Findings)
	assert.Nil(t, r.Findings[0].Map)
}

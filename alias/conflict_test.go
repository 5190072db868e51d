package alias_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/hlotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bothForms are the proto of a module and, where it is there, its text.
func bothForms(t *testing.T, root string) []hlo.Source {
	t.Helper()
	var list []hlo.Source
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		stem, ok := strings.CutSuffix(path, "-buffer-assignment.txt")
		switch {
		case ok:
			list = append(list, hlo.Source{Path: stem + ".txt", Text: true, Assignment: path})
		case strings.HasSuffix(path, "after_optimizations.hlo.pb"):
			list = append(list, hlo.Source{Path: path})
		}
		return err
	}))
	return list
}

// conflictsOf names the conflicts of a module: kind, what is lost, what lies there.
func conflictsOf(t *testing.T, a *alias.Analyzer, m *hlo.Module) []string {
	t.Helper()
	a.Calls(m)
	list, _ := a.Conflicts()
	var out []string
	for _, c := range list {
		name := func(v int32) string {
			if v < 0 {
				return "-"
			}
			return m.Instructions[m.Values[v].Instruction].Name + alias.Index(m.Values[v].Index).String()
		}
		kind := map[alias.ConflictKind]string{
			alias.Overwritten: "overwritten", alias.ReadWhileWritten: "read while written", alias.TwoParameters: "two parameters",
			alias.Misplaced: "misplaced", alias.NotReturned: "not returned", alias.TwoResults: "two results",
		}[c.Kind]
		out = append(out, kind+": "+name(c.Lost)+" "+name(c.Written))
	}
	return out
}

// TestConflictsOfRealDumps: two open bugs of JAX, one of them in a training step, are the
// only conflicts of all real dumps, each found once, in proto and text.
func TestConflictsOfRealDumps(t *testing.T) {
	want := map[string][]string{
		"jax_39625":                {"two parameters: state_2_.1{} state_1_.1{}"},
		"jax_39100":                {"two results: loop_dynamic_update_slice_slice_fusion{0} loop_dynamic_update_slice_slice_fusion{2}"},
		"optax_adamw/module_63539": {"two parameters: state__opt___hyperparams__b1__.1{} state__loss_scale__.1{}"},
	}
	reader := hlo.NewReader(hlo.Limits{})
	var a alias.Analyzer
	found := map[string]int{}
	for _, src := range bothForms(t, "../testdata") {
		m, err := reader.Read(src)
		if err != nil {
			continue // files that are damaged on purpose
		}
		expected := []string(nil)
		for part, list := range want {
			if strings.Contains(filepath.ToSlash(src.Path), part) {
				expected = list
				found[part]++
			}
		}
		assert.Equal(t, expected, conflictsOf(t, &a, m), src.Path)
	}
	for part := range want {
		assert.Equal(t, 2, found[part], part)
	}
}

// TestWhatTheCallerPasses: a parameter that is read elsewhere than it is passed, and an
// output that is not in the memory that it was promised in.
func TestWhatTheCallerPasses(t *testing.T) {
	load := func() (*hlotest.Dump, *hlo.Module) {
		d, err := hlotest.Load("../testdata/cpu/solve")
		require.NoError(t, err)
		path, err := d.WriteProto(t.TempDir())
		require.NoError(t, err)
		m, err := hlo.NewReader(hlo.Limits{}).Read(hlo.Source{Path: path})
		require.NoError(t, err)
		return d, m
	}
	var a alias.Analyzer
	d, m := load()
	require.Empty(t, conflictsOf(t, &a, m))
	require.NotEmpty(t, m.Donated)
	bent := func(value int32) []string {
		v := &m.Values[value]
		require.NoError(t, d.Move(v.ID, d.NewAllocation(v.Size), 0, v.Size))
		path, err := d.WriteProto(t.TempDir())
		require.NoError(t, err)
		m, err := hlo.NewReader(hlo.Limits{}).Read(hlo.Source{Path: path})
		require.NoError(t, err)
		return conflictsOf(t, &a, m)
	}
	for _, p := range m.Computations[m.Entry].Parameters {
		d, m = load()
		name := m.Instructions[p].Name + "{}"
		assert.Contains(t, bent(m.Instructions[p].FirstValue), "misplaced: "+name+" -")
	}
	d, m = load()
	a.Calls(m)
	out := a.Output(m.Donated[0].Output)
	require.GreaterOrEqual(t, out, int32(0))
	lost := m.Instructions[m.Computations[m.Entry].Parameters[m.Donated[0].Parameter]].Name
	name := m.Instructions[m.Values[out].Instruction].Name + alias.Index(m.Values[out].Index).String()
	assert.Equal(t, []string{"not returned: " + lost + "{} " + name}, bent(out))
}

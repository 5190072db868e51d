package rules_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"aliascheck/hlo"
	"aliascheck/hlo/hlotest"
	"aliascheck/rules"
	"aliascheck/rules/settings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// assigned are both forms of the one module of a folder whose name has a part.
func assigned(t *testing.T, part string) map[string]hlo.Source {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../testdata/assignment", part))
	require.NoError(t, err)
	out := map[string]hlo.Source{}
	for _, f := range files {
		switch {
		case strings.HasSuffix(f, ".hlo.pb"):
			out["proto"] = hlo.Source{Path: f}
		case strings.HasSuffix(f, "after_optimizations.txt"):
			out["text"] = textSource(f)
		}
	}
	require.Len(t, out, 2)
	return out
}

// TestAssignmentConflictOfATrainingStep: optax's b1 and the loss scale in one place.
func TestAssignmentConflictOfATrainingStep(t *testing.T) {
	for form, src := range assigned(t, "optax_adamw/module_63539*") {
		t.Run(form, func(t *testing.T) {
			r := audit(t, src)
			require.Equal(t, []string{"AC107"}, codes(r))
			f := &r.Findings[0]
			require.Len(t, f.Values, 2)
			lost, there := &f.Values[0], &f.Values[1]
			assert.Equal(t, "state['opt'].hyperparams['b1']", lost.Name)
			assert.Equal(t, "state['loss_scale']", there.Name)
			assert.Equal(t, int64(3), *lost.Parameter)
			assert.Equal(t, int64(1), *there.Parameter)
			assert.Equal(t, hlo.Slice{Allocation: 21, Offset: 0, Size: 4}, lost.Slice)
			assert.Equal(t, lost.Slice, there.Slice)
			assert.Equal(t, [2]string{"", "copy.3"}, [2]string{lost.From, lost.To})
			assert.Equal(t, [2]string{"", "copy.27"}, [2]string{there.From, there.To})
			assert.Equal(t, rules.Error, f.Severity)
			require.NotNil(t, f.Source)
			assert.Equal(t, 8, f.Source.Line, "where the loss is made that XLA returns twice in the memory of both")
			assert.Contains(t, f.Message, "as outputs {1} and {2}")
		})
	}
	for _, src := range assigned(t, "optax_adamw/module_10603*") {
		assert.Empty(t, audit(t, src).Findings, "the same step, nothing donated")
	}
}

func TestAssignmentConflictOfTwoScalars(t *testing.T) {
	prints := map[string]bool{}
	for form, src := range assigned(t, "jax_39625/*") {
		r := audit(t, src)
		require.Equal(t, []string{"AC107"}, codes(r), form)
		f := &r.Findings[0]
		assert.Equal(t, "state[2]", f.Values[0].Name)
		assert.Equal(t, "state[1]", f.Values[1].Name)
		assert.Equal(t, "q.py:4", filepath.Base(f.Source.File)+":4")
		prints[f.Fingerprint] = true
	}
	assert.Len(t, prints, 1, "proto and text have one identity")
}

func TestFusionResultsOverlap(t *testing.T) {
	for form, src := range assigned(t, "jax_39100/*") {
		r := audit(t, src)
		require.Equal(t, []string{"AC108"}, codes(r), form)
		f := &r.Findings[0]
		assert.Equal(t, "loop_dynamic_update_slice_slice_fusion", f.Instruction)
		assert.Equal(t, []int{0}, f.Values[0].Index)
		assert.Equal(t, []int{2}, f.Values[1].Index)
		assert.Equal(t, hlo.Slice{Allocation: 6, Offset: 10496, Size: 8}, f.Values[1].Slice)
	}
}

// TestValuesAreSuppressedByName: a finding without a target has a scope of its own.
func TestValuesAreSuppressedByName(t *testing.T) {
	c, err := settings.ParseConfig("c.yaml", []byte(`suppress: [{code: AC107, value: "state*b1*", reason: "known"}]`))
	require.NoError(t, err)
	r := auditSuppressed(t, assigned(t, "optax_adamw/module_63539*")["proto"], c)
	assert.Empty(t, r.Findings)
	assert.Equal(t, 1, r.Summary.Suppressed)
	r = auditSuppressed(t, assigned(t, "jax_39625/*")["proto"], c)
	assert.Len(t, r.Findings, 1)
	assert.Len(t, r.Summary.Stale, 1)
}

// TestFindingsOutliveTheirModule: a reader uses its memory again for the next module.
func TestFindingsOutliveTheirModule(t *testing.T) {
	for _, dump := range []string{"optax_adamw/module_63539*", "jax_39625/*", "jax_39100/*"} {
		for form, src := range assigned(t, dump) {
			reader := hlo.NewReader(hlo.Limits{})
			auditor := rules.NewAuditor(rules.Options{Maps: true})
			m, err := reader.Read(src)
			require.NoError(t, err)
			found := auditor.Module(context.Background(), m).Findings
			require.Len(t, found, 1)
			before, err := json.Marshal(found[0])
			require.NoError(t, err)
			kept := found[0]
			for _, other := range bothDumps(t, "../testdata/dumps/transformer_step") {
				_, err := reader.Read(other)
				require.NoError(t, err)
			}
			after, err := json.Marshal(kept)
			require.NoError(t, err)
			assert.Equal(t, string(before), string(after), "%s %s", dump, form)
		}
	}
}

func bothDumps(t *testing.T, dir string) []hlo.Source {
	t.Helper()
	d, err := hlotest.Load(dir)
	require.NoError(t, err)
	return []hlo.Source{{Path: write(t, d.WriteProto)}, textSource(write(t, d.WriteText))}
}

// TestMisplacedParameter: one that its caller keeps is told of, whoever reads it.
func TestMisplacedParameter(t *testing.T) {
	d, err := hlotest.Load("../testdata/assignment/jax_39625")
	require.NoError(t, err)
	m, err := hlo.NewReader(hlo.Limits{}).Read(hlo.Source{Path: write(t, d.WriteProto)})
	require.NoError(t, err)
	for _, p := range m.Computations[m.Entry].Parameters {
		if m.Instructions[p].Name == "val.1" {
			v := &m.Values[m.Instructions[p].FirstValue]
			require.NoError(t, d.Move(v.ID, d.NewAllocation(v.Size), 0, v.Size))
		}
	}
	r := audit(t, hlo.Source{Path: write(t, d.WriteProto)})
	assert.Equal(t, []string{"AC107", "AC107"}, codes(r))
}

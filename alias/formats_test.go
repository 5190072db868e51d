package alias

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"aliascheck/hlo"
)

// callView is what an audit makes of a call, by what both formats can tell: numbers
// of instructions differ, because the text folds get-tuple-elements into their users.
type callView struct {
	Target             string
	Site               string
	Scheduled          bool
	Operands, Results  []leafView
	Declared           []Declared
	OperandResult      []Overlap
	ResultResult       []Overlap
	Overwrites         []string
	OverwritesNotKnown string
}

type leafView struct {
	Operand    int32
	Index      hlo.ShapeIndex
	Type       string
	Bytes      int64
	Slice      hlo.Slice
	Allocation int32
	ValueID    int64
	Unresolved string
}

// TestFormatsAgree audits every dump from its proto and from its text: the same
// calls, slices, overlaps and overwritten values.
func TestFormatsAgree(t *testing.T) {
	calls := 0
	for _, path := range modulesOf(t, "dumps", "cpu", "old", "healthy", "short") {
		base := strings.TrimSuffix(path, ".hlo.pb")
		proto := callViews(t, hlo.Source{Path: path})
		text := callViews(t, hlo.Source{Path: base + ".txt", Text: true, Assignment: base + "-buffer-assignment.txt"})
		if diff := cmp.Diff(proto, text, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: -proto +text:\n%s", path, diff)
		}
		calls += len(proto)
	}
	require.Greater(t, calls, 250)
}

// TestHealthyDumps finds nothing to say of dumps that real programs made on a CPU.
func TestHealthyDumps(t *testing.T) {
	shared := 0
	for _, path := range modulesOf(t, "cpu", "old", "healthy", "short") {
		for _, c := range callViews(t, hlo.Source{Path: path}) {
			for _, l := range append(c.Operands, c.Results...) {
				require.Empty(t, l.Unresolved, "%s: %s", path, c.Site)
			}
			for _, d := range c.Declared {
				require.Empty(t, d.Problem, "%s: %s", path, c.Site)
			}
			for _, o := range c.OperandResult {
				declared := slices.ContainsFunc(c.Declared, func(d Declared) bool { return d.Operand == o.A && d.Result == o.B })
				require.True(t, o.Exact && declared, "%s: %s", path, c.Site)
				shared++
			}
			require.Empty(t, c.ResultResult, "%s: %s", path, c.Site)
			require.Empty(t, c.Overwrites, "%s: %s", path, c.Site)
		}
	}
	require.Greater(t, shared, 50)
}

// callViews are the calls of a module, sorted.
func callViews(t *testing.T, src hlo.Source) []callView {
	m, err := hlo.NewReader(hlo.Limits{}).Read(src)
	require.NoError(t, err)
	var a Analyzer
	var views []callView
	for _, c := range a.Calls(m) {
		v := callView{Target: c.Target, Site: m.Instructions[c.Site].Name, Scheduled: c.Start >= 0, Declared: slices.Clone(c.Declared)}
		for i := range c.Operands {
			v.Operands = append(v.Operands, viewOf(m, &c.Operands[i]))
		}
		for i := range c.Results {
			v.Results = append(v.Results, viewOf(m, &c.Results[i]))
		}
		overlaps := a.Overlaps(&c)
		v.OperandResult, v.ResultResult = slices.Clone(overlaps.OperandResult), slices.Clone(overlaps.ResultResult)
		overwrites, reason := a.Overwrites(&c)
		v.OverwritesNotKnown = reason
		for _, o := range overwrites {
			v.Overwrites = append(v.Overwrites, fmt.Sprint(o.Result, m.Values[o.Value].ID, o.Why))
		}
		views = append(views, v)
	}
	slices.SortFunc(views, func(x, y callView) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
	return views
}

func viewOf(m *hlo.Module, l *Leaf) leafView {
	v := leafView{
		Operand: l.Operand, Index: l.Index, Type: fmt.Sprint(l.Element, l.Dims), Bytes: l.Bytes,
		Slice: l.Slice, Allocation: l.Allocation, ValueID: -1, Unresolved: l.Unresolved,
	}
	if l.Value >= 0 {
		v.ValueID = m.Values[l.Value].ID
	}
	return v
}

package rules

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func shard(version string, f ...Finding) *Report {
	return &Report{SchemaVersion: SchemaVersion, Tool: Tool{Name: "aliascheck", Version: version}, Findings: f}
}

func TestMergeCountsEqualFindingsOnce(t *testing.T) {
	a := shard("v1",
		Finding{Code: "AC201", Severity: Error, Fingerprint: "x", Module: "m1", Calls: 3, Tests: []string{"t1"}, Confirmation: Unchecked},
		Finding{Code: "AC202", Severity: Note, Fingerprint: "y", Module: "m1", Calls: 1, Tests: []string{}})
	a.Summary = Summary{Modules: 2, CustomCalls: 5, Analysed: 4, Library: 1, Suppressed: 2,
		Unanalysed: []Unanalysed{{Target: "t", Calls: 2, Reason: "r"}},
		Stale:      []Stale{{Where: "a:1", Text: "old"}, {Where: "a:2", Text: "needed elsewhere"}},
		Incomplete: []Incomplete{{Path: "p", Error: "e"}}}
	a.Calls = Calls{{{Path: "2", Findings: []string{"s1", "s2", "x"}}}, {{Path: "1", Instruction: "b"}, {Path: "1", Instruction: "a"}}}
	b := shard("v1", Finding{Code: "AC201", Severity: Error, Fingerprint: "x", Module: "m0", Calls: 4, Tests: []string{"t0", "t1"}, Confirmation: Confirmed})
	b.Summary = Summary{Modules: 1, CustomCalls: 1,
		Unanalysed: []Unanalysed{{Target: "t", Calls: 1, Reason: "r"}, {Target: "t", Calls: 1, Reason: "q"}},
		Stale:      []Stale{{Where: "a:1", Text: "old"}}}
	b.Summary.Suppressed, b.Summary.Incomplete = 1, []Incomplete{{Path: "p", Error: "e"}}
	b.Calls = Calls{{{Path: "0", Instruction: "a", Findings: []string{"s2"}}}}

	got, err := Merge([]*Report{a, b})
	require.NoError(t, err)
	want := &Report{SchemaVersion: SchemaVersion, Tool: Tool{Name: "aliascheck", Version: "v1"},
		Summary: Summary{Modules: 3, CustomCalls: 6, Analysed: 4, Library: 1, Suppressed: 2, Errors: 1, Notes: 1,
			Unanalysed: []Unanalysed{{Target: "t", Calls: 1, Reason: "q"}, {Target: "t", Calls: 3, Reason: "r"}},
			NotAudited: []NotAudited{}, Stale: []Stale{{Where: "a:1", Text: "old"}},
			Incomplete: []Incomplete{{Path: "p", Error: "e"}}},
		Calls: Calls{{{Path: "0", Instruction: "a", Findings: []string{"s2"}}}, {{Path: "1", Instruction: "b"}, {Path: "1", Instruction: "a"}},
			{{Path: "2", Findings: []string{"s1", "s2", "x"}}}},
		Findings: []Finding{
			{Code: "AC201", Severity: Error, Fingerprint: "x", Module: "m0", Calls: 7, Tests: []string{"t0", "t1"}, Confirmation: Confirmed},
			{Code: "AC202", Severity: Note, Fingerprint: "y", Module: "m1", Calls: 1, Tests: []string{}},
		}}
	assert.Empty(t, cmp.Diff(want, got))
	assert.Equal(t, 3, a.Findings[0].Calls, "what is merged is not changed")

	other, err := Merge([]*Report{b, a})
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(got, other), "the order does not matter")
}

func TestMergeOfOneIsItself(t *testing.T) {
	r := shard("v1", Finding{Code: "AC201", Severity: Warning, Fingerprint: "x", Calls: 2, Tests: []string{"t"}})
	r.Calls = Calls{{{Path: "p"}}}
	r.Summary = Summary{Warnings: 1, Unanalysed: []Unanalysed{}, NotAudited: []NotAudited{}, Stale: []Stale{}, Incomplete: []Incomplete{}}
	got, err := Merge([]*Report{r})
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(r, got))
}

func TestMergeRefusesWhatItDoesNotKnow(t *testing.T) {
	_, err := Merge(nil)
	assert.ErrorIs(t, err, errNoReports)
	strange := shard("v9")
	strange.SchemaVersion = 2
	_, err = Merge([]*Report{shard("v1"), strange})
	assert.ErrorContains(t, err, "report 2 has schema version 2")
	got, err := Merge([]*Report{shard("v2"), shard("v1"), shard("v2")})
	require.NoError(t, err)
	assert.Equal(t, "v1, v2", got.Tool.Version)
}

// TestMergeOfShardsIsTheWhole splits a report at random and puts it together again.
func TestMergeOfShardsIsTheWhole(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var all []*ModuleReport
	for n := range 60 {
		name := string(rune('a' + n%26))
		all = append(all, &ModuleReport{Path: name + string(rune('0'+n/26)), Name: name, Analysed: n % 3,
			Calls:      []Call{{Path: name + string(rune('0'+n/26)), Instruction: "call"}},
			Unanalysed: []Unanalysed{{Target: name, Calls: 1 + n%2, Reason: "r"}},
			Findings: []Finding{{Code: "AC201", Severity: Error, Fingerprint: name, Module: name, Path: name + string(rune('0'+n/26)),
				Calls: 1, Tests: []string{name}}}})
	}
	report := func(list []*ModuleReport) *Report {
		c := NewCollector()
		for _, m := range list {
			c.Add(m)
		}
		return c.Report(Tool{Name: "aliascheck"}, Choices{})
	}
	whole := report(all)
	for range 20 {
		shards := make([][]*ModuleReport, 4)
		for _, m := range all {
			n := rnd.IntN(len(shards))
			shards[n] = append(shards[n], m)
		}
		var reports []*Report
		for _, s := range shards {
			reports = append(reports, report(s))
		}
		got, err := Merge(reports)
		require.NoError(t, err)
		assert.Empty(t, cmp.Diff(whole, got))
	}
}

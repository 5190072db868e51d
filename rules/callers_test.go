package rules

import (
	"fmt"
	"testing"

	"aliascheck/alias"
	"aliascheck/hlo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stackOf makes a source out of lines like "f.py:12", innermost first; those of lib.py
// are library code.
func stackOf(lines ...string) *Source {
	s := &Source{}
	for n, line := range lines {
		var f Frame
		_, err := fmt.Sscanf(line, "%4s:%d", &f.File, &f.Line)
		if err != nil {
			panic(err)
		}
		s.Stack = append(s.Stack, f)
		if f.File != "l.py" {
			s.Own = append(s.Own, n)
		}
	}
	f := s.Stack[s.Own[0]]
	s.File, s.Line = f.File, f.Line
	return s
}

func TestTheNearestLineThatTellsCallsApart(t *testing.T) {
	plain, paired := callKind{"k", 1}, callKind{"k", 2}
	other := callKind{"other", 1}
	for _, c := range []struct {
		name  string
		calls []callSite // the first is the finding's
		want  string
	}{
		{"one call: nothing is known of its frames", []callSite{{stackOf("w.py:1", "a.py:2"), plain}}, "w.py:1"},
		{"a kernel's own function, from two callers", []callSite{{stackOf("w.py:1", "a.py:2"), plain}, {stackOf("w.py:1", "b.py:2"), plain}}, "w.py:1"},
		{"a wrapper of two kernels", []callSite{{stackOf("w.py:1", "a.py:2"), plain}, {stackOf("w.py:1", "b.py:2"), other}}, "a.py:2"},
		{"a wrapper that is given the pairs", []callSite{{stackOf("w.py:1", "a.py:2"), paired}, {stackOf("w.py:1", "a.py:3"), plain}}, "a.py:2"},
		{"a wrapper in a wrapper", []callSite{{stackOf("w.py:1", "v.py:1", "a.py:2"), plain}, {stackOf("w.py:1", "v.py:1", "b.py:2"), other}}, "a.py:2"},
		{"library code between", []callSite{{stackOf("w.py:1", "l.py:9", "a.py:2"), plain}, {stackOf("w.py:1", "l.py:9", "b.py:2"), other}}, "a.py:2"},
		{"two lines of one wrapper", []callSite{{stackOf("w.py:1", "a.py:2"), plain}, {stackOf("w.py:7", "b.py:2"), other}}, "w.py:1"},
		{"a loop over kernels: no line tells them apart", []callSite{{stackOf("w.py:1", "a.py:2"), plain}, {stackOf("w.py:1", "a.py:2"), other}}, "w.py:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all callers
			for _, site := range c.calls {
				all.add(site)
			}
			first := c.calls[0].source
			got := all.apart(first)
			assert.Equal(t, c.want, fmt.Sprintf("%s:%d", got.File, got.Line))
			if innermost := fmt.Sprintf("%s:%d", first.File, first.Line); c.want != innermost {
				require.NotNil(t, got.Wrapper)
				assert.Equal(t, innermost, fmt.Sprintf("%s:%d", got.Wrapper.File, got.Wrapper.Line))
				assert.Nil(t, first.Wrapper, "what many calls share is not changed")
			}
			// What a shard's report keeps says the same.
			var merged callers
			merged.merge(all.list())
			assert.Equal(t, got, merged.apart(got))
			assert.Equal(t, got, merged.apart(first))
		})
	}
}

func TestKindOfACall(t *testing.T) {
	call := func(pairs ...hlo.DeclaredPair) *alias.Call {
		c := &alias.Call{}
		for _, p := range pairs {
			c.Declared = append(c.Declared, alias.Declared{Entry: p})
		}
		return c
	}
	a := kindOf(call(), "k")
	assert.Equal(t, a, kindOf(call(), "k"))
	assert.NotEqual(t, a, kindOf(call(), "l"))
	b := kindOf(call(hlo.DeclaredPair{Operand: 0}), "k")
	assert.NotEqual(t, a, b)
	assert.NotEqual(t, b, kindOf(call(hlo.DeclaredPair{Operand: 1}), "k"))
	assert.NotEqual(t, b, kindOf(call(hlo.DeclaredPair{Result: hlo.ShapeIndex{0}}), "k"))
}

// Equal findings of several callers are one, and its further callers are named.
func TestCallersOfOneFinding(t *testing.T) {
	c := NewCollector()
	for _, s := range []*Source{stackOf("w.py:1", "b.py:2"), stackOf("w.py:1", "a.py:2"), stackOf("w.py:1", "b.py:2")} {
		c.Add(&ModuleReport{Name: "m", Path: s.Stack[1].File, Findings: []Finding{{Code: "AC201", Fingerprint: "f", Severity: Error, Calls: 1, Source: s, Path: s.Stack[1].File}}})
	}
	r := c.Report(Tool{}, Choices{KeepLines: true})
	require.Len(t, r.Findings, 1)
	f := r.Findings[0]
	assert.Equal(t, 3, f.Calls)
	require.Len(t, f.Callers, 1)
	assert.Equal(t, "b.py", f.Callers[0].Stack[1].File)
}

package hlo

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// looped is a module with a loop over three arrays: body is what its root takes of the
// state's elements a, b, c and of n, which negates a.
func looped(body string) string {
	return `HloModule m, is_scheduled=true

%body (s: (f32[2], f32[2], f32[2])) -> (f32[2], f32[2], f32[2]) {
  %s = (f32[2]{0}, f32[2]{0}, f32[2]{0}) parameter(0)
  %a = f32[2]{0} get-tuple-element(%s), index=0
  %b = f32[2]{0} get-tuple-element(%s), index=1
  %c = f32[2]{0} bitcast(%s#2)
  %n = f32[2]{0} negate(%a)
  ROOT %next = (f32[2]{0}, f32[2]{0}, f32[2]{0}) tuple(` + body + `)
}

%more (t: (f32[2], f32[2], f32[2])) -> pred[] {
  %t = (f32[2]{0}, f32[2]{0}, f32[2]{0}) parameter(0)
  ROOT %go = pred[] compare(%t#0, %t#0), direction=LT
}

ENTRY %e (p: f32[2], q: f32[2]) -> f32[2] {
  %p = f32[2]{0} parameter(0)
  %q = f32[2]{0} parameter(1)
  %init = (f32[2]{0}, f32[2]{0}, f32[2]{0}) tuple(%p, %q, %q)
  %w = (f32[2]{0}, f32[2]{0}, f32[2]{0}) while(%init), condition=%more, body=%body
  ROOT %r = f32[2]{0} negate(%w#2)
}
`
}

// chosen is a module with a conditional, whose branches return what is given.
func chosen(first, second string) string {
	return `HloModule m, is_scheduled=true

%one (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  ` + first + `
}

%two (y: f32[2]) -> f32[2] {
  %y = f32[2]{0} parameter(0)
  ` + second + `
}

ENTRY %e (p: f32[2], i: s32[]) -> f32[2] {
  %p = f32[2]{0} parameter(0)
  %i = s32[] parameter(1)
  %k = f32[2]{0} conditional(%i, %p, %p), branch_computations={%one, %two}
  ROOT %r = f32[2]{0} negate(%k)
}
`
}

// reduced is a module with a reducer that only a fusion calls: each thread of it has
// buffers for the reducer's values.
const reduced = `HloModule m, is_scheduled=true

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

%inside (a: f32[2]) -> f32[] {
  %a = f32[2]{0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %all = f32[] reduce(%a, %zero), dimensions={0}, to_apply=%sum
}

ENTRY %e (p: f32[2]) -> f32[] {
  %p = f32[2]{0} parameter(0)
  ROOT %f = f32[] fusion(%p), kind=kLoop, calls=%inside
}
`

// TestFlow takes one value after the other out of an assignment that is whole: each is
// missed, and nothing that XLA would not have made is asked for.
func TestFlow(t *testing.T) {
	loop := []string{"n", "next{}", "go", "q", "init{}", "r", "s{} (phi)", "t{} (phi)", "w{} (phi)"}
	phis := func(k ...int) []string {
		list := append([]string{}, loop...)
		for _, k := range k {
			list = append(list, fmt.Sprintf("s{%d} (phi)", k), fmt.Sprintf("t{%d} (phi)", k), fmt.Sprintf("w{%d} (phi)", k))
		}
		return list
	}
	for _, test := range []struct {
		name, text string
		values     []string // p aside
	}{
		{"an array that the body makes anew", looped("%n, %b, %c"), phis(0)},
		{"arrays that change places, with one value at first", looped("%n, %c, %b"), phis(0)},
		{"arrays that change places, with two", looped("%b, %a, %c"), phis(0, 1)},
		{"an array that moves on", looped("%n, %a, %b"), phis(0, 1, 2)},
		{"nothing that changes", looped("%a, %b, %c"), loop},
		{"branches that make values", chosen("ROOT %u = f32[2]{0} negate(%x)", "ROOT %v = f32[2]{0} negate(%y)"), []string{"i", "u", "v", "k (phi)", "r"}},
		{"a branch that makes one", chosen("ROOT %u = f32[2]{0} negate(%x)", "ROOT %v = f32[2]{0} bitcast(%y)"), []string{"i", "u", "k (phi)", "r"}},
		{"a reducer inside a fusion", reduced, []string{"f", "x", "y", "s"}},
		{"branches that make none", chosen("ROOT %u = f32[2]{0} bitcast(%x)", "ROOT %v = f32[2]{0} bitcast(%y)"), []string{"i", "r"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := readTexts(test.text, oneAssignment(test.values...))
			require.NoError(t, err)
			for i, v := range test.values {
				without := append(append([]string{}, test.values[:i]...), test.values[i+1:]...)
				_, err := readTexts(test.text, oneAssignment(without...))
				require.Error(t, err, "without %s", v)
				name, _, _ := strings.Cut(v, "{")
				name, _, _ = strings.Cut(name, " ")
				if strings.HasSuffix(v, "(phi)") {
					require.ErrorContains(t, err, ": cut off?", "without %s", v)
				} else {
					require.ErrorContains(t, err, fmt.Sprintf("%q", name), "without %s", v)
				}
			}
		})
	}
}

// TestFlowMismatch reads shapes that must be equal and are not: whatever is said of
// them, nothing outside of them is looked at.
func TestFlowMismatch(t *testing.T) {
	for _, edit := range [][2]string{
		{"%init = (f32[2]{0}, f32[2]{0}, f32[2]{0}) tuple(%p, %q, %q)", "%init = f32[2]{0} negate(%p)"},
		{"%w = (f32[2]{0}, f32[2]{0}, f32[2]{0}) while", "%w = (f32[2]{0}, ((f32[2]{0}), ()), (f32[2]{0}, f32[2]{0}, f32[2]{0})) while"},
		{"ROOT %next = (f32[2]{0}, f32[2]{0}, f32[2]{0}) tuple(%n, %b, %c)", "ROOT %next = f32[2]{0} negate(%n)"},
		{"%s = (f32[2]{0}, f32[2]{0}, f32[2]{0}) parameter", "%s = (f32[2]{0}, f32[2]{0}, f32[2]{0}, (s32[], (s32[], s32[]))) parameter"},
	} {
		text := looped("%n, %b, %c")
		require.Contains(t, text, edit[0])
		_, err := readTexts(strings.Replace(text, edit[0], edit[1], 1), oneAssignment("q"))
		require.Error(t, err)
	}
}

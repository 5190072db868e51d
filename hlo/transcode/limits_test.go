package transcode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// oneCall is a module of one parameter and the instructions given.
func oneCall(lines string) string {
	return "HloModule m, is_scheduled=true\n\nENTRY %e (p: f32[2]) -> f32[2] {\n  %p = f32[2]{0} parameter(0)\n" +
		lines + "}\n"
}

// anyElement knows every word as an element type.
func anyElement([]byte) (int32, bool) { return 11, true }

// ample are limits that no test of another limit reaches.
func ample() Limits { return Limits{Bytes: 256 << 20, Instructions: 1 << 20, Computations: 1 << 20} }

// TestGrowth holds the transcoder to memory in proportion to the text: elements of a
// huge tuple, taken out again and again, each have its shape.
func TestGrowth(t *testing.T) {
	huge := "(" + strings.Repeat("f32[], ", 20_000) + "f32[])"
	text := &strings.Builder{}
	fmt.Fprintf(text, "  %%t0 = ((%s, f32[])) add(%%p)\n", huge)
	for i := range 2000 {
		fmt.Fprintf(text, "  %%t%d = f32[] add(%%t0#0#0)\n  %%u%d = f32[] add(%%t0#%d)\n", i+1, i, i%2)
	}
	tr := Transcoder{Element: anyElement}
	_, err := tr.Transcode(Pair{Path: "m.txt", AssignmentPath: "a.txt", Text: []byte(oneCall(text.String()))}, ample())
	require.Error(t, err)
	require.LessOrEqual(t, cap(tr.out.buf)+cap(tr.cur.buf), 4*maxGrowth*text.Len())
}

// TestLimits holds the transcoder to the limits, whatever the text is made of.
func TestLimits(t *testing.T) {
	many := &strings.Builder{}
	for i := range 5000 {
		fmt.Fprintf(many, "  %%i%d = f32[] add()\n", i)
	}
	calls, starts := &strings.Builder{}, &strings.Builder{}
	calls.WriteString("  %c = f32[] add(), called_computations={%c0")
	for i := range 5000 {
		fmt.Fprintf(calls, ",%%c%d", i)
		fmt.Fprintf(starts, "  %%i%d = ((), f32[%d], s32[]) negate-start()\n", i, i)
	}
	calls.WriteString("}\n")
	for name, test := range map[string]struct {
		lines  string
		limits Limits
	}{
		"instructions": {many.String(), Limits{Bytes: ample().Bytes, Instructions: 5000, Computations: 5000}},
		"computations": {calls.String(), Limits{Bytes: ample().Bytes, Instructions: 5000, Computations: 4000}},
		"asynchronous": {starts.String(), ample()},
		"wire":         {many.String(), Limits{Bytes: 100_000, Instructions: 1 << 20, Computations: 1 << 20}},
	} {
		tr := Transcoder{Element: anyElement}
		_, err := tr.Transcode(Pair{Path: "m.txt", AssignmentPath: "a.txt", Text: []byte(oneCall(test.lines))}, test.limits)
		require.ErrorContains(t, err, "more", name)
		require.ErrorContains(t, err, "m.txt:", name)
	}
}

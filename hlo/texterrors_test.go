package hlo

import (
	"fmt"
	"strings"
	"testing"

	"aliascheck/hlo/transcode"

	"github.com/stretchr/testify/require"
)

// TestTextErrors holds errors to file, line and column.
func TestTextErrors(t *testing.T) {
	good := "  ROOT %c = f32[2]{0} add(%p, %p)\n"
	for _, test := range []struct{ text, assignment, want string }{
		{"", oneAssignment(), `m.txt:1:1: "HloModule" expected`},
		{"HloModule m\n\n", oneAssignment(), "m.txt:3:1: no ENTRY computation"},
		{oneCall("  ROOT %c = f33[2]{0} add(%p, %p)\n"), "", `m.txt:5:13: "f33" is no element type`},
		{oneCall("  ROOT %c = f32[2]{0} add(%p, %q)\n"), "", `m.txt:5:31: "q" is no instruction before this`},
		{oneCall("  ROOT %c = f32[2]{0} add(%p#0)\n"), "", "m.txt:5:27: tuple has no element 0"},
		{oneCall("  %p = f32[2]{0} add(%p)\n"), "", `m.txt:5:3: instruction "p" stands twice`},
		{oneCall("  ROOT %c = f32[2]{0} add(%p, %p\n"), "", "m.txt:6:1: name expected"},
		{oneCall("  ROOT %c = f32[2]{0} call(%p), to_apply=%none\n"), "", `computation "none" is called but not there`},
		{"HloModule m\n\n%f (q: f32[]) -> f32[] {\n  ROOT %q = f32[] parameter(0)\n}\n" + oneCall("  ROOT %c = f32[] add(%q)\n")[len("HloModule m, is_scheduled=true"):],
			"", `m.txt:10:23: "q" is no instruction before this in its computation`},
		{oneCall("  %w = f32[2]{0} while(%p)\n" + good), oneAssignment("c"), `m.txt:5:3: while "w" has 1 operands`},
		{oneCall("  %n = f32[2]{0} negate(%p)\n  %w = f32[2]{0} while(%p)\n" + good), oneAssignment("c"), `m.txt:6:3: while "w" has 1 operands`},
		{oneCall("  ROOT %c = " + strings.Repeat("(", 40) + "f32[]" + strings.Repeat(")", 40) + " add(%p)\n"), "", "m.txt:5:46: tuples nest too deep"},
		{oneCall(good), "BufferAssignment:\nallocation 0: size 8:\n value: <0 p @0> (size=8,offset=8): f32[2]{0}\n" +
			" value: <1 c @0> (size=8,offset=0): f32[2]{0}\n", "a.txt:3:10: value 0 in bytes [8,"},
		{oneCall(good), strings.Replace(oneAssignment("c", "p{0}"), "<1 c @0> (size=8,offset=0", "<1 c @0> (size=8,offset=1", 1), "a.txt:5:10: value 1 in bytes [1,"},
		{oneCall(good), "", `a.txt:1:1: "BufferAssignment:" expected`},
		{oneCall(good), oneAssignment("d"), `a.txt:5:12: the module has no instruction "d"`},
		{oneCall(good), "BufferAssignment:\nallocation 1: size 8:\n", "a.txt:2:12: allocation 0 expected"},
		{oneCall(good), "BufferAssignment:\nallocation 0: size 8, odd:\n", "a.txt:2:23: property of an allocation expected"},
		{oneCall(good), "BufferAssignment:\nallocation 0: size 8, page 0:\n", `m.txt:4:3: parameter "p" has no buffer for 1 of its 1 results: the buffer assignment is not whole`},
		{oneCall(good), strings.TrimSuffix(oneAssignment("c"), "\n"), "a.txt:5:46: line does not end: cut off?"},
		{oneCall(good), strings.Replace(oneAssignment("c"), "offset=0", "offset=-8", 1), "a.txt:3:10: value 0 in bytes [-8,"},
		{oneCall(good), strings.Replace(oneAssignment("c"), "offset=0", "offset=4", 1), "a.txt:3:10: value 0 in bytes [4,"},
		{oneCall(good), strings.Replace(oneAssignment("c"), "size=8", "size=99999999999999999999", 1), "a.txt:3:24: number of 64 bits expected"},
	} {
		_, err := readTexts(test.text, test.assignment)
		require.ErrorContains(t, err, test.want)
	}
}

// TestTextErrorsTogether holds the reader to more than the first error.
func TestTextErrorsTogether(t *testing.T) {
	_, err := readTexts(oneCall("  %a = f33[2]{0} add(%p)\n  %b = f32[2]{0 add(%p)\n  ROOT %c = f32[2]{0} add(%d)\n"), "")
	require.ErrorContains(t, err, "m.txt:5:8: ")
	require.ErrorContains(t, err, "m.txt:6:14: shape does not end on its line")
	require.ErrorContains(t, err, "m.txt:7:27: ")
	_, err = readTexts(oneCall(strings.Repeat("  %a = f33[2]{0} add(%p)\n", 1000)), "")
	require.Len(t, strings.Split(err.Error(), "\n"), transcode.MaxErrors)
}

// TestTextNesting holds the reader to a bounded stack.
func TestTextNesting(t *testing.T) {
	deep := 100_000
	for _, text := range []string{
		oneCall("  ROOT %c = " + strings.Repeat("(", deep) + "f32[2]{0}" + strings.Repeat(")", deep) + " add(%p)\n"),
		oneCall("  ROOT %c = f32[2]{0} add(%p), backend_config=" + strings.Repeat("{", deep) + strings.Repeat("}", deep-1) + "\n"),
		oneCall("  ROOT %c = f32[2]{0} add(" + strings.Repeat("(", deep) + "%p)\n"),
		oneCall("  ROOT %c = f32[2]{0} add(%p" + strings.Repeat("#0", deep) + ")\n"),
		"HloModule m, input_output_alias={ {}: (0, {" + strings.Repeat("{", deep),
	} {
		_, err := readTexts(text, oneAssignment("c"))
		require.ErrorContains(t, err, "m.txt:")
	}
}

// TestTextGrowth holds the reader to memory in proportion to the text: elements of a
// huge tuple, taken out again and again, each have its shape.
func TestTextGrowth(t *testing.T) {
	huge := "(" + strings.Repeat("f32[], ", 20_000) + "f32[])"
	text := &strings.Builder{}
	fmt.Fprintf(text, "  %%t0 = ((%s, f32[])) add(%%p)\n", huge)
	for i := range 2000 {
		fmt.Fprintf(text, "  %%t%d = f32[] add(%%t0#0#0)\n  %%u%d = f32[] add(%%t0#%d)\n", i+1, i, i%2)
	}
	_, err := readTexts(oneCall(text.String()), oneAssignment())
	require.Error(t, err)
}

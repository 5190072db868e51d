package hlo

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// oneCall is a module whose entry holds the lines between parameter and root.
func oneCall(lines string) string {
	return "HloModule m, is_scheduled=true\n\nENTRY %e (p: f32[2]) -> f32[2] {\n  %p = f32[2]{0} parameter(0)\n" +
		lines + "}\n"
}

// oneAssignment lays out p and the values that are given as "NAME", each of 8 bytes.
func oneAssignment(values ...string) string {
	b := &strings.Builder{}
	b.WriteString("BufferAssignment:\n")
	for i, v := range append([]string{"p"}, values...) {
		fmt.Fprintf(b, "allocation %d: size 8, page 0:\n value: <%d %s @0> (size=8,offset=0): f32[2]{0}\n", i, i, v)
	}
	return b.String()
}

// readTexts reads a text pair from memory.
func readTexts(text, assignment string) (*Module, error) {
	return NewReader(Limits{}).Read(Source{
		Path: "m.txt", Text: true, Assignment: "a.txt",
		member: &member{text: []byte(text), assignment: []byte(assignment)},
	})
}

// onlyCall is the only custom call of a module.
func onlyCall(t *testing.T, m *Module) *CustomCall {
	var found *CustomCall
	for i := range m.Instructions {
		if in := &m.Instructions[i]; in.Opcode == customCall {
			require.Nil(t, found)
			found = in.Custom
		}
	}
	require.NotNil(t, found)
	return found
}

func TestTextConfiguration(t *testing.T) {
	for _, test := range []struct{ printed, want string }{
		{`backend_config="key=value"`, "key=value"},
		{`backend_config="quote \" back \\ tab \t end\n"`, "quote \" back \\ tab \t end\n"},
		{`backend_config="x\234\001\'\377\x7f"`, "x\x9c\x01'\xff\x7f"},
		{`backend_config="\a\b\f\r\v\?\"", sharding={devices=[2,1]<=[2]}`, "\a\b\f\r\v?\""},
		{`backend_config={"key":[1,{"a":"}"}]}`, `{"key":[1,{"a":"}"}]}`},
		{`backend_config={opaque = "x\9C\"}", n = 1 : i32}`, `{opaque = "x\9C\"}", n = 1 : i32}`},
		{`backend_config=""`, ""},
		{`metadata={op_name="f"}`, ""},
	} {
		m, err := readTexts(oneCall(`  ROOT %c = f32[2]{0} custom-call(%p), custom_call_target="t", `+test.printed+"\n"), oneAssignment("c"))
		require.NoError(t, err, test.printed)
		require.Equal(t, test.want, string(onlyCall(t, m).Config))
	}
}

func TestTextVersions(t *testing.T) {
	for name, want := range map[string]int32{
		"": 1, "API_VERSION_UNSPECIFIED": 0, "API_VERSION_ORIGINAL": 1, "API_VERSION_STATUS_RETURNING": 2,
		"API_VERSION_STATUS_RETURNING_UNIFIED": 3, "API_VERSION_TYPED_FFI": 4,
	} {
		line := `  ROOT %c = f32[2]{0} custom-call(%p), custom_call_target="t"`
		if name != "" {
			line += ", api_version=" + name
		}
		m, err := readTexts(oneCall(line+"\n"), oneAssignment("c"))
		require.NoError(t, err)
		require.Equal(t, want, onlyCall(t, m).APIVersion)
	}
}

// TestTextOperands reads operands as old and new XLA print them.
func TestTextOperands(t *testing.T) {
	for _, test := range []struct {
		operands, want string
		made           int // get-tuple-elements
	}{
		{"%p, %p", "p[] p[]", 0},
		{"p, p", "p[] p[]", 0},
		{"f32[2]{0} %p, f32[2]{0} p", "p[] p[]", 0},
		{"%p, /*index=1*/%p", "p[] p[]", 0},
		{"/*index=0*/f32[2]{0} %p , /*index=1*/ %p", "p[] p[]", 0},
		{"(f32[2]{0}, /*index=1*/(f32[2]{0}, s32[])) %t", "t[]", 0},
		{"%t#0", "t[0]", 1},
		{"%t#1#0, %p, %t#1#1, %t#1#0", "t[1 0] p[] t[1 1] t[1 0]", 3},
		{"", "", 0},
	} {
		m, err := readTexts(oneCall(
			"  %t = (f32[2]{0}, /*index=1*/(f32[2]{0}, s32[])) sort(%p)\n"+
				"  ROOT %c = f32[2]{0} concatenate("+test.operands+")\n"), oneAssignment("t{}", "t{0}", "t{1}", "t{1,0}", "t{1,1}", "c"))
		require.NoError(t, err, test.operands)
		var got []string
		for _, o := range m.Instructions[m.Computations[m.Entry].Root].Operands {
			got = append(got, origin(m, o, nil))
		}
		require.Equal(t, test.want, strings.Join(got, " "), test.operands)
		made := 0
		for i := range m.Instructions {
			if m.Instructions[i].Opcode == "get-tuple-element" {
				made++
			}
		}
		require.Equal(t, test.made, made, test.operands)
	}
}

// TestTextShapes reads every form that XLA prints.
func TestTextShapes(t *testing.T) {
	array, nested := []string{"c"}, []string{"c{}", "c{0}", "c{1}", "c{1,0}", "c{1,1}"}
	for _, test := range []struct {
		shape  string
		values []string
		want   []Leaf
	}{
		{"f32[]", array, []Leaf{{Element: F32, Bytes: 4}}},
		{"pred[3]{0}", array, []Leaf{{Element: Pred, Dims: []int64{3}, Bytes: 3}}},
		{"f32[2,3]{1,0:T(8,128)(2,1)S(5)}", array, []Leaf{{Element: F32, Dims: []int64{2, 3}, Bytes: 24}}},
		{"s4[8]{0}", array, []Leaf{{Element: 21, Dims: []int64{8}, Bytes: 8}}},
		{"s4[8]{0:E(4)}", array, []Leaf{{Element: 21, Dims: []int64{8}, Bytes: 4}}},
		{"f32[<=5,2]{1,0}", array, []Leaf{{Element: F32, Dims: []int64{5, 2}, Bytes: 40}}},
		{"f32[0,2]{1,0}", array, []Leaf{{Element: F32, Dims: []int64{0, 2}}}},
		{"token[]", array, []Leaf{{Element: TokenType}}},
		{"b(f32[2]{0})", array, []Leaf{{Element: F32, Dims: []int64{2}, Bytes: 8}}},
		{"(f32[2]{0}, /*index=1*/(s32[], token[]))", nested, []Leaf{
			{Index: ShapeIndex{0}, Element: F32, Dims: []int64{2}, Bytes: 8},
			{Index: ShapeIndex{1, 0}, Element: S32, Bytes: 4},
			{Index: ShapeIndex{1, 1}, Element: TokenType},
		}},
		{"()", []string{"c{}"}, nil},
	} {
		m, err := readTexts(oneCall("  ROOT %c = "+test.shape+" rng-bit-generator(%p)\n"), oneAssignment(test.values...))
		require.NoError(t, err, test.shape)
		leaves := m.Leaves(m.Computations[m.Entry].Root)
		require.Len(t, leaves, len(test.want), test.shape)
		for i, want := range test.want {
			require.Equal(t, fmt.Sprint(want), fmt.Sprint(leaves[i]), test.shape)
		}
	}
}

// TestTextModule reads what the dumps of testdata do not hold.
func TestTextModule(t *testing.T) {
	m, err := readTexts(`HloModule pjit(f<x>), is_scheduled=true, input_output_alias={ {0}: (1, {0}, may-alias), {}: (2, {}) }, buffer_donor={ (0, {}), (3, {1,2}) }

%inside (a: f32[2]) -> f32[2] {
  %a = f32[2]{0} parameter(0)
  ROOT %x = f32[2]{0} custom-call(%a), custom_call_target="fused"
} // inside

%sel (b: f32[2]) -> f32[2] {
  ROOT %b = f32[2]{0} parameter(0)
}

%sca (d: f32[2]) -> f32[2] {
  ROOT %d = f32[2]{0} parameter(0)
}, execution_thread="other"

ENTRY %e (p: f32[2]) -> f32[2] {
  %p = f32[2]{0} parameter(0) // a comment
  %k = f32[2,2]{1,0} constant({
    { 1, 2 },
    { 3, 4 }
  }), metadata={op_name="a\"b" source_file="dir/f.py" source_line=7 source_column=3 profile_type={1} op_type="x"}
  %f = f32[2]{0} fusion(%p), kind=kCustom, calls=%inside
  ROOT %s = f32[2]{0} select-and-scatter(%f, %p, %p), select=%sel, scatter=%sca, control-predecessors={%k, %f}
}
`, `BufferAssignment:
allocation 0: size 8, color 3, parameter 0, shape |f32[2]| at ShapeIndex {}, output shape is |(f32[2], s32[])|, thread-local, maybe-live-out:
 value: <7 p @2> (size=8,offset=0): f32[2]{0}
allocation 1: size 256, page 1, preallocated-temp:
 value: <9 k @0> (size=16,offset=0): f32[2,2]{1,0}
 value: <8 f (phi) @0> (size=8,offset=64): f32[2]{0}

Total bytes used: 264 (264B)

Used values:
<7 p @2>
 positions:
  p
 uses:
  f, operand 0
 from instruction:%p = f32[2]{0} parameter(0)<8 f (phi) @0>
 positions:
  f
 uses:
 from instruction:%f = f32[2]{0} fusion(%p), kind=kCustom, calls=%inside<9 k @0>
 positions:
  k
 uses:
 from instruction:%k = f32[2,2]{1,0} constant({
    { 1, 2 },
    { 3, 4 }
  })

HloLiveRange (max 4):
`)
	require.NoError(t, err)
	require.Equal(t, []ParameterLeaf{
		{Parameter: 1, Index: ShapeIndex{0}, Aliased: true, Output: ShapeIndex{0}},
		{Parameter: 2, Index: ShapeIndex{}, Aliased: true, Output: ShapeIndex{}},
		{Parameter: 0, Index: ShapeIndex{}, Output: ShapeIndex{}},
		{Parameter: 3, Index: ShapeIndex{1, 2}, Output: ShapeIndex{}},
	}, m.Donated)
	require.Equal(t, "pjit(f<x>)", m.Name)
	named := map[string]int32{}
	for i := range m.Instructions {
		named[m.Instructions[i].Name] = int32(i)
	}
	s := m.Instructions[named["s"]]
	require.Equal(t, []int32{named["k"], named["f"]}, s.Control)
	require.Len(t, s.Called, 2)
	require.Equal(t, "sel", m.Computations[s.Called[0]].Name)
	require.Equal(t, "sca", m.Computations[s.Called[1]].Name)
	require.Equal(t, []Frame{{File: "dir/f.py", Line: 7, Column: 3}}, m.Stack(nil, named["k"]))
	require.Equal(t, `a"b`, m.OpName(named["k"]))
	inside := m.Computations[m.Instructions[named["x"]].Computation]
	require.True(t, inside.Fusion)
	require.Nil(t, inside.Schedule)
	require.Equal(t, "fused", onlyCall(t, m).Target)
	a := m.Allocations[0]
	require.Equal(t, []any{int64(3), true, true, true}, []any{a.Color, a.ThreadLocal, a.MaybeLiveOut, a.EntryParameter})
	require.Equal(t, int64(2), m.Values[a.Values[0]].Color)
	require.Equal(t, int64(64), m.Values[m.Allocations[1].Values[1]].Offset)
}

// TestTextAsynchronous reads calls whose computation the text leaves out.
func TestTextAsynchronous(t *testing.T) {
	start := func(name, target string) string {
		return "  %" + name + `-start = ((f32[2]{0}), f32[2]{0}, s32[]) custom-call-start(%p), custom_call_target="` + target + "\"\n" +
			"  %" + name + "-done = f32[2]{0} custom-call-done(%" + name + "-start)\n"
	}
	m, err := readTexts(oneCall(start("one", "t")+"  ROOT %r = f32[2]{0} negate(%one-done)\n"), oneAssignment("r", "one-start{}", "one-start{0}", "one-start{2}", "hidden.1"))
	require.NoError(t, err)
	require.Equal(t, "t", onlyCall(t, m).Target)
	v := m.Values[m.Allocations[5].Values[0]]
	in := m.Instructions[v.Instruction]
	require.Equal(t, []string{"custom-call", "one-start"}, []string{in.Opcode, in.Name})
	require.False(t, m.Computations[in.Computation].Fusion)
	require.Equal(t, asyncStart, m.Instructions[m.Computations[in.Computation].Callers[0]].Opcode)

	two := start("one", "t") + start("two", "u") + "  ROOT %r = f32[2]{0} add(%one-done, %two-done)\n"
	_, err = readTexts(oneCall(two), oneAssignment("r", "hidden.1", "hidden.2"))
	require.ErrorContains(t, err, `a.txt:7:12: "hidden.1" is one of 2 asynchronous instructions of one shape`)
	_, err = readTexts(oneCall(start("one", "t")), oneAssignment("hidden.1", "hidden.2"))
	require.ErrorContains(t, err, `a.txt:7:12: the module has no instruction "hidden.2"`)
	_, err = readTexts(oneCall(start("one", "t")), oneAssignment())
	require.ErrorContains(t, err, "a.txt:4:1: 0 of the 3 values of \"one-start\" are there: cut off?")
}

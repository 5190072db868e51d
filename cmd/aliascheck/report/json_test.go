package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"aliascheck/rules"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

func hostileText() []string {
	return []string{
		"", "plain", `"quoted"`, `back\slash`, "line\nfeed\r\t\b\f\v", "\x00\x01\x1b[31m\x7f", "<script>&amp;</script>",
		"\u2028\u2029", "umlaut ä, 日本, 🙂", "\xff\xfe broken", "ends \xc3", "\u202e turned",
	}
}

// TestAppendCall holds the hand-written form of a call to encoding/json's.
func TestAppendCall(t *testing.T) {
	for _, s := range hostileText() {
		c := rules.Call{
			Module: s, Path: s, Computation: s, Instruction: s, Target: s, Kernel: s, Configurations: 7,
			Pairs: []rules.Pair{{Operand: 1, OperandIndex: []int{}, ResultIndex: []int{0, 12}, Declared: true, Verdict: s, Basis: s, Reason: s}, {}},
		}
		want, err := json.Marshal(&c)
		require.NoError(t, err)
		require.Equal(t, string(want), string(appendCall(appendModule(nil, &c), &c)))
	}
}

// TestAppendString holds every byte, wherever it stands, to encoding/json's form.
func TestAppendString(t *testing.T) {
	for n := range 20 {
		for c := range 256 {
			for at := range n {
				s := []byte(strings.Repeat("z", n))
				s[at] = byte(c)
				if at > 0 {
					s[at/2] = "z &/=!\x7f\x1f"[c%8]
				}
				want, err := json.Marshal(string(s))
				require.NoError(t, err)
				require.Equal(t, string(want), string(appendString(nil, string(s))))
			}
		}
	}
}

// TestJSONReadsBack writes a report and reads it as encoding/json does.
func TestJSONReadsBack(t *testing.T) {
	n := 3
	r := &rules.Report{
		SchemaVersion: rules.SchemaVersion, Tool: rules.Tool{Name: "aliascheck", Version: "v"},
		Summary: rules.Summary{Modules: 2, Unanalysed: []rules.Unanalysed{{Target: "t", Calls: 1, Reason: "r"}}},
		Calls:   rules.Calls{{{Module: "a", Pairs: []rules.Pair{{OperandIndex: []int{}, ResultIndex: []int{}}}}}, {{Module: "b", Pairs: []rules.Pair{}}}},
		Findings: []rules.Finding{
			{Code: "AC101", Operand: &n, OperandIndex: []int{}, ResultIndex: []int{1}, Message: "m"}, {Code: "AC103"},
		},
	}
	var out bytes.Buffer
	require.NoError(t, JSON(&out, r, Options{}))
	var back rules.Report
	require.NoError(t, json.Unmarshal(out.Bytes(), &back))
	if diff := cmp.Diff(r, &back, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}

	out.Reset()
	require.NoError(t, JSON(&out, &rules.Report{}, Options{}))
	require.NoError(t, json.Unmarshal(out.Bytes(), &back), "an empty report")
}

// TestTextIsHarmless prints hostile names: nothing but printable text and our own
// line feeds comes out.
func TestTextIsHarmless(t *testing.T) {
	for _, s := range hostileText() {
		n := 0
		r := &rules.Report{Findings: []rules.Finding{{
			Code: "AC101", Rule: "undeclared-overlap", Severity: rules.Error, Module: s, Instruction: s, Target: s, Kernel: s,
			Operand: &n, Message: s, Why: s, Fix: s, ConfirmationReason: s, Confirmation: rules.Unchecked,
			Source:  &rules.Source{File: s, Function: s, Stack: []rules.Frame{{File: s, Function: s}, {File: s}}},
			Related: []rules.Related{{Role: "reader", Instruction: s, Text: s, File: s}}, Tests: []string{s},
		}}, Summary: rules.Summary{
			Unanalysed: []rules.Unanalysed{{Target: s, Kernel: s, Reason: s}},
			Incomplete: []rules.Incomplete{{Path: s, Error: s}}, Stale: []rules.Stale{{Where: s, Text: s, Reason: s}},
			NotAudited: []rules.NotAudited{{Check: s, Reason: s}},
		}}
		var out bytes.Buffer
		require.NoError(t, Text(&out, r, Options{}))
		for _, line := range strings.Split(out.String(), "\n") {
			require.Equal(t, line, Clean(line), "from %q", s)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain ä": "plain ä", "\x1b[31mred": `\x1b[31mred`, "a\nb": `a\x0ab`, "\xff": `\xff`,
		"\u202eabc": `\u202eabc`, "zero\u200bwidth": `zero\u200bwidth`, "\u0085": `\x85`,
	} {
		require.Equal(t, want, Clean(in))
	}
}

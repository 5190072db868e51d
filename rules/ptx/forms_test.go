package ptx

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// formKey is a word of an instruction together with its last word, the type.
type formKey struct{ opcode, word, typ string }

// asked gives what the table accepts and a case must hold: each type, and each
// word with each type. The default, .rn where nothing may be said, is no case of its own.
func asked(opcode string, f form) []formKey {
	var out []formKey
	last := f[len(f)-1]
	for _, typ := range last {
		if typ == "-" {
			continue
		}
		out = append(out, formKey{opcode, "", typ})
		for _, slot := range f[:len(f)-1] {
			for _, w := range slot {
				if w != "-" && (w != "rn" || !slices.Contains(slot, "-")) {
					out = append(out, formKey{opcode, w, typ})
				}
			}
		}
	}
	return out
}

// instructionsOf lists the instructions of a case, as words.
func instructionsOf(text string) [][]string {
	var out [][]string
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		for _, word := range strings.Fields(line) {
			if !strings.HasPrefix(word, "@") && !strings.HasSuffix(word, ":") && word != "{" {
				out = append(out, strings.Split(word, "."))
				break
			}
		}
	}
	return out
}

// TestEveryFormHasACase: whatever word the table accepts before a type has a
// case with values, so that a modifier cannot be taken and be forgotten.
func TestEveryFormHasACase(t *testing.T) {
	have := map[formKey]bool{}
	note := func(text string) {
		for _, words := range instructionsOf(text) {
			last := words[len(words)-1]
			have[formKey{words[0], "", last}] = true
			for _, w := range words[min(1, len(words)-1) : len(words)-1] {
				have[formKey{words[0], w, last}] = true
			}
		}
	}
	for _, c := range valueCases() {
		note(c.text)
	}
	for _, c := range kernelCases() {
		note(c.body)
	}
	l := &lowerer{known: map[string][]form{}}
	for _, r := range Rows() {
		for _, f := range l.forms(r.Opcode) {
			for _, k := range asked(r.Opcode, f) {
				assert.True(t, have[k], "no case for %s with .%s and .%s", k.opcode, k.word, k.typ)
			}
		}
	}
}

// TestFormsAreRefused: words that an instruction does not take make a launch
// not analysed.
func TestFormsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"add.sat.u32 %r1, %r2, %r3;":             "unknown form",
		"add.sat.sat.s32 %r1, %r2, %r3;":         "unknown form",
		"add.rz.f16 %rs1, %rs2, %rs3;":           "unknown",
		"add.b32 %r1, %r2, %r3;":                 "unknown modifier .b32",
		"mul.s32 %r1, %r2, %r3;":                 "unknown form",
		"mul24.hi.sat.s32 %r1, %r2, %r3;":        "unknown modifier .sat",
		"fma.f32 %f1, %f2, %f3, %f4;":            "unknown form",
		"fma.rn.relu.f32 %f1, %f2, %f3, %f4;":    "unknown form",
		"prmt.b32.xyz %r1, %r2, %r3, %r4;":       "unknown modifier .xyz",
		"setp.lt.b32 %p1, %r2, %r3;":             "unknown form",
		"setp.equ.s32 %p1, %r2, %r3;":            "unknown form",
		"shfl.sync.wat.b32 %r1, %r2, 0, 31, -1;": "unknown modifier .wat",
		"vote.sync.most.pred %p1, %p2, -1;":      "unknown modifier .most",
		"redux.sync.mul.u32 %r1, %r2, -1;":       "unknown modifier .mul",
	} {
		o := run(t, handLaunch(kernel(t, 1, ".reg .b16 %rs<5>; "+text+" ret;"), 1, 32, 0, 64))
		assert.False(t, o.Analysed)
		assert.Contains(t, o.Reason, want, text)
	}
}

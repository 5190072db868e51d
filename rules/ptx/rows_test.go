package ptx

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rowCase is one instruction (or a few) with values worked out by hand from the
// PTX ISA. The text uses registers %a, %b, %c, %e, of the kinds that in names,
// and leaves its result in %z: h 16 bits, r 32, d 64, p a predicate. %t, %u are
// 32-bit, %v 64-bit, %q a predicate, for use in between.
type rowCase struct {
	text, in, out string
	values        [][]uint64 // inputs, then the result
	brief         bool       // of many alike: one line alone is tried as constants
}

// valueCases lists all of them.
func valueCases() []rowCase {
	var out []rowCase
	for _, list := range [][]rowCase{integerCases(), bitCases(), logicCases(), moveCases(), floatCases(), halfCases(), cvtCases(), cvtPairCases(), wordCases()} {
		out = append(out, list...)
	}
	return out
}

// TestRowValues runs every case twice: its lines of values as lanes of a warp
// that loads them, and each line alone, as constants.
func TestRowValues(t *testing.T) {
	for _, c := range valueCases() {
		t.Run(c.text, func(t *testing.T) {
			require.LessOrEqual(t, len(c.values), 32)
			c.check(t, c.values, true)
			for i, line := range c.values {
				if c.brief && i > 0 {
					break
				}
				c.check(t, [][]uint64{line}, false)
			}
		})
	}
}

func (c *rowCase) check(t *testing.T, lines [][]uint64, load bool) {
	in := make([]byte, 32*32)
	for i, line := range lines {
		require.Len(t, line, len(c.in)+1)
		for k, v := range line[:len(c.in)] {
			binary.LittleEndian.PutUint64(in[32*i+8*k:], v)
		}
	}
	types := map[byte]string{'h': "b16", 'r': "b32", 'd': "b64"}
	var b strings.Builder
	b.WriteString(".reg .b32 %t, %u; .reg .b64 %v, %x<9>, %w; .reg .pred %q;\nmul.wide.u32 %w, %tid, 32; add.s64 %w, %rd0, %w;\n")
	for k := range c.in {
		kind, name := c.in[k], "abce"[k]
		fmt.Fprintf(&b, "ld.global.b64 %%x%d, [%%w+%d];\n", k, 8*k)
		if !load {
			fmt.Fprintf(&b, "mov.b64 %%x%d, 0x%x;\n", k, lines[0][k])
		}
		switch kind {
		case 'p':
			fmt.Fprintf(&b, ".reg .pred %%%c; setp.ne.u64 %%%c, %%x%d, 0;\n", name, name, k)
		case 'd':
			fmt.Fprintf(&b, ".reg .b64 %%%c; mov.b64 %%%c, %%x%d;\n", name, name, k)
		default:
			fmt.Fprintf(&b, ".reg .%s %%%c; cvt.u%s.u64 %%%c, %%x%d;\n", types[kind], name, types[kind][1:], name, k)
		}
	}
	if c.out == "p" {
		fmt.Fprintf(&b, ".reg .pred %%z;\n%s\nselp.u64 %%x8, 1, 0, %%z;\n", c.text)
	} else {
		fmt.Fprintf(&b, ".reg .%s %%z;\n%s\ncvt.u64.u%s %%x8, %%z;\n", types[c.out[0]], c.text, types[c.out[0]][1:])
	}
	b.WriteString("mul.wide.u32 %w, %tid, 8; add.s64 %w, %rd1, %w;\nst.global.b64 [%w], %x8;\nret;")
	l := handLaunch(kernel(t, 2, b.String()), 1, uint32(len(lines)), 4096, len(in), 32*8)
	l.Buffers[0].Contents = in
	got := full(t, l, 1)
	for i, line := range lines {
		n := len(line) - 1
		assert.Equal(t, fmt.Sprintf("%#x", line[n]), fmt.Sprintf("%#x", binary.LittleEndian.Uint64(got[8*i:])), "%x, loaded %v", line[:n], load)
	}
}

// kernelCase is a kernel of one block, with the 32-bit words that it leaves in p1.
type kernelCase struct {
	name, body string
	threads    uint32
	in         []uint32 // words of p0
	want       func(i int) uint32
	words      int // of p1; 0: one per thread
}

func (c *kernelCase) run(t *testing.T) {
	words := max(c.words, int(c.threads))
	if c.words > 0 {
		words = c.words
	}
	l := handLaunch(kernel(t, 2, c.body), 1, c.threads, 8192, max(4*len(c.in), 4), 4*words)
	for i, v := range c.in {
		binary.LittleEndian.PutUint32(l.Buffers[0].Contents[4*i:], v)
	}
	got := full(t, l, 1)
	for i := range words {
		assert.Equal(t, fmt.Sprintf("%#x", c.want(i)), fmt.Sprintf("%#x", binary.LittleEndian.Uint32(got[4*i:])), "word %d", i)
	}
}

// TestRowKernels runs what needs more than one thread, memory or control flow.
func TestRowKernels(t *testing.T) {
	for _, c := range kernelCases() {
		t.Run(c.name, c.run)
	}
}

func kernelCases() []kernelCase {
	var out []kernelCase
	for _, list := range [][]kernelCase{warpCases(), memoryCases(), atomicCases(), controlCases(), asyncCases(), matrixCases()} {
		out = append(out, list...)
	}
	return out
}

// effectCase is a kernel whose results are not computed: what it touches counts.
type effectCase struct {
	name, body string
	check      func(t *testing.T, o *Outcome)
}

func TestRowEffects(t *testing.T) {
	for _, c := range effectCases() {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range []Mode{Sliced, Full} {
				l := handLaunch(kernel(t, 2, c.body), 1, 128, 16384, 4096, 4096)
				l.Mode = mode
				o, err := Run(context.Background(), l)
				require.NoError(t, err)
				c.check(t, o)
			}
		})
	}
}

// TestWarpsThatAreNotWhole: lanes that are not there give something undefined,
// and nothing else happens.
func TestWarpsThatAreNotWhole(t *testing.T) {
	for _, c := range kernelCases() {
		for _, mode := range []Mode{Sliced, Full} {
			l := handLaunch(kernel(t, 2, c.body), 2, c.threads+3, 8192, 4096, 4096)
			l.Mode, l.Budget.Steps = mode, 1<<20
			_, err := Run(context.Background(), l)
			require.NoError(t, err)
		}
	}
}

// TestEveryRowHasACase holds that no row of the table goes without a test here.
func TestEveryRowHasACase(t *testing.T) {
	tested := map[string]bool{}
	note := func(text string) {
		for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '\n' || r == '{' }) {
			for _, word := range strings.Fields(line) {
				if !strings.HasPrefix(word, "@") && !strings.HasSuffix(word, ":") {
					tested[strings.SplitN(word, ".", 2)[0]] = true
					break
				}
			}
		}
	}
	for _, c := range valueCases() {
		note(c.text)
	}
	for _, c := range kernelCases() {
		note(c.body)
	}
	for _, c := range effectCases() {
		note(c.body)
	}
	note(callText())
	note(memoryHead + memoryCommit + memoryRest)
	note(launchControl)
	for _, r := range Rows() {
		assert.True(t, tested[r.Opcode], "no case for %s", r.Opcode)
		assert.NotEmpty(t, r.Section)
	}
}

// one makes a case of few words: inputs and result in one line each.
func values(text, in, out string, lines ...[]uint64) rowCase {
	return rowCase{text, in, out, lines, false}
}

func v(x ...uint64) []uint64 { return x }

// f32b and f64b are the bits of a number.
func f32b(f float32) uint64 { return uint64(math.Float32bits(f)) }
func f64b(f float64) uint64 { return math.Float64bits(f) }

const (
	nan32 = 0x7fffffff // the NaN that instructions give
	inf32 = 0x7f800000
	nan16 = 0x7fff
	neg32 = 0x80000000
)

package ptx

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"aliascheck/rules/ptx/syntax"
)

// TestEveryWidth: what is loaded from global memory, taken through shared or
// local memory, and stored again, of every type and vector, is the same bytes.
func TestEveryWidth(t *testing.T) {
	in := make([]byte, 32)
	for i := range in {
		in[i] = byte(0x81 + 7*i) // signs differ from byte to byte
	}
	for _, typ := range strings.Fields("b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64 b128") {
		for vec := 1; vec <= 8; vec *= 2 {
			bits := syntax.TypeBits(typ)
			if vec*bits > 256 || bits == 128 && vec > 1 {
				continue
			}
			t.Run(fmt.Sprintf("%s v%d", typ, vec), func(t *testing.T) {
				word, regs := "", make([]string, vec)
				for i := range regs {
					regs[i] = fmt.Sprintf("%%x%d", i)
				}
				list := regs[0]
				if vec > 1 {
					word, list = fmt.Sprintf(".v%d", vec), "{"+strings.Join(regs, ", ")+"}"
				}
				reg := map[int]string{8: "b16", 16: "b16", 32: "b32", 64: "b64", 128: "b128"}[bits]
				form := word + "." + typ
				body := fmt.Sprintf(`.reg .%s %%x<8>; .local .align 16 .b8 own[32]; mov.b32 %%r40, smem; mov.b64 %%rd5, smem; cvta.shared.u64 %%rd6, %%rd5;
ld.global%[2]s %[3]s, [%%rd0]; st.shared%[2]s [%%r40], %[3]s; ld%[2]s %[3]s, [%%rd6]; st.local%[2]s [own], %[3]s; ld.local%[2]s %[3]s, [own]; st.global%[2]s [%%rd1], %[3]s; ret;`, reg, form, list)
				l := handLaunch(kernel(t, 2, body), 1, 1, 64, 32, 32)
				copy(l.Buffers[0].Contents, in)
				n := vec * bits / 8
				got := full(t, l, 1)
				assert.Equal(t, in[:n], got[:n])
				assert.Equal(t, make([]byte, 32-n), got[n:])
				o := analysed(t, l)
				assert.Equal(t, []Range{{0, int64(n)}}, o.Effects[0].Read)
				assert.Equal(t, []Range{{0, int64(n)}}, o.Effects[1].Written)
			})
		}
	}
}

// TestLoadsExtend: into a wider register a signed type extends its sign, others zeros.
func TestLoadsExtend(t *testing.T) {
	for typ, want := range map[string][2]uint64{ // of bytes 80 ff 00 90 01 02 03 84: in 32 bits, in 64
		"u8": {0x80, 0x80}, "b8": {0x80, 0x80}, "s8": {0xffffff80, 0xffffffffffffff80},
		"u16": {0xff80, 0xff80}, "b16": {0xff80, 0xff80}, "s16": {0xffffff80, 0xffffffffffffff80},
		"u32": {0x9000ff80, 0x9000ff80}, "b32": {0x9000ff80, 0x9000ff80}, "s32": {0x9000ff80, 0xffffffff9000ff80},
	} {
		for _, space := range []string{".global", ".shared", ".local", ""} {
			at := map[string]string{".global": "%rd0", "": "%rd0", ".shared": "smem", ".local": "own"}[space]
			body := ".local .align 16 .b8 own[32]; ld.global.b64 %rd5, [%rd0]; st.shared.b64 [smem], %rd5; st.local.b64 [own], %rd5;" +
				"ld" + space + "." + typ + " %r1, [" + at + "]; ld" + space + "." + typ + " %rd6, [" + at + "]; st.global.b32 [%rd1], %r1; st.global.b64 [%rd1+8], %rd6; ret;"
			l := handLaunch(kernel(t, 2, body), 1, 1, 64, 8, 16)
			copy(l.Buffers[0].Contents, []byte{0x80, 0xff, 0, 0x90, 1, 2, 3, 0x84})
			got := full(t, l, 1)
			assert.Equal(t, fmt.Sprintf("%#x", want[0]), fmt.Sprintf("%#x", binary.LittleEndian.Uint32(got)), "%s%s", typ, space)
			assert.Equal(t, fmt.Sprintf("%#x", want[1]), fmt.Sprintf("%#x", binary.LittleEndian.Uint64(got[8:])), "%s%s", typ, space)
		}
	}
}

// atomicCase is one operation on one value: old, operand (and for cas the second), new.
type atomicCase struct {
	form           string
	old, b, c, new uint64
}

func atomicOps() []atomicCase {
	const m1, m2 = ^uint64(0), ^uint64(1)
	return []atomicCase{
		{"and.b32", 0xff00ff00, 0x0ff00ff0, 0, 0x0f000f00}, {"and.b64", m1, 1 << 40, 0, 1 << 40},
		{"or.b32", 0xff00ff00, 0x0ff00ff0, 0, 0xfff0fff0}, {"or.b64", 1, 1 << 40, 0, 1<<40 + 1},
		{"xor.b32", 0xff00ff00, 0x0ff00ff0, 0, 0xf0f0f0f0}, {"xor.b64", m1, 1 << 40, 0, m1 - 1<<40},
		{"exch.b32", 5, 6, 0, 6}, {"exch.b64", 5, 1 << 40, 0, 1 << 40}, {"exch.u32", 5, 6, 0, 6}, {"exch.s32", 5, 6, 0, 6}, {"exch.u64", 5, m1, 0, m1}, {"exch.f32", 5, nan32, 0, nan32},
		{"cas.b16", 7, 7, 9, 9}, {"cas.b16", 7, 6, 9, 7}, {"cas.b32", 7, 7, 9, 9}, {"cas.b32", 7, 6, 9, 7}, {"cas.b64", 1 << 40, 1 << 40, m1, m1}, {"cas.b64", 1 << 40, 0, m1, 1 << 40},
		{"cas.u32", 7, 7, 9, 9}, {"cas.s32", neg(7), neg(7), 9, 9}, {"cas.u64", m1, m1, 9, 9},
		{"add.u32", 0xffffffff, 2, 0, 1}, {"add.s32", neg(3), 1, 0, neg(2)}, {"add.u64", m1, 2, 0, 1}, {"add.u64", 0xffffffff, 1, 0, 1 << 32},
		{"add.f32", f32b(1.5), f32b(2), 0, f32b(3.5)}, {"add.f32", inf32, 0xff800000, 0, nan32}, {"add.f64", f64b(1.5), f64b(2), 0, f64b(3.5)}, {"add.f64", 1, 1, 0, 2},
		{"add.noftz.f16", 0x3c00, 0x3c00, 0, 0x4000}, {"add.noftz.f16", 1, 1, 0, 2}, {"add.noftz.bf16", 0x3f80, 0x4000, 0, 0x4040}, {"add.noftz.bf16", 1, 1, 0, 2},
		{"add.noftz.f16x2", 0x40003c00, 0x3c003c00, 0, 0x42004000}, {"add.noftz.bf16x2", 0x40003f80, 0x3f803f80, 0, 0x40404000},
		{"inc.u32", 6, 7, 0, 7}, {"inc.u32", 7, 7, 0, 0}, {"inc.u32", 9, 7, 0, 0}, {"dec.u32", 5, 7, 0, 4}, {"dec.u32", 0, 7, 0, 7}, {"dec.u32", 9, 7, 0, 7},
		{"min.u32", neg(1), 1, 0, 1}, {"min.s32", neg(1), 1, 0, neg(1)}, {"min.u64", m1, 1, 0, 1}, {"min.s64", m2, 1, 0, m2},
		{"max.u32", neg(1), 1, 0, neg(1)}, {"max.s32", neg(1), 1, 0, 1}, {"max.u64", m1, 1, 0, m1}, {"max.s64", m2, 1, 0, 1},
		{"min.noftz.f16", 0x3c00, 0xc000, 0, 0xc000}, {"max.noftz.f16", 0x3c00, 0xc000, 0, 0x3c00}, {"max.noftz.f16", 0x7e00, 0xc000, 0, 0xc000}, {"min.noftz.bf16", 0x3f80, 0xc000, 0, 0xc000}, {"max.noftz.bf16", 0x3f80, 0xc000, 0, 0x3f80},
		{"min.noftz.f16x2", 0x3c00c000, 0xc0003c00, 0, 0xc000c000}, {"max.noftz.f16x2", 0x3c00c000, 0xc0003c00, 0, 0x3c003c00}, {"min.noftz.bf16x2", 0x3f80c000, 0xc0003f80, 0, 0xc000c000}, {"max.noftz.bf16x2", 0x3f80c000, 0xc0003f80, 0, 0x3f803f80},
	}
}

// TestEveryAtomic runs each operation by atom and by red, in global and in
// shared memory: atom gives the old value, and both leave the new one.
func TestEveryAtomic(t *testing.T) {
	have := map[string]bool{}
	for _, c := range append(atomicOps(), atomicCase{"add.f32", 1, 1, 0, 2}) {
		words := strings.Split(c.form, ".")
		typ := words[len(words)-1]
		have[words[0]+"."+typ] = true
		for _, space := range []string{".global", ".shared", ""} {
			want := c.new
			if c.form == "add.f32" && c.old == 1 && space != ".shared" {
				want = 0 // subnormals: flushed in global memory, kept in shared memory
			}
			for _, op := range []string{"atom", "red"} {
				if op == "red" && (words[0] == "cas" || words[0] == "exch") {
					continue
				}
				bits := syntax.TypeBits(typ)
				reg, at := fmt.Sprintf("b%d", bits), "%rd0"
				if space == ".shared" {
					at = "%rd5"
				}
				text := op + space + "." + c.form
				operands := "[" + at + "], %y1"
				if op == "atom" {
					operands = "%y0, " + operands
				}
				if words[0] == "cas" {
					operands += ", %y2"
				}
				body := fmt.Sprintf(".reg .%[1]s %%y<4>; mov.b64 %%rd5, smem; ld.global.%[1]s %%y0, [%%rd0]; st.shared.%[1]s [%%rd5], %%y0; ld.global.%[1]s %%y1, [%%rd0+8]; ld.global.%[1]s %%y2, [%%rd0+16];"+
					"%[2]s %[3]s; st.global.%[1]s [%%rd1], %%y0; ld.%[4]s.%[1]s %%y3, [%[5]s]; st.global.%[1]s [%%rd1+8], %%y3; ret;", reg, text, operands, map[bool]string{true: "shared", false: "global"}[space == ".shared"], at)
				l := handLaunch(kernel(t, 2, body), 1, 1, 64, 24, 16)
				for i, v := range []uint64{c.old, c.b, c.c} {
					binary.LittleEndian.PutUint64(l.Buffers[0].Contents[8*i:], v)
				}
				got := full(t, l, 1)
				assert.Equal(t, fmt.Sprintf("%#x", c.old), fmt.Sprintf("%#x", binary.LittleEndian.Uint64(got)), "%s old", text)
				assert.Equal(t, fmt.Sprintf("%#x", want), fmt.Sprintf("%#x", binary.LittleEndian.Uint64(got[8:])), "%s of %#x, %#x", text, c.old, c.b)
			}
		}
	}
	for _, how := range strings.Fields("and or xor exch cas add inc dec min max") {
		for _, typ := range strings.Fields("b16 b32 b64 b128 u16 u32 u64 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64") {
			assert.Equal(t, have[how+"."+typ], atomicTakes(how, typ, 1), "%s.%s", how, typ)
		}
	}
}

// TestAtomicVectors: element by element.
func TestAtomicVectors(t *testing.T) {
	for _, c := range []struct {
		form, regs string
		reg        string
		in, want   []uint32
	}{
		{"add.v2.f32", "{%y0, %y1}", "b32", []uint32{0x3f800000, 0x40000000}, []uint32{0x40000000, 0x40800000}},
		{"v2.f32.add", "{%y0, %y1}", "b32", []uint32{0x3f800000, 0x40000000}, []uint32{0x40000000, 0x40800000}},
		{"v2.f16x2.max.noftz", "{%y0, %y1}", "b32", []uint32{0x3c00c000, 0x4000}, []uint32{0x3c00c000, 0x4000}},
		{"add.v4.f32", "{%y0, %y1, %y2, %y3}", "b32", []uint32{0x3f800000, 0x40000000, 0, 0x3f800000}, []uint32{0x40000000, 0x40800000, 0, 0x40000000}},
		{"max.noftz.v2.f16x2", "{%y0, %y1}", "b32", []uint32{0x3c00c000, 0x4000}, []uint32{0x3c00c000, 0x4000}},
		{"add.noftz.v8.bf16", "{%h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7}", "b16", []uint32{0x40003f80, 0x3f80, 0x40000000, 0}, []uint32{0x40804000, 0x4000, 0x40800000, 0}},
	} {
		load := c.regs
		n := strings.Count(c.regs, "%")
		form := fmt.Sprintf("v%d.%s", n, c.reg)
		if n == 8 {
			load = "{%h0, %h1, %h2, %h3}"
			form = "v4.b16"
		}
		body := ".reg .b32 %y<8>; .reg .b16 %h<9>; ld.global." + form + " " + load + ", [%rd0];"
		if n == 8 {
			body += "ld.global.v4.b16 {%h4, %h5, %h6, %h7}, [%rd0+8];"
		}
		body += "red.relaxed.gpu.global." + c.form + " [%rd1], " + c.regs + "; ret;"
		l := handLaunch(kernel(t, 2, body), 1, 1, 0, 16, 16)
		for i, w := range c.in {
			binary.LittleEndian.PutUint32(l.Buffers[0].Contents[4*i:], w)
			binary.LittleEndian.PutUint32(l.Buffers[1].Contents[4*i:], w)
		}
		got := full(t, l, 1)
		for i, w := range c.want {
			assert.Equal(t, fmt.Sprintf("%#x", w), fmt.Sprintf("%#x", binary.LittleEndian.Uint32(got[4*i:])), "%s word %d", c.form, i)
		}
	}
}

package ptx

import (
	"strings"
)

// Cases for each word with each type that the other lists leave out.

func wordCases() []rowCase {
	var out []rowCase
	for _, list := range [][]rowCase{integerWordCases(), carryCases(), floatWordCases(), halfWordCases(), selectCases(), compareCases()} {
		out = append(out, list...)
	}
	for _, list := range [][]rowCase{out, floatCases(), halfCases()} {
		for _, c := range list {
			if p, ok := c.packed(); ok {
				out = append(out, p)
			}
		}
	}
	return out
}

// packed makes a case of pairs from one of halves, or of singles where the
// pair's type is f32x2: each value stands below the next one's.
func (c rowCase) packed() (rowCase, bool) {
	name := strings.Fields(c.text)[0]
	words := strings.Split(name, ".")
	typ := words[len(words)-1]
	by := map[string]uint{"f16": 16, "bf16": 16, "f32": 32}[typ]
	if by == 0 || strings.Count(c.text, ";") != 1 || strings.Contains(c.text, "%tid") || c.out != map[uint]string{16: "h", 32: "r"}[by] {
		return c, false
	}
	l := &lowerer{known: map[string][]form{}}
	words[len(words)-1] = typ + "x2"
	fits := false
	for _, f := range l.forms(words[0]) {
		fits = fits || f.fits(words[1:])
	}
	if !fits || words[0] == "set" {
		return c, false
	}
	wide := map[uint]string{16: "r", 32: "d"}[by]
	p := rowCase{text: strings.Replace(c.text, name, strings.Join(words, "."), 1), in: strings.Repeat(wide, len(c.in)), out: wide}
	for i := range c.values {
		next := c.values[(i+1)%len(c.values)]
		var line []uint64
		for k, v := range c.values[i] {
			line = append(line, v|next[k]<<by)
		}
		p.values = append(p.values, line)
	}
	return p, true
}

func integerWordCases() []rowCase {
	const m1, m2, m3 = ^uint64(0), ^uint64(1), ^uint64(2) // -1, -2, -3
	return []rowCase{
		values("add.s16 %z, %a, %b;", "hh", "h", v(0x7fff, 1, 0x8000), v(0xffff, 1, 0)),
		values("add.s64 %z, %a, %b;", "dd", "d", v(m1, 1, 0), v(1<<63-1, 1, 1<<63)),
		values("add.u32 %z, %a, %b;", "rr", "r", v(0xffffffff, 2, 1)),
		values("add.s16x2 %z, %a, %b;", "rr", "r", v(0xffff7fff, 0x00020001, 0x00018000)),
		values("sub.u16 %z, %a, %b;", "hh", "h", v(0, 1, 0xffff)),
		values("sub.s16 %z, %a, %b;", "hh", "h", v(0x8000, 1, 0x7fff)),
		values("sub.u32 %z, %a, %b;", "rr", "r", v(1, 2, 0xffffffff)),
		values("sub.s64 %z, %a, %b;", "dd", "d", v(1, 2, m1)),
		values("sub.u16x2 %z, %a, %b;", "rr", "r", v(0x00010000, 0x00020001, 0xffffffff), v(0x00050003, 0x00010003, 0x00040000)),
		values("sub.s16x2 %z, %a, %b;", "rr", "r", v(0x80000001, 0x00010002, 0x7fffffff)),
		values("mul.lo.u16 %z, %a, %b;", "hh", "h", v(0x100, 0x101, 0x0100)),
		values("mul.hi.u16 %z, %a, %b;", "hh", "h", v(0xffff, 2, 1), v(0xffff, 0xffff, 0xfffe)),
		values("mul.lo.s16 %z, %a, %b;", "hh", "h", v(0xffff, 5, 0xfffb)),
		values("mul.hi.s16 %z, %a, %b;", "hh", "h", v(0xffff, 2, 0xffff), v(0x8000, 0x8000, 0x4000)),
		values("mul.lo.s32 %z, %a, %b;", "rr", "r", v(neg(3), 5, neg(15)), v(0x10000, 0x10000, 0)),
		values("mul.lo.u64 %z, %a, %b;", "dd", "d", v(1<<32, 1<<32, 0), v(1<<32+1, 3, 3<<32+3)),
		values("mul.lo.s64 %z, %a, %b;", "dd", "d", v(m3, 2, ^uint64(5))),
		values("mad.lo.u16 %z, %a, %b, %c;", "hhh", "h", v(0xffff, 2, 3, 1)),
		values("mad.hi.u16 %z, %a, %b, %c;", "hhh", "h", v(0xffff, 0xffff, 1, 0xffff), v(0xffff, 0xffff, 2, 0)),
		values("mad.wide.u16 %z, %a, %b, %c;", "hhr", "r", v(0xffff, 0xffff, 0x1ffff, 0), v(2, 3, 4, 10)),
		values("mad.lo.s16 %z, %a, %b, %c;", "hhh", "h", v(0xffff, 5, 2, 0xfffd)),
		values("mad.hi.s16 %z, %a, %b, %c;", "hhh", "h", v(0xffff, 2, 5, 4)),
		values("mad.wide.s16 %z, %a, %b, %c;", "hhr", "r", v(0xffff, 2, 1, 0xffffffff)),
		values("mad.lo.u32 %z, %a, %b, %c;", "rrr", "r", v(0x10000, 0x10000, 7, 7)),
		values("mad.hi.u32 %z, %a, %b, %c;", "rrr", "r", v(0xffffffff, 2, 5, 6)),
		values("mad.lo.u64 %z, %a, %b, %c;", "ddd", "d", v(1<<63, 2, 7, 7)),
		values("mad.hi.u64 %z, %a, %b, %c;", "ddd", "d", v(1<<63, 4, 1, 3)),
		values("mad.lo.s64 %z, %a, %b, %c;", "ddd", "d", v(m1, 5, 1, ^uint64(3))),
		values("mad.hi.s64 %z, %a, %b, %c;", "ddd", "d", v(m1, 2, 5, 4)),
		values("mad24.lo.u32 %z, %a, %b, %c;", "rrr", "r", v(0xff000003, 5, 1, 16)),
		values("mad24.hi.u32 %z, %a, %b, %c;", "rrr", "r", v(0xffffff, 0xffffff, 1, 0xfffffe01)),
		values("mad24.hi.s32 %z, %a, %b, %c;", "rrr", "r", v(0xffffff, 1, 1, 0), v(0x800000, 0x800000, 2, 0x40000002)),
		values("sad.s16 %z, %a, %b, %c;", "hhh", "h", v(0xffff, 1, 10, 12)),
		values("sad.u64 %z, %a, %b, %c;", "ddd", "d", v(1, m1, 5, 3)),
		values("sad.s64 %z, %a, %b, %c;", "ddd", "d", v(1, m1, 5, 7)),
		values("div.u64 %z, %a, %b;", "dd", "d", v(1<<63, 2, 1<<62)),
		values("rem.u16 %z, %a, %b;", "hh", "h", v(0xffff, 16, 15)),
		values("rem.s16 %z, %a, %b;", "hh", "h", v(0xfff9, 2, 0xffff)),
		values("rem.s64 %z, %a, %b;", "dd", "d", v(^uint64(6), 4, m3), v(1<<63, m1, 0)),
		values("abs.s16 %z, %a;", "h", "h", v(0xffff, 1), v(0x7fff, 0x7fff)),
		values("neg.s64 %z, %a;", "d", "d", v(1, m1), v(1<<63, 1<<63)),
		values("min.u16 %z, %a, %b;", "hh", "h", v(0xffff, 1, 1)),
		values("min.s16 %z, %a, %b;", "hh", "h", v(0xffff, 1, 0xffff)),
		values("min.u64 %z, %a, %b;", "dd", "d", v(m1, 1, 1)),
		values("min.s64 %z, %a, %b;", "dd", "d", v(m1, 1, m1)),
		values("min.u16x2 %z, %a, %b;", "rr", "r", v(0xffff0002, 0x00010003, 0x00010002)),
		values("min.relu.s16x2 %z, %a, %b;", "rr", "r", v(0xffff0002, 0x00010003, 0x00000002), v(0x00057fff, 0x00068000, 0x00050000)),
		values("max.u16 %z, %a, %b;", "hh", "h", v(0xffff, 1, 0xffff)),
		values("max.s16 %z, %a, %b;", "hh", "h", v(0xffff, 1, 1)),
		values("max.u64 %z, %a, %b;", "dd", "d", v(m1, 1, m1)),
		values("max.s16x2 %z, %a, %b;", "rr", "r", v(0xffff0002, 0x00010003, 0x00010003), v(0x80000000, 0xffff8000, 0xffff0000)),
		values("max.relu.s32 %z, %a, %b;", "rr", "r", v(neg(3), neg(1), 0), v(neg(3), 4, 4)),
		values("max.relu.s16x2 %z, %a, %b;", "rr", "r", v(0xfffe0002, 0xffff0003, 0x00000003)),
		values("bfind.shiftamt.s32 %z, %a;", "r", "r", v(0x00010000, 15), v(0xffffffff, 0xffffffff), v(0xfffffffe, 31)),
		values("bfind.u64 %z, %a;", "d", "r", v(1<<40, 40), v(0, 0xffffffff)),
		values("bfind.shiftamt.u64 %z, %a;", "d", "r", v(1<<40, 23), v(m1, 0)),
		values("bfind.shiftamt.s64 %z, %a;", "d", "r", v(^uint64(4), 61)),
		values("bfe.s64 %z, %a, %b, %c;", "drr", "d", v(1<<63, 60, 8, ^uint64(7)), v(0x70, 4, 4, 7), v(0xf0, 4, 4, m1), v(1<<63, 70, 3, m1)),
		values("szext.wrap.u32 %z, %a, %b;", "rr", "r", v(0xffff, 8, 0xff), v(0xffff, 32, 0), v(0xffff, 36, 0xf)),
		values("dp4a.s32.u32 %z, %a, %b, %c;", "rrr", "r", v(0xffffffff, 0x01010101, 0, neg(4)), v(0xffffffff, 0xffffffff, 20, neg(1000))),
		values("dp2a.lo.u32.u32 %z, %a, %b, %c;", "rrr", "r", v(0xffff0002, 0x05060304, 1, 196614)),
		values("dp2a.hi.u32.s32 %z, %a, %b, %c;", "rrr", "r", v(0xffff0002, 0xf5060304, 1, neg(720872))),
		values("and.b16 %z, %a, %b;", "hh", "h", v(0xff0f, 0x0ff0, 0x0f00)),
		values("and.b64 %z, %a, %b;", "dd", "d", v(0xff00000000000001, 0x0f00000000000003, 0x0f00000000000001)),
		values("or.b16 %z, %a, %b;", "hh", "h", v(0xff00, 0x0ff0, 0xfff0)),
		values("or.b64 %z, %a, %b;", "dd", "d", v(1<<63, 1, 1<<63+1)),
		values("xor.b16 %z, %a, %b;", "hh", "h", v(0xff00, 0x0ff0, 0xf0f0)),
		values("xor.b32 %z, %a, %b;", "rr", "r", v(0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0)),
		values("not.b64 %z, %a;", "d", "d", v(1, ^uint64(1))),
		values("cnot.b16 %z, %a;", "h", "h", v(0, 1), v(0x8000, 0)),
		values("cnot.b64 %z, %a;", "d", "d", v(0, 1), v(1<<63, 0)),
		values("shr.b16 %z, %a, %b;", "hr", "h", v(0x8000, 15, 1), v(0x8000, 16, 0)),
		values("shr.b32 %z, %a, %b;", "rr", "r", v(neg32, 31, 1), v(neg32, 32, 0)),
		values("shr.b64 %z, %a, %b;", "dr", "d", v(1<<63, 63, 1), v(1<<63, 64, 0)),
		values("shr.u64 %z, %a, %b;", "dr", "d", v(1<<63, 62, 2), v(1<<63, 99, 0)),
		values("shr.s16 %z, %a, %b;", "hr", "h", v(0x8000, 4, 0xf800), v(0x8000, 99, 0xffff), v(0x4000, 99, 0)),
	}
}

// carryCases: the carry of each type, in and out. Signed types carry as unsigned ones do.
func carryCases() []rowCase {
	var out []rowCase
	for _, typ := range []string{"u32", "s32", "u64", "s64"} {
		k, one, all := "r", "%t", uint64(0xffffffff)
		if typ[1:] == "64" {
			k, one, all = "d", "%v", ^uint64(0)
		}
		add := func(text, in string, lines ...[]uint64) {
			text = strings.NewReplacer("T", typ, "%x", one).Replace(text)
			out = append(out, values(text, strings.Repeat(k, len(in)), k, lines...))
		}
		const set = "add.cc.u32 %u, 0xffffffff, 1; " // the carry is set
		add("add.cc.T %x, %a, %b; addc.T %z, %c, 0;", "abc", v(all, 1, 7, 8), v(all, 0, 7, 7))
		add(set+"addc.cc.T %x, %a, %b; addc.T %z, 0, 0;", "ab", v(all, 0, 1), v(all-1, 0, 0))
		add("sub.cc.T %x, %a, %b; subc.T %z, %c, 0;", "abc", v(0, 1, 7, 6), v(1, 1, 7, 7))
		add("sub.cc.T %x, %a, %b; subc.cc.T %x, %a, %b; subc.T %z, 9, 0;", "ab", v(0, 0, 9), v(0, 1, 8))
		add("mad.lo.cc.T %x, %a, %b, %c; addc.T %z, 0, 0;", "abc", v(all, 1, 1, 1), v(all, 1, 0, 0))
		add(set+"madc.lo.T %z, %a, %b, %c;", "abc", v(3, 4, 5, 18), v(all, 1, 0, 0))
		add(set+"madc.lo.cc.T %x, %a, %b, %c; addc.T %z, 0, 0;", "abc", v(all, 1, 0, 1), v(3, 4, 5, 0))
		if typ[0] == 'u' {
			add("mad.hi.cc.T %x, %a, %b, %c; addc.T %z, 0, 0;", "abc", v(all, all, 2, 1), v(all, all, 1, 0))
			add(set+"madc.hi.T %z, %a, %b, %c;", "abc", v(all, all, 0, all), v(all, all, 1, 0))
			add(set+"madc.hi.cc.T %x, %a, %b, %c; addc.T %z, 0, 0;", "abc", v(all, all, 1, 1), v(all, all, 0, 0))
		} else {
			add("mad.hi.cc.T %x, %a, %b, %c; addc.T %z, 0, 0;", "abc", v(all, 1, 1, 1), v(all, all, all, 0)) // -1 * 1 >> width is -1, -1 * -1 is 0
			add(set+"madc.hi.T %z, %a, %b, %c;", "abc", v(all, all, 7, 8), v(all, 1, 7, 7))
			add(set+"madc.hi.cc.T %x, %a, %b, %c; addc.T %z, 0, 0;", "abc", v(all, 1, 0, 1), v(all, all, 7, 0))
		}
	}
	return out
}

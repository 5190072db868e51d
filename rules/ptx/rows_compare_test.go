package ptx

import (
	"strings"
)

// selectCases: selp and slct of every type. A value is kept whatever its type.
func selectCases() []rowCase {
	var out []rowCase
	for _, typ := range []string{"b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"} {
		k, a, b := "r", uint64(0x80000001), uint64(0x7f800001)
		switch typ[1:] {
		case "16":
			k, a, b = "h", 0x8001, 0x7c01
		case "64":
			k, a, b = "d", 1<<63+1, 0x7ff0000000000001
		}
		out = append(out, values("selp."+typ+" %z, %a, %b, %c;", k+k+"p", k, v(a, b, 1, a), v(a, b, 0, b)))
		out = append(out, values("slct."+typ+".s32 %z, %a, %b, %c;", k+k+"r", k, v(a, b, 0, a), v(a, b, 5, a), v(a, b, neg32, b), v(a, b, 0x7fffffff, a)))
		out = append(out, values("slct."+typ+".f32 %z, %a, %b, %c;", k+k+"r", k, v(a, b, 0, a), v(a, b, neg32, a), v(a, b, 0x80000001, b), v(a, b, inf32, a), v(a, b, nan32, b)))
		out = append(out, values("slct.ftz."+typ+".f32 %z, %a, %b, %c;", k+k+"r", k, v(a, b, 0x80000001, a), v(a, b, 0x80800000, b), v(a, b, nan32, b)))
	}
	return out
}

// outcomes of a comparison: of a < b, a = b, a > b, and of a NaN.
func comparisonTruth() map[string][4]uint64 {
	return map[string][4]uint64{
		"eq": {0, 1, 0, 0}, "ne": {1, 0, 1, 0}, "lt": {1, 0, 0, 0}, "le": {1, 1, 0, 0}, "gt": {0, 0, 1, 0}, "ge": {0, 1, 1, 0},
		"lo": {1, 0, 0, 0}, "ls": {1, 1, 0, 0}, "hi": {0, 0, 1, 0}, "hs": {0, 1, 1, 0},
		"equ": {0, 1, 0, 1}, "neu": {1, 0, 1, 1}, "ltu": {1, 0, 0, 1}, "leu": {1, 1, 0, 1}, "gtu": {0, 0, 1, 1}, "geu": {0, 1, 1, 1},
		"num": {1, 1, 1, 0}, "nan": {0, 0, 0, 1},
	}
}

// compareCases: setp and set of every comparison, type and combination. Of each
// type: a pair a < b, which the other signedness orders otherwise, one that is
// equal (in floats 0 and -0), and a NaN.
func compareCases() []rowCase {
	type sample struct {
		kind          string
		less, same    [2]uint64
		nan, denormal uint64
	}
	samples := map[string]sample{
		"b16": {"h", v2(1, 2), v2(7, 7), 0, 0}, "u16": {"h", v2(1, 0x8000), v2(7, 7), 0, 0}, "s16": {"h", v2(0x8000, 1), v2(7, 7), 0, 0},
		"b32": {"r", v2(1, 2), v2(7, 7), 0, 0}, "u32": {"r", v2(1, neg32), v2(7, 7), 0, 0}, "s32": {"r", v2(neg32, 1), v2(7, 7), 0, 0},
		"b64": {"d", v2(1, 2), v2(1<<40, 1<<40), 0, 0}, "u64": {"d", v2(1, 1<<63), v2(7, 7), 0, 0}, "s64": {"d", v2(1<<63, 1), v2(7, 7), 0, 0},
		"f16": {"h", v2(0xbc00, 0x3c00), v2(0, 0x8000), 0x7e00, 1}, "bf16": {"h", v2(0xbf80, 0x3f80), v2(0, 0x8000), 0x7fc0, 0},
		"f32": {"r", v2(f32b(-1), f32b(1)), v2(0, neg32), 0x7fc00000, 1}, "f64": {"d", v2(f64b(-1), f64b(1)), v2(0, 1<<63), 0x7ff8000000000000, 0},
	}
	results := map[string][2]uint64{"u32": {2, 0xffffffff}, "s32": {2, 0xffffffff}, "u16": {1, 0xffff}, "s16": {1, 0xffff}, "f32": {2, 0x3f800000}, "f16": {1, 0x3c00}, "bf16": {1, 0x3f80}}
	var out []rowCase
	l := &lowerer{known: map[string][]form{}}
	legal := func(name string) bool {
		words := strings.Split(name, ".")
		for _, f := range l.forms(words[0]) {
			if f.fits(words[1:]) {
				return true
			}
		}
		return false
	}
	for cmp, truth := range comparisonTruth() {
		for typ, s := range samples {
			pairs := [][2]uint64{s.less, s.same, {s.less[1], s.less[0]}}
			if s.nan != 0 {
				pairs = append(pairs, [2]uint64{s.nan, s.less[0]})
			}
			for _, how := range []string{"", ".and", ".or", ".xor"} {
				c, text, kinds := "", " %z, %a, %b", s.kind+s.kind
				if how != "" {
					text, kinds = text+", %c", kinds+"p"
				}
				lines := func(yes uint64) (list [][]uint64) {
					for i, p := range pairs {
						for given := range uint64(2) {
							if how == "" {
								list = append(list, v(p[0], p[1], truth[i]*yes))
								break
							}
							r := map[string]uint64{".and": truth[i] & given, ".or": truth[i] | given, ".xor": truth[i] ^ given}[how]
							list = append(list, v(p[0], p[1], given, r*yes))
						}
					}
					return list
				}
				if name := "setp." + cmp + how + c + "." + typ; legal(name) {
					out = append(out, rowCase{name + text + ";", kinds, "p", lines(1), true})
				}
				for to, r := range results {
					if name := "set." + cmp + how + "." + to + "." + typ; legal(name) {
						out = append(out, rowCase{name + text + ";", kinds, " hr"[r[0] : r[0]+1], lines(r[1]), true})
					}
				}
			}
			if s.denormal != 0 { // with .ftz a denormal is equal to zero
				if name := "setp." + cmp + ".ftz." + typ; legal(name) {
					out = append(out, values(name+" %z, %a, %b;", s.kind+s.kind, "p", v(s.denormal, 0, truth[1]), v(s.less[0], s.less[1], truth[0])))
				}
				for to, r := range results {
					if name := "set." + cmp + ".ftz." + to + "." + typ; legal(name) {
						out = append(out, values(name+" %z, %a, %b;", s.kind+s.kind, " hr"[r[0]:r[0]+1], v(s.denormal, 0, truth[1]*r[1])))
					}
				}
			}
		}
		out = append(out, pairedCompareCases(cmp, truth, legal)...)
	}
	return out
}

func v2(a, b uint64) [2]uint64 { return [2]uint64{a, b} }

// pairedCompareCases compares pairs of halves: below 1 with 2, above 2 with 1.
func pairedCompareCases(cmp string, truth [4]uint64, legal func(string) bool) []rowCase {
	var out []rowCase
	for typ, s := range map[string][3]uint64{"f16x2": {0x40003c00, 0x3c004000, 0x7e000000}, "bf16x2": {0x40003f80, 0x3f804000, 0x7fc00000}} {
		lo, hi := truth[0], truth[2]
		for _, how := range []string{"", ".and", ".or", ".xor", ".ftz"} {
			text, kinds, given := " %z, %a, %b;", "rr", []uint64(nil)
			if how != "" && how != ".ftz" {
				text, kinds, given = " %z, %a, %b, %c;", "rrp", v(1)
			}
			mix := func(r uint64) uint64 {
				return map[string]uint64{"": r, ".ftz": r, ".and": r, ".or": 1, ".xor": r ^ 1}[how]
			}
			line := func(r uint64) []uint64 { return append(append(v(s[0], s[1]), given...), r) }
			if name := "setp." + cmp + how + "." + typ; legal(name) {
				out = append(out, values(name+strings.Replace(text, "%z", "%z|%q", 1), kinds, "p", line(mix(lo))),
					values(name+strings.Replace(text, "%z", "%q|%z", 1), kinds, "p", line(mix(hi))))
			}
			for to, yes := range map[string]uint64{typ: map[string]uint64{"f16x2": 0x3c00, "bf16x2": 0x3f80}[typ], "u32": 0xffff, "s32": 0xffff} {
				if name := "set." + cmp + how + "." + to + "." + typ; legal(name) {
					out = append(out, values(name+text, kinds, "r", line(mix(lo)*yes|mix(hi)*yes<<16)))
				}
			}
		}
	}
	return out
}

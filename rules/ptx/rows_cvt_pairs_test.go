package ptx

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func integerTypes() []string { return []string{"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"} }
func floatTypes() []string   { return []string{"f16", "bf16", "f32", "f64"} }

// holder is the kind of register that holds a type in these cases: integers
// of up to 32 bits stand in 32, floats in registers of their own size.
func holder(typ string) string {
	switch typ {
	case "u64", "s64", "f64":
		return "d"
	case "f16", "bf16":
		return "h"
	}
	return "r"
}

// cvtPairCases: every pair of types.
func cvtPairCases() []rowCase {
	var out []rowCase
	add := func(how, to, from string, lines ...[]uint64) {
		out = append(out, rowCase{"cvt" + how + "." + to + "." + from + " %z, %a;", holder(from), holder(to), lines, true})
	}
	// From a source (with other bits above it where the register is wider) to each
	// of integerTypes: narrower ones are extended to 32 bits by their own sign.
	const wide = 0xa1234567812381f0
	integers := map[string]struct {
		from uint64
		to   [8]uint64
	}{
		"u8":  {0x5a5a5af0, [8]uint64{0xf0, 0xfffffff0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0}},
		"s8":  {0x5a5a5af0, [8]uint64{0xf0, 0xfffffff0, 0xfff0, 0xfffffff0, 0xfffffff0, 0xfffffff0, 0xfffffffffffffff0, 0xfffffffffffffff0}},
		"u16": {0x5a5a81f0, [8]uint64{0xf0, 0xfffffff0, 0x81f0, 0xffff81f0, 0x81f0, 0x81f0, 0x81f0, 0x81f0}},
		"s16": {0x5a5a81f0, [8]uint64{0xf0, 0xfffffff0, 0x81f0, 0xffff81f0, 0xffff81f0, 0xffff81f0, 0xffffffffffff81f0, 0xffffffffffff81f0}},
		"u32": {0x812381f0, [8]uint64{0xf0, 0xfffffff0, 0x81f0, 0xffff81f0, 0x812381f0, 0x812381f0, 0x812381f0, 0x812381f0}},
		"s32": {0x812381f0, [8]uint64{0xf0, 0xfffffff0, 0x81f0, 0xffff81f0, 0x812381f0, 0x812381f0, 0xffffffff812381f0, 0xffffffff812381f0}},
		"u64": {wide, [8]uint64{0xf0, 0xfffffff0, 0x81f0, 0xffff81f0, 0x812381f0, 0x812381f0, wide, wide}},
		"s64": {wide, [8]uint64{0xf0, 0xfffffff0, 0x81f0, 0xffff81f0, 0x812381f0, 0x812381f0, wide, wide}},
	}
	least := [8]uint64{0, 0xffffff80, 0, 0xffff8000, 0, neg32, 0, 1 << 63} // of each type
	most := [8]uint64{0xff, 0x7f, 0xffff, 0x7fff, 0xffffffff, 0x7fffffff, ^uint64(0), 1<<63 - 1}
	for from, x := range integers {
		for i, to := range integerTypes() {
			add("", to, from, v(x.from, x.to[i]))
		}
	}
	for i, to := range integerTypes() { // .sat: clamped where the source has a wider range
		if i < 6 {
			add(".sat", to, "s64", v(0xffffff0000000000, least[i]), v(1<<40, most[i]), v(5, 5))
			add(".sat", to, "u64", v(1<<63, most[i]), v(5, 5))
		}
		add(".sat", to, "s16", v(0x8000, [8]uint64{0, 0xffffff80, 0, 0xffff8000, 0, 0xffff8000, 0, ^uint64(0x7fff)}[i]))
	}
	add(".sat", "u64", "s64", v(^uint64(0), 0), v(7, 7))
	add(".sat", "s64", "u64", v(1<<63, 1<<63-1), v(7, 7))
	add(".sat", "s32", "u32", v(neg32, 0x7fffffff))
	add(".sat", "u32", "s32", v(neg32, 0))
	// Integers to floats: to nearest, and towards zero, down, up. 240, -16, 2^15+1, 1-2^15, 2^31+1, 1-2^31, 2^63+1, 1-2^63.
	floats := map[string]struct {
		from uint64
		to   map[string][4]uint64
	}{
		"u8":  {0x5a5a5af0, map[string][4]uint64{"f16": {0x5b80, 0x5b80, 0x5b80, 0x5b80}, "bf16": {0x4370, 0x4370, 0x4370, 0x4370}, "f32": v4(f32b(240)), "f64": v4(f64b(240))}},
		"s8":  {0x5a5a5af0, map[string][4]uint64{"f16": v4(0xcc00), "bf16": v4(0xc180), "f32": v4(f32b(-16)), "f64": v4(f64b(-16))}},
		"u16": {0x5a5a8001, map[string][4]uint64{"f16": {0x7800, 0x7800, 0x7800, 0x7801}, "bf16": {0x4700, 0x4700, 0x4700, 0x4701}, "f32": v4(f32b(32769)), "f64": v4(f64b(32769))}},
		"s16": {0x5a5a8001, map[string][4]uint64{"f16": {0xf800, 0xf7ff, 0xf800, 0xf7ff}, "bf16": {0xc700, 0xc6ff, 0xc700, 0xc6ff}, "f32": v4(f32b(-32767)), "f64": v4(f64b(-32767))}},
		"u32": {0x80000001, map[string][4]uint64{"f16": {0x7c00, 0x7bff, 0x7bff, 0x7c00}, "bf16": {0x4f00, 0x4f00, 0x4f00, 0x4f01}, "f32": {0x4f000000, 0x4f000000, 0x4f000000, 0x4f000001}, "f64": v4(f64b(0x80000001))}},
		"s32": {0x80000001, map[string][4]uint64{"f16": {0xfc00, 0xfbff, 0xfc00, 0xfbff}, "bf16": {0xcf00, 0xceff, 0xcf00, 0xceff}, "f32": {0xcf000000, 0xceffffff, 0xcf000000, 0xceffffff}, "f64": v4(f64b(-0x7fffffff))}},
		"u64": {1<<63 + 1, map[string][4]uint64{"f16": {0x7c00, 0x7bff, 0x7bff, 0x7c00}, "bf16": {0x5f00, 0x5f00, 0x5f00, 0x5f01}, "f32": {0x5f000000, 0x5f000000, 0x5f000000, 0x5f000001}, "f64": {0x43e0000000000000, 0x43e0000000000000, 0x43e0000000000000, 0x43e0000000000001}}},
		"s64": {1<<63 + 1, map[string][4]uint64{"f16": {0xfc00, 0xfbff, 0xfc00, 0xfbff}, "bf16": {0xdf00, 0xdeff, 0xdf00, 0xdeff}, "f32": {0xdf000000, 0xdeffffff, 0xdf000000, 0xdeffffff}, "f64": {0xc3e0000000000000, 0xc3dfffffffffffff, 0xc3e0000000000000, 0xc3dfffffffffffff}}},
	}
	for from, x := range floats {
		for to, r := range x.to {
			for i, how := range []string{".rn", ".rz", ".rm", ".rp"} {
				add(how, to, from, v(x.from, r[i]))
			}
		}
	}
	// Floats to integers: 2.5, -2.5, infinities and a NaN.
	halves := map[string][5]uint64{"f16": {0x4100, 0xc100, 0x7c00, 0xfc00, 0x7e00}, "bf16": {0x4020, 0xc020, 0x7f80, 0xff80, 0x7fc0},
		"f32": {0x40200000, 0xc0200000, inf32, 0xff800000, 0x7fc00000}, "f64": {f64b(2.5), f64b(-2.5), 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000}}
	for from, x := range halves {
		for i, to := range integerTypes() {
			for how, r := range map[string][2]int64{".rni": {2, -2}, ".rzi": {2, -2}, ".rmi": {2, -3}, ".rpi": {3, -2}} {
				below := uint64(r[1])
				if to[0] == 'u' {
					below = 0
				}
				if holder(to) == "r" {
					below &= 0xffffffff
				}
				add(how, to, from, v(x[0], uint64(r[0])), v(x[1], below), v(x[2], most[i]), v(x[3], least[i]), v(x[4], 0))
			}
		}
	}
	// Among floats: 1.5, -infinity, a NaN.
	same := map[string][3]uint64{"f16": {0x3e00, 0xfc00, nan16}, "bf16": {0x3fc0, 0xff80, nan16}, "f32": {0x3fc00000, 0xff800000, nan32}, "f64": {f64b(1.5), 0xfff0000000000000, 0xfff8000000000000}}
	for from, x := range same {
		for to, r := range same {
			if from != to {
				add(".rn", to, from, v(x[0], r[0]), v(x[1], r[1]), v(x[2], r[2]))
			} else {
				add(".rpi", to, from, v(x[0], map[string]uint64{"f16": 0x4000, "bf16": 0x4000, "f32": f32b(2), "f64": f64b(2)}[to]), v(x[1], r[1]))
			}
		}
	}
	add(".rz", "bf16", "f64", v(f64b(1+0x1.8p-7), 0x3f81))
	add(".rp", "f16", "f64", v(f64b(1+0x1p-40), 0x3c01), v(f64b(0x1p-60), 1))
	add(".rn.ftz", "f32", "f64", v(f64b(0x1p-130), 0), v(f64b(-0x1p-130), neg32))
	add(".ftz", "f64", "f32", v(1, 0), v(0x80000001, 1<<63))
	add(".ftz", "f32", "f16", v(1, f32b(0x1p-24))) // .ftz is about singles alone
	add(".rn.ftz", "bf16", "f32", v(1, 0))
	return out
}

func v4(x uint64) [4]uint64 { return [4]uint64{x, x, x, x} }

// TestEveryConversionHasACase: each pair of types that the table converts
// between has values; what it does not convert is refused.
func TestEveryConversionHasACase(t *testing.T) {
	have := map[[2]string]bool{}
	for _, c := range append(cvtCases(), cvtPairCases()...) {
		for _, w := range instructionsOf(c.text) {
			if w[0] == "cvt" {
				have[[2]string{w[len(w)-2], w[len(w)-1]}] = true
			}
		}
	}
	all := append(append(integerTypes(), floatTypes()...), "b8", "b16", "b32", "b64", "tf32", "e4m3", "e5m2", "f16x2", "bf16x2", "e4m3x2", "e5m2x2", "f32x2", "e2m1x2", "pred")
	for _, to := range all {
		for _, from := range all {
			takes := false
			for _, how := range []string{"", ".rn", ".rzi", ".rna", ".rn.satfinite"} {
				for _, operands := range []string{"%r1, %r2", "%r1, %r2, %r3"} {
					o, err := Run(context.Background(), handLaunch(kernel(t, 1, "cvt"+how+"."+to+"."+from+" "+operands+"; ret;"), 1, 1, 0, 64))
					require.NoError(t, err)
					takes = takes || o.Analysed
				}
			}
			assert.Equal(t, have[[2]string{to, from}], takes, "cvt.%s.%s", to, from)
		}
	}
	o := run(t, handLaunch(kernel(t, 1, "cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4; ret;"), 1, 1, 0, 64))
	assert.True(t, strings.Contains(o.Reason, "cvt.pack is not supported"))
}

package ptx

import "math"

// floatCases: 9.7.3 Floating-Point on f32 and f64. Numbers are given as floats,
// or as bits where the point lies in the last bit. 0x1p-24 is half of the last
// bit of 1, and 0x1p-149 the smallest denormal.
func floatCases() []rowCase {
	f := f32b
	one, denormal, inf, negInf := f(1), uint64(1), uint64(inf32), uint64(0xff800000)
	const next = 0x3f800001 // after 1
	nan := uint64(0x7fc01234)
	return []rowCase{
		values("add.f32 %z, %a, %b;", "rr", "r", v(f(1.5), f(2.25), f(3.75)), v(one, f(0x1p-24), one), v(next, f(0x1p-24), 0x3f800002), v(inf, negInf, nan32), v(nan, one, nan32), v(denormal, denormal, 2)),
		values("add.rz.f32 %z, %a, %b;", "rr", "r", v(one, f(0x1p-24), one), v(next, f(0x1p-24), next), v(f(-1), f(-0x1p-30), f(-1)), v(f(0x1.fffffep127), f(0x1p127), 0x7f7fffff)),
		values("add.rp.f32 %z, %a, %b;", "rr", "r", v(one, f(0x1p-30), next), v(f(-1), f(-0x1p-30), f(-1)), v(one, f(-1), 0)),
		values("add.rm.f32 %z, %a, %b;", "rr", "r", v(one, f(0x1p-30), one), v(f(-1), f(-0x1p-30), 0xbf800001), v(one, f(-1), neg32)),
		values("add.ftz.f32 %z, %a, %b;", "rr", "r", v(denormal, denormal, 0), v(one, denormal, one), v(f(0x1.8p-126), f(-0x1p-126), 0), v(f(-0x1.8p-126), f(0x1p-126), neg32)),
		values("add.sat.f32 %z, %a, %b;", "rr", "r", v(one, one, one), v(f(-1), f(0.5), 0), v(f(0.25), f(0.5), f(0.75)), v(nan, one, 0)),
		values("sub.f32 %z, %a, %b;", "rr", "r", v(f(1), f(3), f(-2)), v(inf, inf, nan32), v(0, 0, 0), v(neg32, 0, neg32)),
		values("mul.f32 %z, %a, %b;", "rr", "r", v(f(3), f(-0.5), f(-1.5)), v(inf, 0, nan32), v(neg32, one, neg32), v(f(0x1p-100), f(0x1p-60), 0)),
		values("mul.rp.f32 %z, %a, %b;", "rr", "r", v(f(0x1p-100), f(0x1p-60), denormal), v(f(0x1.000002p0), f(0x1.000002p0), 0x3f800003)),
		values("mul.rm.f32 %z, %a, %b;", "rr", "r", v(f(-0x1p-100), f(0x1p-60), 0x80000001), v(f(0x1.000002p0), f(0x1.000002p0), 0x3f800002)),
		values("mul.ftz.f32 %z, %a, %b;", "rr", "r", v(f(0x1p-100), f(-0x1p-30), neg32), v(denormal, f(0x1p100), 0)),
		values("mul.sat.f32 %z, %a, %b;", "rr", "r", v(f(3), f(3), one), v(f(-3), f(3), 0)),
		// (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24: it is lost where the product is rounded first.
		values("fma.rn.f32 %z, %a, %b, %c;", "rrr", "r", v(f(0x1.001p0), f(0x1.001p0), f(-0x1.002p0), f(0x1p-24)), v(f(2), f(3), one, f(7)), v(inf, 0, one, nan32)),
		values("fma.rz.f32 %z, %a, %b, %c;", "rrr", "r", v(one, one, f(0x1p-24), one), v(one, next, f(-0x1p-25), one)),
		values("fma.rp.f32 %z, %a, %b, %c;", "rrr", "r", v(one, one, f(0x1p-140), next)),
		values("fma.rn.sat.f32 %z, %a, %b, %c;", "rrr", "r", v(f(2), f(3), one, one)),
		values("mad.rn.f32 %z, %a, %b, %c;", "rrr", "r", v(f(0x1.001p0), f(0x1.001p0), f(-0x1.002p0), f(0x1p-24))),
		values("div.rn.f32 %z, %a, %b;", "rr", "r", v(one, f(3), 0x3eaaaaab), v(one, 0, inf), v(f(-1), 0, negInf), v(0, 0, nan32), v(inf, inf, nan32), v(denormal, f(2), 0)),
		values("div.rz.f32 %z, %a, %b;", "rr", "r", v(one, f(3), 0x3eaaaaaa), v(f(-1), f(3), 0xbeaaaaaa)),
		values("div.rp.f32 %z, %a, %b;", "rr", "r", v(one, f(3), 0x3eaaaaab), v(f(-1), f(3), 0xbeaaaaaa), v(denormal, f(2), denormal)),
		values("div.rm.f32 %z, %a, %b;", "rr", "r", v(one, f(3), 0x3eaaaaaa), v(f(-1), f(3), 0xbeaaaaab)),
		values("div.full.f32 %z, %a, %b;", "rr", "r", v(f(6), f(3), f(2))),
		values("div.approx.ftz.f32 %z, %a, %b;", "rr", "r", v(f(6), f(-3), f(-2)), v(denormal, one, 0)),
		values("rcp.rn.f32 %z, %a;", "r", "r", v(f(4), f(0.25)), v(f(3), 0x3eaaaaab), v(neg32, negInf), v(inf, 0)),
		values("rcp.rz.f32 %z, %a;", "r", "r", v(f(3), 0x3eaaaaaa)),
		values("rcp.approx.ftz.f32 %z, %a;", "r", "r", v(f(-0.5), f(-2)), v(denormal, inf)),
		values("sqrt.rn.f32 %z, %a;", "r", "r", v(f(2), 0x3fb504f3), v(f(-1), nan32), v(neg32, neg32), v(inf, inf)),
		values("sqrt.rp.f32 %z, %a;", "r", "r", v(f(2), 0x3fb504f4), v(f(9), f(3))),
		values("sqrt.approx.f32 %z, %a;", "r", "r", v(f(9), f(3))),
		values("rsqrt.approx.f32 %z, %a;", "r", "r", v(f(0.25), f(2)), v(0, inf), v(neg32, negInf), v(f(-1), nan32), v(inf, 0)),
		values("sin.approx.f32 %z, %a;", "r", "r", v(0, 0), v(neg32, neg32), v(inf, nan32)),
		values("cos.approx.f32 %z, %a;", "r", "r", v(0, one), v(inf, nan32)),
		values("lg2.approx.f32 %z, %a;", "r", "r", v(f(8), f(3)), v(0, negInf), v(f(-1), nan32), v(inf, inf)),
		values("ex2.approx.f32 %z, %a;", "r", "r", v(f(3), f(8)), v(negInf, 0), v(inf, inf), v(f(-2), f(0.25))),
		values("ex2.approx.ftz.f32 %z, %a;", "r", "r", v(f(-140), 0)),
		values("tanh.approx.f32 %z, %a;", "r", "r", v(0, 0), v(inf, one), v(negInf, f(-1))),
		values("abs.f32 %z, %a;", "r", "r", v(f(-1), one), v(neg32, 0), v(negInf, inf)),
		values("abs.ftz.f32 %z, %a;", "r", "r", v(0x80000001, 0)),
		values("neg.f32 %z, %a;", "r", "r", v(one, f(-1)), v(0, neg32)),
		values("min.f32 %z, %a, %b;", "rr", "r", v(one, f(-2), f(-2)), v(nan, one, one), v(one, nan, one), v(nan, nan, nan32), v(0, neg32, neg32)),
		values("min.NaN.f32 %z, %a, %b;", "rr", "r", v(nan, one, nan32), v(f(2), one, one)),
		values("max.f32 %z, %a, %b;", "rr", "r", v(one, f(-2), one), v(nan, f(-2), f(-2)), v(0, neg32, 0), v(neg32, 0, 0)),
		values("max.ftz.f32 %z, %a, %b;", "rr", "r", v(denormal, f(-1), 0)),
		values("max.xorsign.abs.f32 %z, %a, %b;", "rr", "r", v(f(-1), f(2), f(-2)), v(f(-3), f(-2), f(3))),
		values("max.f32 %z, %a, %b, %c;", "rrr", "r", v(one, f(5), f(2), f(5)), v(one, nan, f(2), f(2))),
		values("testp.finite.f32 %z, %a;", "r", "p", v(one, 1), v(inf, 0), v(nan, 0)),
		values("testp.infinite.f32 %z, %a;", "r", "p", v(negInf, 1), v(nan, 0)),
		values("testp.number.f32 %z, %a;", "r", "p", v(inf, 1), v(nan, 0)),
		values("testp.notanumber.f64 %z, %a;", "d", "p", v(f64b(math.NaN()), 1), v(0, 0)),
		values("testp.normal.f32 %z, %a;", "r", "p", v(denormal, 0), v(f(0x1p-126), 1), v(0, 1), v(neg32, 1), v(inf, 0)),
		values("testp.subnormal.f32 %z, %a;", "r", "p", v(denormal, 1), v(f(0x1p-126), 0), v(0, 0)),
		values("copysign.f32 %z, %a, %b;", "rr", "r", v(f(-1), f(5), f(-5)), v(one, f(-5), f(5))),
		values("copysign.f64 %z, %a, %b;", "dd", "d", v(f64b(-1), f64b(5), f64b(-5))),
		values("add.f64 %z, %a, %b;", "dd", "d", v(f64b(1), f64b(0x1p-53), f64b(1)), v(f64b(0.5), f64b(0.25), f64b(0.75))),
		values("add.rp.f64 %z, %a, %b;", "dd", "d", v(f64b(1), f64b(0x1p-80), 0x3ff0000000000001)),
		values("mul.rz.f64 %z, %a, %b;", "dd", "d", v(0x3ff0000000000001, 0x3ff0000000000001, 0x3ff0000000000002), v(f64b(-3), f64b(2), f64b(-6))),
		values("fma.rn.f64 %z, %a, %b, %c;", "ddd", "d", v(f64b(0x1.0000001p0), f64b(0x1.0000001p0), f64b(-0x1.0000002p0), f64b(0x1p-56))),
		values("div.rn.f64 %z, %a, %b;", "dd", "d", v(f64b(1), f64b(3), 0x3fd5555555555555)),
		values("div.rp.f64 %z, %a, %b;", "dd", "d", v(f64b(1), f64b(3), 0x3fd5555555555556)),
		values("sqrt.rn.f64 %z, %a;", "d", "d", v(f64b(2), 0x3ff6a09e667f3bcd)),
		values("rcp.rn.f64 %z, %a;", "d", "d", v(f64b(3), 0x3fd5555555555555)),
		values("rcp.approx.ftz.f64 %z, %a;", "d", "d", v(f64b(4), f64b(0.25))),
		values("rsqrt.approx.ftz.f64 %z, %a;", "d", "d", v(f64b(4), f64b(0.5))),
		values("neg.f64 %z, %a;", "d", "d", v(f64b(2), f64b(-2))),
		values("max.f64 %z, %a, %b;", "dd", "d", v(f64b(2), f64b(3), f64b(3))),
	}
}

// halfCases: 9.7.4 Half Precision, and bf16. In f16 1 is 3c00, 2 is 4000, the
// largest 7bff; in bf16 1 is 3f80, 2 is 4000.
func halfCases() []rowCase {
	return []rowCase{
		values("add.f16 %z, %a, %b;", "hh", "h", v(0x3c00, 0x3c00, 0x4000), v(0x3c00, 0x1000, 0x3c00), v(0x3c01, 0x1000, 0x3c02), v(0x7bff, 0x7bff, 0x7c00), v(0x7c00, 0xfc00, nan16), v(1, 1, 2)),
		values("add.ftz.f16 %z, %a, %b;", "hh", "h", v(1, 1, 0), v(0x3c00, 1, 0x3c00)),
		values("add.sat.f16 %z, %a, %b;", "hh", "h", v(0x3c00, 0x3c00, 0x3c00), v(0xbc00, 0, 0)),
		values("sub.f16 %z, %a, %b;", "hh", "h", v(0x3c00, 0x4000, 0xbc00)),
		values("mul.f16 %z, %a, %b;", "hh", "h", v(0x4000, 0x4200, 0x4600), v(0x0400, 0x3800, 0x0200)),                         // 2*3, and a denormal
		values("fma.rn.f16 %z, %a, %b, %c;", "hhh", "h", v(0x4000, 0x4200, 0x3c00, 0x4700), v(0x3c01, 0x3c01, 0xbc02, 0x0010)), // (1+2^-10)^2 - (1+2^-9) = 2^-20
		values("fma.rn.relu.f16 %z, %a, %b, %c;", "hhh", "h", v(0x4000, 0xc200, 0x3c00, 0)),
		values("add.f16x2 %z, %a, %b;", "rr", "r", v(0x3c004000, 0x3c003c00, 0x40004200)),
		values("mul.f16x2 %z, %a, %b;", "rr", "r", v(0xbc004000, 0x40004000, 0xc0004400)),
		values("fma.rn.f16x2 %z, %a, %b, %c;", "rrr", "r", v(0x40003c00, 0x42003c00, 0x3c003c00, 0x47004000)),
		values("neg.f16x2 %z, %a;", "r", "r", v(0x3c00bc00, 0xbc003c00)),
		values("abs.f16 %z, %a;", "h", "h", v(0xbc00, 0x3c00)),
		values("min.f16 %z, %a, %b;", "hh", "h", v(0x3c00, 0xc000, 0xc000), v(0x7e00, 0x3c00, 0x3c00), v(0, 0x8000, 0x8000)),
		values("max.NaN.f16x2 %z, %a, %b;", "rr", "r", v(0x7e003c00, 0x3c004000, 0x7fff4000)),
		values("ex2.approx.f16 %z, %a;", "h", "h", v(0x4000, 0x4400)),
		values("tanh.approx.f16 %z, %a;", "h", "h", v(0x7c00, 0x3c00)),
		values("add.rn.bf16 %z, %a, %b;", "hh", "h", v(0x3f80, 0x3f80, 0x4000), v(0x3f80, 0x3b80, 0x3f80), v(0x3f81, 0x3b80, 0x3f82)),
		values("mul.rn.bf16 %z, %a, %b;", "hh", "h", v(0x4000, 0x4040, 0x40c0)),
		values("fma.rn.bf16 %z, %a, %b, %c;", "hhh", "h", v(0x4000, 0x4040, 0x3f80, 0x40e0)),
		values("fma.rn.bf16x2 %z, %a, %b, %c;", "rrr", "r", v(0x40003f80, 0x40403f80, 0x3f803f80, 0x40e04000)),
		values("max.bf16x2 %z, %a, %b;", "rr", "r", v(0x40003f80, 0x3f804000, 0x40004000)),
		values("neg.bf16 %z, %a;", "h", "h", v(0x3f80, 0xbf80)),
	}
}

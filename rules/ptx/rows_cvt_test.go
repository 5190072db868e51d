package ptx

import "math"

// cvtCases: 9.7.9 cvt.
func cvtCases() []rowCase {
	f := f32b
	nan, inf, negInf := uint64(0x7fc00000), uint64(inf32), uint64(0xff800000)
	return []rowCase{
		// between integers
		values("cvt.u32.u16 %z, %a;", "h", "r", v(0x8001, 0x8001)),
		values("cvt.s32.s16 %z, %a;", "h", "r", v(0x8001, 0xffff8001)),
		values("cvt.s32.s8 %z, %a;", "r", "r", v(0x1280, 0xffffff80), v(0x127f, 0x7f)),
		values("cvt.u32.u8 %z, %a;", "r", "r", v(0x1280, 0x80)),
		values("cvt.u16.u32 %z, %a;", "r", "h", v(0x12345678, 0x5678)),
		values("cvt.s64.s32 %z, %a;", "r", "d", v(0xffffffff, ^uint64(0))),
		values("cvt.u64.u32 %z, %a;", "r", "d", v(0xffffffff, 0xffffffff)),
		values("cvt.u32.u64 %z, %a;", "d", "r", v(0x123456789, 0x23456789)),
		values("cvt.u8.u32 %z, %a;", "r", "r", v(0x1ff, 0xff)),
		values("cvt.s8.s32 %z, %a;", "r", "r", v(0x1ff, 0xffffffff), v(0x7f, 0x7f)),
		values("cvt.sat.u8.s32 %z, %a;", "r", "r", v(neg(5), 0), v(300, 255), v(77, 77)),
		values("cvt.sat.s8.s32 %z, %a;", "r", "r", v(200, 127), v(neg(200), neg(128))),
		values("cvt.sat.s16.s32 %z, %a;", "r", "h", v(40000, 0x7fff), v(neg(40000), 0x8000)),
		values("cvt.sat.u32.s64 %z, %a;", "d", "r", v(^uint64(0), 0), v(1<<33, 0xffffffff)),
		values("cvt.sat.s32.u32 %z, %a;", "r", "r", v(neg32, 0x7fffffff), v(7, 7)),
		// from floating point
		values("cvt.rzi.s32.f32 %z, %a;", "r", "r", v(f(-2.7), neg(2)), v(f(2.7), 2), v(nan, 0), v(inf, 0x7fffffff), v(negInf, neg32), v(f(3e9), 0x7fffffff)),
		values("cvt.rni.s32.f32 %z, %a;", "r", "r", v(f(2.5), 2), v(f(3.5), 4), v(f(-2.5), neg(2)), v(f(-0.6), neg(1))),
		values("cvt.rmi.s32.f32 %z, %a;", "r", "r", v(f(2.5), 2), v(f(-2.5), neg(3))),
		values("cvt.rpi.s32.f32 %z, %a;", "r", "r", v(f(2.5), 3), v(f(-2.5), neg(2))),
		values("cvt.rzi.u32.f32 %z, %a;", "r", "r", v(f(-1), 0), v(f(4e9), 4000000000), v(f(5e9), 0xffffffff), v(nan, 0)),
		values("cvt.rzi.u16.f32 %z, %a;", "r", "h", v(f(70000), 0xffff), v(f(-7), 0)),
		values("cvt.rzi.s16.f32 %z, %a;", "r", "h", v(f(70000), 0x7fff), v(f(-70000), 0x8000)),
		values("cvt.rzi.s64.f32 %z, %a;", "r", "d", v(f(-0x1p40), 0xffffff0000000000), v(f(1e30), 1<<63-1)),
		values("cvt.rzi.s32.f64 %z, %a;", "d", "r", v(f64b(-1e20), neg32), v(f64b(123.9), 123)),
		values("cvt.rzi.u64.f64 %z, %a;", "d", "d", v(f64b(0x1p63), 1<<63), v(f64b(1e30), ^uint64(0))),
		values("cvt.rni.s32.f16 %z, %a;", "h", "r", v(0x4100, 2), v(0x4300, 4)), // 2.5, 3.5
		values("cvt.rzi.ftz.s32.f32 %z, %a;", "r", "r", v(1, 0)),
		values("cvt.rpi.ftz.s32.f32 %z, %a;", "r", "r", v(1, 0)),
		values("cvt.rpi.s32.f32 %z, %a;", "r", "r", v(1, 1)),
		values("cvt.rni.f32.f32 %z, %a;", "r", "r", v(f(2.5), f(2)), v(f(-0.4), neg32)),
		// to floating point
		values("cvt.rn.f32.s32 %z, %a;", "r", "r", v(neg(7), f(-7)), v(0x01000001, f(0x1p24)), v(0x01000003, f(0x1.000004p24)), v(neg32, f(-0x1p31))),
		values("cvt.rz.f32.u32 %z, %a;", "r", "r", v(0xffffffff, 0x4f7fffff), v(0x01000003, f(0x1.000002p24))),
		values("cvt.rp.f32.u32 %z, %a;", "r", "r", v(0x01000001, f(0x1.000002p24))),
		values("cvt.rm.f32.s32 %z, %a;", "r", "r", v(neg(0x01000001), f(-0x1.000002p24))),
		values("cvt.rn.f32.u64 %z, %a;", "d", "r", v(1<<63+1<<39, f(0x1p63)), v(1<<63+1<<39+1, f(0x1.000002p63))),
		values("cvt.rn.f64.u64 %z, %a;", "d", "d", v(^uint64(0), f64b(0x1p64)), v(1<<53+1, f64b(0x1p53))),
		values("cvt.rz.f64.u64 %z, %a;", "d", "d", v(^uint64(0), 0x43efffffffffffff)),
		values("cvt.rn.f16.s32 %z, %a;", "r", "h", v(neg(2), 0xc000), v(2049, 0x6800), v(70000, 0x7c00)),
		values("cvt.rn.bf16.s32 %z, %a;", "r", "h", v(257, 0x4380)),
		// among floating-point types
		values("cvt.f64.f32 %z, %a;", "r", "d", v(f(0.1), f64b(float64(float32(0.1)))), v(1, f64b(0x1p-149))),
		values("cvt.rn.f32.f64 %z, %a;", "d", "r", v(f64b(1+0x1p-24), f(1)), v(f64b(1+0x1p-24+0x1p-50), 0x3f800001), v(f64b(1e300), inf), v(f64b(math.NaN()), nan32)),
		values("cvt.rz.f32.f64 %z, %a;", "d", "r", v(f64b(1+0x1p-24+0x1p-50), f(1)), v(f64b(1e300), 0x7f7fffff)),
		values("cvt.rp.f32.f64 %z, %a;", "d", "r", v(f64b(1+0x1p-50), 0x3f800001), v(f64b(1e-300), 1)),
		values("cvt.sat.f32.f32 %z, %a;", "r", "r", v(f(2), f(1)), v(f(-2), 0), v(nan, 0), v(f(0.5), f(0.5))),
		values("cvt.f32.f16 %z, %a;", "h", "r", v(0x3c00, f(1)), v(0x0001, f(0x1p-24)), v(0xfc00, 0xff800000)),
		values("cvt.rn.f16.f32 %z, %a;", "r", "h", v(f(1), 0x3c00), v(f(65519), 0x7bff), v(f(65520), 0x7c00), v(f(0x1p-25), 0), v(f(0x1.000002p-25), 1), v(f(-0x1p-24), 0x8001), v(nan, nan16), v(f(1+0x1p-11), 0x3c00), v(f(1+3*0x1p-11), 0x3c02)),
		values("cvt.rz.f16.f32 %z, %a;", "r", "h", v(f(65535), 0x7bff), v(f(1+0x1.8p-10), 0x3c01)),
		values("cvt.rn.relu.f16.f32 %z, %a;", "r", "h", v(f(-1), 0), v(f(2), 0x4000)),
		values("cvt.f32.bf16 %z, %a;", "h", "r", v(0x3f80, f(1))),
		values("cvt.rn.bf16.f32 %z, %a;", "r", "h", v(0x3f808000, 0x3f80), v(0x3f818000, 0x3f82), v(0x3f808001, 0x3f81), v(0x7f7fffff, 0x7f80), v(nan, nan16)),
		values("cvt.rz.bf16.f32 %z, %a;", "r", "h", v(0x3f80ffff, 0x3f80), v(0x7f7fffff, 0x7f7f)),
		values("cvt.rna.tf32.f32 %z, %a;", "r", "r", v(0x3f801000, 0x3f802000), v(0x3f800fff, 0x3f800000)),
		// pairs: the first source goes to the upper half
		values("cvt.rn.f16x2.f32 %z, %a, %b;", "rr", "r", v(f(1), f(2), 0x3c004000)),
		values("cvt.rz.bf16x2.f32 %z, %a, %b;", "rr", "r", v(0x3f80ffff, f(-2), 0x3f80c000)),
		values("cvt.rn.relu.bf16x2.f32 %z, %a, %b;", "rr", "r", v(f(1), f(-2), 0x3f800000)),
		values("cvt.rn.satfinite.e4m3x2.f32 %z, %a, %b;", "rr", "h", v(f(448), f(1), 0x7e38), v(f(1000), f(-1000), 0x7efe), v(nan, 0, 0x7f00)),
		values("cvt.rn.satfinite.e5m2x2.f32 %z, %a, %b;", "rr", "h", v(f(57344), f(1), 0x7b3c), v(f(1e9), f(-2), 0x7bc0)),
		values("cvt.rn.satfinite.bf16x2.f32 %z, %a, %b;", "rr", "r", v(0x7f7fffff, negInf, 0x7f7fff7f)),
		values("cvt.rn.satfinite.f16x2.f32 %z, %a, %b;", "rr", "r", v(f(1e6), f(-1e6), 0x7bfffbff)),
		values("cvt.rn.f16x2.e4m3x2 %z, %a;", "h", "r", v(0x387e, 0x3c005f00)),
		values("cvt.rn.satfinite.e4m3x2.f16x2 %z, %a;", "r", "h", v(0x3c005f00, 0x387e), v(0x7c00fc00, 0x7efe)),
		values("cvt.rn.satfinite.e5m2x2.f16x2 %z, %a;", "r", "h", v(0x3c007800, 0x3c78), v(0x7bff0000, 0x7b00)),
		values("cvt.rn.f16x2.e5m2x2 %z, %a;", "h", "r", v(0x3c7b, 0x3c007b00)),
	}
}

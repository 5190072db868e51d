package ptx

// logicCases: 9.7.6 Comparison and Selection, 9.7.8 Logic and Shift.
func logicCases() []rowCase {
	one, two, nan := f32b(1), f32b(2), uint64(0x7fc00001)
	return []rowCase{
		values("and.b32 %z, %a, %b;", "rr", "r", v(0xff00ff00, 0x0ff00ff0, 0x0f000f00)),
		values("and.pred %z, %a, %b;", "pp", "p", v(1, 1, 1), v(1, 0, 0)),
		values("or.b32 %z, %a, %b;", "rr", "r", v(0xff00ff00, 0x0ff00ff0, 0xfff0fff0)),
		values("or.pred %z, %a, %b;", "pp", "p", v(0, 1, 1), v(0, 0, 0)),
		values("xor.b64 %z, %a, %b;", "dd", "d", v(0xff00000000000001, 0x0f00000000000001, 0xf000000000000000)),
		values("xor.pred %z, %a, %b;", "pp", "p", v(1, 1, 0), v(1, 0, 1)),
		values("not.b32 %z, %a;", "r", "r", v(0x0f0f0f0f, 0xf0f0f0f0)),
		values("not.b16 %z, %a;", "h", "h", v(0, 0xffff)),
		values("not.pred %z, %a;", "p", "p", v(0, 1), v(1, 0)),
		values("cnot.b32 %z, %a;", "r", "r", v(0, 1), v(77, 0)),
		values("lop3.b32 %z, %a, %b, %c, 0x96;", "rrr", "r", v(0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0xc33cc33c)),
		values("lop3.b32 %z, %a, %b, %c, 0xe8;", "rrr", "r", v(0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0xfcc0fcc0)),
		values("lop3.b32 %z, %a, %b, %c, 0x40;", "rrr", "r", v(0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0x30003000)), // a & b & ~c
		values("lop3.b32 %z, %a, %b, %c, 0xca;", "rrr", "r", v(0xffff0000, 0x12345678, 0x9abcdef0, 0x1234def0)),
		values("lop3.b32 %z, %a, %b, %c, 0x01;", "rrr", "r", v(0xff, 0xff00, 0xff0000, 0xff000000)),
		values("shl.b32 %z, %a, %b;", "rr", "r", v(1, 31, neg32), v(1, 32, 0), v(1, 0xffffffff, 0), v(3, 0, 3)),
		values("shl.b64 %z, %a, %b;", "dr", "d", v(1, 63, 1<<63), v(1, 64, 0), v(1, 100, 0)),
		values("shl.b16 %z, %a, %b;", "hr", "h", v(0x8001, 1, 2), v(1, 16, 0)),
		values("shr.u32 %z, %a, %b;", "rr", "r", v(neg32, 31, 1), v(neg32, 32, 0), v(0xffffffff, 64, 0)),
		values("shr.s32 %z, %a, %b;", "rr", "r", v(neg32, 31, 0xffffffff), v(neg32, 40, 0xffffffff), v(0x40000000, 99, 0), v(neg(8), 1, neg(4))),
		values("shr.s64 %z, %a, %b;", "dr", "d", v(1<<63, 80, ^uint64(0)), v(1<<63, 4, 0xf800000000000000)),
		values("shr.u16 %z, %a, %b;", "hr", "h", v(0x8000, 15, 1), v(0x8000, 16, 0)),
		values("shf.l.wrap.b32 %z, %a, %b, %c;", "rrr", "r", v(0x89abcdef, 0x01234567, 8, 0x23456789), v(0x89abcdef, 0x01234567, 40, 0x23456789), v(1, 2, 0, 2)),
		values("shf.l.clamp.b32 %z, %a, %b, %c;", "rrr", "r", v(0x89abcdef, 0x01234567, 40, 0x89abcdef)),
		values("shf.r.wrap.b32 %z, %a, %b, %c;", "rrr", "r", v(0x89abcdef, 0x01234567, 8, 0x6789abcd), v(0x89abcdef, 0x01234567, 36, 0x789abcde)),
		values("shf.r.clamp.b32 %z, %a, %b, %c;", "rrr", "r", v(0x89abcdef, 0x01234567, 99, 0x01234567)),
		values("setp.lt.s32 %z, %a, %b;", "rr", "p", v(neg(1), 0, 1), v(0, 0, 0)),
		values("setp.lt.u32 %z, %a, %b;", "rr", "p", v(neg(1), 0, 0), v(0, 1, 1)),
		values("setp.hi.u32 %z, %a, %b;", "rr", "p", v(neg(1), 0, 1), v(0, 0, 0)),
		values("setp.ls.u64 %z, %a, %b;", "dd", "p", v(1<<63, 1, 0), v(1, 1, 1)),
		values("setp.ge.s64 %z, %a, %b;", "dd", "p", v(1<<63, 1, 0), v(1, 1, 1)),
		values("setp.ne.b16 %z, %a, %b;", "hh", "p", v(1, 2, 1), v(2, 2, 0)),
		values("setp.lt.and.s32 %z, %a, %b, %c;", "rrp", "p", v(1, 2, 1, 1), v(1, 2, 0, 0)),
		values("setp.lt.and.s32 %z, %a, %b, !%c;", "rrp", "p", v(1, 2, 1, 0), v(1, 2, 0, 1)),
		values("setp.eq.or.b32 %z, %a, %b, %c;", "rrp", "p", v(1, 2, 1, 1), v(1, 2, 0, 0)),
		values("setp.eq.xor.b32 %z, %a, %b, %c;", "rrp", "p", v(1, 1, 1, 0), v(1, 2, 1, 1)),
		values("setp.lt.and.s32 %q|%z, %a, %b, %c;", "rrp", "p", v(1, 2, 1, 0), v(2, 1, 1, 1), v(2, 1, 0, 0)), // q = !(a < b) & c
		values("setp.lt.f32 %z, %a, %b;", "rr", "p", v(one, two, 1), v(nan, one, 0), v(f32b(-1), 0x80000000, 1)),
		values("setp.ne.f32 %z, %a, %b;", "rr", "p", v(one, nan, 0), v(one, two, 1)),
		values("setp.neu.f32 %z, %a, %b;", "rr", "p", v(one, nan, 1), v(one, one, 0)),
		values("setp.geu.f32 %z, %a, %b;", "rr", "p", v(nan, one, 1), v(one, two, 0)),
		values("setp.num.f32 %z, %a, %b;", "rr", "p", v(one, two, 1), v(nan, two, 0)),
		values("setp.nan.f32 %z, %a, %b;", "rr", "p", v(one, two, 0), v(nan, two, 1)),
		values("setp.eq.f32 %z, %a, %b;", "rr", "p", v(0, neg32, 1)),
		values("setp.gt.ftz.f32 %z, %a, %b;", "rr", "p", v(1, 0, 0)), // a denormal counts as zero
		values("setp.gt.f32 %z, %a, %b;", "rr", "p", v(1, 0, 1)),
		values("setp.lt.f64 %z, %a, %b;", "dd", "p", v(f64b(1), f64b(1.5), 1)),
		values("setp.gt.f16 %z, %a, %b;", "hh", "p", v(0x4000, 0x3c00, 1), v(0x7e00, 0x3c00, 0)),
		values("setp.gt.bf16 %z, %a, %b;", "hh", "p", v(0xc000, 0x3f80, 0)),
		values("setp.gt.f16x2 %q|%z, %a, %b;", "rr", "p", v(0x40003c00, 0x3c003c00, 1), v(0x3c004000, 0x3c003c00, 0)),
		values("set.lt.u32.s32 %z, %a, %b;", "rr", "r", v(neg(1), 0, 0xffffffff), v(0, 0, 0)),
		values("set.lt.f32.s32 %z, %a, %b;", "rr", "r", v(neg(1), 0, 0x3f800000), v(0, 0, 0)),
		values("set.gt.and.u32.f32 %z, %a, %b, %c;", "rrp", "r", v(two, one, 1, 0xffffffff), v(two, one, 0, 0), v(nan, one, 1, 0)),
		values("selp.b32 %z, %a, %b, %c;", "rrp", "r", v(1, 2, 1, 1), v(1, 2, 0, 2)),
		values("selp.b64 %z, %a, %b, %c;", "ddp", "d", v(1<<40, 2, 1, 1<<40), v(1<<40, 2, 0, 2)),
		values("slct.u32.s32 %z, %a, %b, %c;", "rrr", "r", v(1, 2, 0, 1), v(1, 2, neg(1), 2)),
		values("slct.u64.f32 %z, %a, %b, %c;", "ddr", "d", v(1, 2, f32b(-0.5), 2), v(1, 2, neg32, 1), v(1, 2, nan, 2)), // -0 >= 0; a NaN selects b
	}
}

// moveCases: mov, prmt, cvta, isspacep.
func moveCases() []rowCase {
	prmt := func(mode string, lines ...[]uint64) rowCase {
		return values("prmt.b32"+mode+" %z, %a, %b, %c;", "rrr", "r", lines...)
	}
	const a, b = 0x33221100, 0x77665544 // byte n is n twice
	return []rowCase{
		values("mov.b32 %z, %a;", "r", "r", v(0xdeadbeef, 0xdeadbeef)),
		values("mov.b64 {%t, %u}, %a; mov.b64 %z, {%u, %t};", "d", "d", v(0x0123456789abcdef, 0x89abcdef01234567)),
		values(".reg .b16 %h<3>; mov.b32 {%h1, %h2}, %a; mov.b32 %z, {%h2, %h1};", "r", "r", v(0x12345678, 0x56781234)),
		values("mov.pred %z, %a;", "p", "p", v(1, 1), v(0, 0)),
		values(".reg .b16 %h<5>; mov.b64 {%h1, %h2, %h3, %h4}, %a; mov.b64 %z, {%h4, %h3, %h2, %h1};", "d", "d", v(0x0123456789abcdef, 0xcdef89ab45670123)),
		values("mov.b64 {%t, _}, %a; mov.b32 %z, %t;", "d", "r", v(0x0123456789abcdef, 0x89abcdef)),
		values(".reg .b128 %y<3>; mov.b128 %y1, {%a, %b}; mov.b128 %y2, %y1; mov.b128 {%v, %z}, %y2;", "dd", "d", v(1, 2, 2)),
		prmt("", v(a, b, 0x3210, a), v(a, b, 0x7654, b), v(a, b, 0x0123, 0x00112233), v(0x80000000, 0, 0xb3b3, 0xff80ff80), v(0x7f000000, 0, 0xbbbb, 0)),
		prmt(".f4e", v(a, b, 0, 0x33221100), v(a, b, 1, 0x44332211), v(a, b, 2, 0x55443322), v(a, b, 3, 0x66554433)),
		prmt(".b4e", v(a, b, 0, 0x55667700), v(a, b, 1, 0x66770011), v(a, b, 2, 0x77001122), v(a, b, 3, 0x00112233)),
		prmt(".rc8", v(a, b, 0, 0x00000000), v(a, b, 1, 0x11111111), v(a, b, 2, 0x22222222), v(a, b, 3, 0x33333333)),
		prmt(".ecl", v(a, b, 0, 0x33221100), v(a, b, 1, 0x33221111), v(a, b, 2, 0x33222222), v(a, b, 3, 0x33333333)),
		prmt(".ecr", v(a, b, 0, 0x00000000), v(a, b, 1, 0x11111100), v(a, b, 2, 0x22221100), v(a, b, 3, 0x33221100)),
		prmt(".rc16", v(a, b, 0, 0x11001100), v(a, b, 1, 0x33223322), v(a, b, 2, 0x11001100), v(a, b, 3, 0x33223322)),
		values("mov.b64 %v, smem; cvta.shared.u64 %v, %v; isspacep.shared %z, %v;", "", "p", v(1)),
		values("mov.b64 %v, smem; cvta.shared.u64 %v, %v; isspacep.global %z, %v;", "", "p", v(0)),
		values("cvta.to.global.u64 %v, %rd0; cvta.global.u64 %v, %v; isspacep.global %z, %v;", "", "p", v(1)),
		values("mov.b64 %v, smem; cvta.shared.u64 %v, %v; cvta.to.shared.u64 %v, %v; mov.b64 %rd9, smem; sub.s64 %z, %v, %rd9;", "", "d", v(0)),
		values("mov.b64 %v, smem; cvta.shared.u64 %v, %v; isspacep.shared::cluster %z, %v;", "", "p", v(1)),
		values("mov.b64 %v, p0; cvta.param.u64 %v, %v; isspacep.param::entry %z, %v;", "", "p", v(1)),
		values("mov.b64 %v, p0; isspacep.global %z, %v;", "", "p", v(0)),
		values("isspacep.local %z, %rd0;", "", "p", v(0)),
		values("mov.b64 %v, smem; mapa.shared::cluster.u64 %v, %v, 0; getctarank.shared::cluster.u64 %z, %v;", "", "r", v(0)),
		values("mov.u32 %z, %tid.y;", "", "r", v(0)),
		values("mov.u32 %z, %nctaid.x;", "", "r", v(1)),
	}
}

package kernels

// helperCompare is aliascheck_compare. It reads 16 bytes of both buffers at a time
// and looks closer only where they differ. An element that differs from the first
// reference is masked, not counted, where the other two references differ from the
// first.
const helperCompare = `.visible .entry aliascheck_compare(
	.param .u64 x, .param .u64 r1, .param .u64 r2, .param .u64 r3,
	.param .u64 chunks, .param .u64 cell, .param .u64 report,
	.param .u32 kind, .param .u32 log, .param .f64 rel, .param .f64 abs)
.maxntid 256, 1, 1
.minnctapersm 4
{
	.reg .pred %p<15>;
	.reg .b32 %r<20>;
	.reg .b64 %rd<48>;
	.reg .f32 %f<3>;
	.reg .f64 %d<8>;
	.shared .align 8 .b8 sums[552];

	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %nctaid.x;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [r1];
	ld.param.u64 %rd3, [r2];
	ld.param.u64 %rd4, [r3];
	ld.param.u64 %rd5, [chunks];
	ld.param.u64 %rd6, [cell];
	ld.param.u64 %rd7, [report];
	ld.param.u32 %r4, [kind];
	ld.param.u32 %r5, [log];
	ld.param.f64 %d1, [rel];
	ld.param.f64 %d2, [abs];

	// sums: count, masked, nonFinite, first, largest, cells
	mov.u32 %r6, sums;
	shl.b32 %r7, %r1, 3;
	add.u32 %r7, %r6, %r7;
	setp.lt.u32 %p1, %r1, 69;
	mov.u64 %rd8, 0;
	setp.eq.u32 %p2, %r1, 3;
	@%p2 mov.u64 %rd8, -1;
	@%p1 st.shared.u64 [%r7], %rd8;
	bar.sync 0;

	mov.u64 %rd10, 0;
	mov.u64 %rd11, 0;
	mov.u64 %rd12, 0;
	mov.u64 %rd13, -1;
	mov.f64 %d3, 0d0000000000000000;

	// f32, one reference and no tolerance: compared in registers, see WORDS.
	setp.eq.u32 %p12, %r4, 3;
	setp.eq.and.u64 %p12, %rd3, 0, %p12;
	setp.eq.and.f64 %p12, %d1, 0d0000000000000000, %p12;
	setp.eq.and.f64 %p12, %d2, 0d0000000000000000, %p12;

	// A block takes chunks that lie together, so that its threads seldom change
	// the cell that they count for.
	mov.u64 %rd40, 0; // cell of what is counted in %rd41
	mov.u64 %rd41, 0;
	cvt.u64.u32 %rd16, %r3;
	add.u64 %rd15, %rd5, %rd16;
	sub.u64 %rd15, %rd15, 1;
	div.u64 %rd15, %rd15, %rd16;
	cvt.u64.u32 %rd14, %r2;
	mul.lo.u64 %rd14, %rd14, %rd15;
	add.u64 %rd42, %rd14, %rd15;
	min.u64 %rd42, %rd42, %rd5;
	cvt.u64.u32 %rd15, %r1;
	add.u64 %rd14, %rd14, %rd15;
NEXT:
	setp.ge.u64 %p3, %rd14, %rd42;
	@%p3 bra REDUCE;
	shl.b64 %rd17, %rd14, 4;
	add.u64 %rd18, %rd1, %rd17;
	add.u64 %rd19, %rd2, %rd17;
	ld.global.v2.u64 {%rd20, %rd21}, [%rd18];
	ld.global.v2.u64 {%rd22, %rd23}, [%rd19];
	xor.b64 %rd43, %rd20, %rd22;
	xor.b64 %rd44, %rd21, %rd23;
	or.b64 %rd43, %rd43, %rd44;
	setp.ne.u64 %p4, %rd43, 0;
	@!%p4 bra STEP;
	mov.u32 %r8, 0;
	@%p12 bra WORDS;
	bra LOOK;
STEP:
	add.u64 %rd14, %rd14, 256;
	bra NEXT;

WORDS: // four words, of which the next is the low half of %rd20 and %rd22
	mov.u32 %r13, 0;
WORD:
	cvt.u32.u64 %r14, %rd20;
	cvt.u32.u64 %r15, %rd22;
	setp.eq.u32 %p13, %r14, %r15;
	@%p13 bra NEXTWORD;
	add.u64 %rd10, %rd10, 1;
	add.u32 %r8, %r8, 1;
	shl.b64 %rd29, %rd14, 2;
	cvt.u64.u32 %rd45, %r13;
	add.u64 %rd29, %rd29, %rd45;
	min.u64 %rd13, %rd13, %rd29;
	mov.b32 %f1, %r14;
	mov.b32 %f2, %r15;
	cvt.f64.f32 %d6, %f1;
	cvt.f64.f32 %d7, %f2;
	sub.f64 %d6, %d6, %d7;
	abs.f64 %d6, %d6;
	testp.finite.f64 %p14, %d6;
	@%p14 max.f64 %d3, %d3, %d6;
	@!%p14 add.u64 %rd12, %rd12, 1;
NEXTWORD:
	shr.u64 %rd20, %rd20, 32;
	shr.u64 %rd22, %rd22, 32;
	add.u32 %r13, %r13, 1;
	setp.eq.u32 %p13, %r13, 2;
	@%p13 mov.u64 %rd20, %rd21;
	@%p13 mov.u64 %rd22, %rd23;
	setp.lt.u32 %p13, %r13, 4;
	@%p13 bra WORD;
	bra CELL;

LOOK:
	mov.u64 %rd24, 0;
	mov.u32 %r9, 1;
	shl.b32 %r9, %r9, %r5;
	cvt.u64.u32 %rd25, %r9;
ELEMENT:
	add.u64 %rd26, %rd18, %rd24;
	add.u64 %rd27, %rd19, %rd24;
	call (%r10, %d4), unequal, (%rd26, %rd27, %r5, %r4, %d1, %d2);
	setp.eq.u32 %p5, %r10, 0;
	@%p5 bra SAME;
	setp.eq.u64 %p6, %rd3, 0;
	@%p6 bra COUNT;
	add.u64 %rd28, %rd3, %rd17;
	add.u64 %rd28, %rd28, %rd24;
	call (%r11, %d5), unequal, (%rd28, %rd27, %r5, %r4, %d1, %d2);
	setp.ne.u32 %p7, %r11, 0;
	@%p7 bra MASKED;
	add.u64 %rd28, %rd4, %rd17;
	add.u64 %rd28, %rd28, %rd24;
	call (%r11, %d5), unequal, (%rd28, %rd27, %r5, %r4, %d1, %d2);
	setp.ne.u32 %p7, %r11, 0;
	@%p7 bra MASKED;
COUNT:
	add.u64 %rd10, %rd10, 1;
	add.u32 %r8, %r8, 1;
	setp.eq.u32 %p8, %r10, 2;
	@%p8 add.u64 %rd12, %rd12, 1;
	add.u64 %rd29, %rd17, %rd24;
	shr.u64 %rd29, %rd29, %r5;
	min.u64 %rd13, %rd13, %rd29;
	max.f64 %d3, %d3, %d4;
	bra SAME;
MASKED:
	add.u64 %rd11, %rd11, 1;
SAME:
	add.u64 %rd24, %rd24, %rd25;
	setp.lt.u64 %p9, %rd24, 16;
	@%p9 bra ELEMENT;
	setp.eq.u32 %p10, %r8, 0;
	@%p10 bra STEP;
CELL:
	div.u64 %rd30, %rd14, %rd6;
	cvt.u64.u32 %rd31, %r8;
	setp.eq.u64 %p11, %rd30, %rd40;
	@%p11 bra SAMECELL;
	cvt.u32.u64 %r12, %rd40;
	shl.b32 %r12, %r12, 3;
	add.u32 %r12, %r12, %r6;
	setp.ne.u64 %p11, %rd41, 0;
	@%p11 red.shared.add.u64 [%r12+40], %rd41;
	mov.u64 %rd40, %rd30;
	mov.u64 %rd41, 0;
SAMECELL:
	add.u64 %rd41, %rd41, %rd31;
	bra STEP;

REDUCE:
	setp.eq.u64 %p3, %rd10, 0;
	@%p3 bra NOTHING;
	cvt.u32.u64 %r12, %rd40;
	shl.b32 %r12, %r12, 3;
	add.u32 %r12, %r12, %r6;
	red.shared.add.u64 [%r12+40], %rd41;
	red.shared.add.u64 [%r6], %rd10;
	red.shared.add.u64 [%r6+16], %rd12;
	red.shared.min.u64 [%r6+24], %rd13;
	mov.b64 %rd32, %d3;
	red.shared.max.u64 [%r6+32], %rd32;
NOTHING:
	setp.eq.u64 %p3, %rd11, 0;
	@!%p3 red.shared.add.u64 [%r6+8], %rd11;
	bar.sync 0;
	@!%p1 ret;
	ld.shared.u64 %rd33, [%r7];
	mul.wide.u32 %rd34, %r1, 8;
	add.u64 %rd34, %rd7, %rd34;
	setp.eq.u32 %p4, %r1, 3;
	@%p4 red.global.min.u64 [%rd34], %rd33;
	@%p4 ret;
	setp.eq.u32 %p4, %r1, 4;
	@%p4 red.global.max.u64 [%rd34], %rd33;
	@%p4 ret;
	setp.ne.u64 %p4, %rd33, 0;
	@%p4 red.global.add.u64 [%rd34], %rd33;
	ret;
}

`

// Package kernels holds the PTX of the helper kernels: they compare results on a card,
// and look for broken guards.
package kernels

// The names of the helper kernels.
const (
	Compare   = "aliascheck_compare"
	Magnitude = "aliascheck_magnitude"
	Guard     = "aliascheck_guard"
)

// Threads is the block size of the helper kernels.
const Threads = 256

// PTX holds the kernels that compare results and look for broken guards on
// the card, so that no result has to travel through host memory.
//
// All count into a report of 69 fields (see ../comparison.go): count, masked,
// nonFinite, first, largest, then 64 cells, eight bytes each. Threads count in
// registers and blocks in shared memory before they add to the report.
const PTX = helperElements + helperCompare + helperSearches

// helperElements is what the kernels have in common: an element, and two that differ.
const helperElements = `
.version 7.0
.target sm_70
.address_size 64

// value: the element at an address, as its bits and as a double (kinds 1 to 6).
.func (.reg .b64 bits, .reg .f64 number) value(.reg .b64 at, .reg .b32 log, .reg .b32 kind)
{
	.reg .pred %p<8>;
	.reg .b16 %h<3>;
	.reg .b32 %r<4>;
	.reg .f32 %f<3>;
	.reg .b64 %rd<4>;
	.reg .f64 %d<3>;
	mov.f64 %d1, 0d0000000000000000;
	setp.eq.u32 %p1, log, 0;
	@%p1 bra B1;
	setp.eq.u32 %p1, log, 1;
	@%p1 bra B2;
	setp.eq.u32 %p1, log, 2;
	@%p1 bra B4;
	ld.global.u64 %rd1, [at];
	mov.b64 %rd2, %rd1;
	setp.ne.u32 %p2, kind, 4;
	@%p2 bra INTEGER;
	mov.b64 %d1, %rd1;
	bra DONE;
B1:
	ld.global.u8 %rd1, [at];
	ld.global.s8 %rd2, [at];
	bra INTEGER;
B2:
	ld.global.u16 %rd1, [at];
	ld.global.s16 %rd2, [at];
	setp.eq.u32 %p3, kind, 1;
	@%p3 bra HALF;
	setp.eq.u32 %p3, kind, 2;
	@%p3 bra BRAIN;
	bra INTEGER;
HALF:
	ld.global.u16 %h1, [at];
	cvt.f32.f16 %f1, %h1;
	cvt.f64.f32 %d1, %f1;
	bra DONE;
BRAIN:
	cvt.u32.u64 %r1, %rd1;
	shl.b32 %r1, %r1, 16;
	mov.b32 %f1, %r1;
	cvt.f64.f32 %d1, %f1;
	bra DONE;
B4:
	ld.global.u32 %rd1, [at];
	ld.global.s32 %rd2, [at];
	setp.ne.u32 %p4, kind, 3;
	@%p4 bra INTEGER;
	cvt.u32.u64 %r2, %rd1;
	mov.b32 %f2, %r2;
	cvt.f64.f32 %d1, %f2;
	bra DONE;
INTEGER:
	setp.eq.u32 %p5, kind, 5;
	@%p5 cvt.rn.f64.s64 %d1, %rd2;
	setp.eq.u32 %p5, kind, 6;
	@%p5 cvt.rn.f64.u64 %d1, %rd1;
DONE:
	mov.b64 bits, %rd1;
	mov.f64 number, %d1;
	ret;
}

// unequal: 0 equal, 1 different, 2 different by no finite number; and by how much.
.func (.reg .b32 how, .reg .f64 by) unequal(.reg .b64 a, .reg .b64 b, .reg .b32 log, .reg .b32 kind, .reg .f64 rel, .reg .f64 abs)
{
	.reg .pred %p<6>;
	.reg .b64 %rd<3>;
	.reg .f64 %d<8>;
	mov.f64 by, 0d0000000000000000;
	call (%rd1, %d1), value, (a, log, kind);
	call (%rd2, %d2), value, (b, log, kind);
	mov.b32 how, 0;
	setp.eq.u64 %p1, %rd1, %rd2;
	@%p1 ret;
	mov.b32 how, 1;
	setp.eq.u32 %p2, kind, 0;
	@%p2 ret;
	sub.f64 %d3, %d1, %d2;
	abs.f64 %d3, %d3;
	testp.finite.f64 %p3, %d3;
	@!%p3 mov.b32 how, 2;
	@!%p3 ret;
	mov.f64 by, %d3;
	abs.f64 %d4, %d1;
	abs.f64 %d5, %d2;
	max.f64 %d4, %d4, %d5;
	mul.f64 %d4, %d4, rel;
	max.f64 %d4, %d4, abs;
	setp.gt.f64 %p4, %d4, 0d0000000000000000;
	setp.le.and.f64 %p5, %d3, %d4, %p4;
	@%p5 mov.b32 how, 0;
	ret;
}

`

// helperSearches are the kernels that look through one buffer.
const helperSearches = `// The largest finite magnitude of all elements, into report's largest.
.visible .entry aliascheck_magnitude(
	.param .u64 x, .param .u64 elements, .param .u64 report, .param .u32 kind, .param .u32 log)
.maxntid 256, 1, 1
{
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<12>;
	.reg .f64 %d<4>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [elements];
	ld.param.u64 %rd3, [report];
	ld.param.u32 %r1, [kind];
	ld.param.u32 %r2, [log];
	mov.u32 %r3, %tid.x;
	mov.u32 %r4, %ctaid.x;
	mov.u32 %r5, %nctaid.x;
	mul.wide.u32 %rd4, %r4, 256;
	cvt.u64.u32 %rd5, %r3;
	add.u64 %rd4, %rd4, %rd5;
	mul.wide.u32 %rd6, %r5, 256;
	mov.f64 %d1, 0d0000000000000000;
NEXT:
	setp.ge.u64 %p1, %rd4, %rd2;
	@%p1 bra END;
	shl.b64 %rd7, %rd4, %r2;
	add.u64 %rd7, %rd1, %rd7;
	call (%rd8, %d2), value, (%rd7, %r2, %r1);
	abs.f64 %d2, %d2;
	testp.finite.f64 %p2, %d2;
	@%p2 max.f64 %d1, %d1, %d2;
	add.u64 %rd4, %rd4, %rd6;
	bra NEXT;
END:
	mov.b64 %rd9, %d1;
	setp.ne.u64 %p3, %rd9, 0;
	@%p3 red.global.max.u64 [%rd3+32], %rd9;
	ret;
}

// Bytes that do not hold the guard's value: their number, the first, the last.
.visible .entry aliascheck_guard(
	.param .u64 at, .param .u64 bytes, .param .u64 report, .param .u32 value)
.maxntid 256, 1, 1
{
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<12>;
	ld.param.u64 %rd1, [at];
	ld.param.u64 %rd2, [bytes];
	ld.param.u64 %rd3, [report];
	ld.param.u32 %r1, [value];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %nctaid.x;
	mul.wide.u32 %rd4, %r3, 256;
	cvt.u64.u32 %rd5, %r2;
	add.u64 %rd4, %rd4, %rd5;
	mul.wide.u32 %rd5, %r4, 256;
NEXT:
	setp.ge.u64 %p1, %rd4, %rd2;
	@%p1 ret;
	add.u64 %rd6, %rd1, %rd4;
	ld.global.u8 %r5, [%rd6];
	setp.eq.u32 %p2, %r5, %r1;
	@%p2 bra STEP;
	red.global.add.u64 [%rd3], 1;
	red.global.min.u64 [%rd3+24], %rd4;
	red.global.max.u64 [%rd3+32], %rd4;
STEP:
	add.u64 %rd4, %rd4, %rd5;
	bra NEXT;
}
`

package ptx

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kernel wraps a body in an entry with pointer parameters p0, p1, ...; they are
// in %rd0, %rd1, ... and the thread's and the block's number in %tid, %cta.
func kernel(t testing.TB, params int, body string) *Entry {
	t.Helper()
	text := ".version 8.7\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 smem[];\n.visible .entry k("
	for i := 0; i < params; i++ {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf(".param .u64 p%d", i)
	}
	text += ") {\n.reg .b64 %rd<100>; .reg .b32 %r<100>; .reg .pred %p<20>; .reg .f32 %f<20>; .reg .b32 %tid, %cta;\nmov.u32 %tid, %tid.x; mov.u32 %cta, %ctaid.x;\n"
	for i := 0; i < params; i++ {
		text += fmt.Sprintf("ld.param.u64 %%rd%d, [p%d];\n", i, i)
	}
	m, err := Parse("hand.ptx", []byte(text+body+"\n}\n"))
	require.NoError(t, err)
	return m.Entries[0]
}

// launch makes a launch with buffers apart, of known zero contents.
func handLaunch(e *Entry, blocks, threads, shared uint32, sizes ...int) *Launch {
	l := &Launch{Entry: e, Grid: [3]uint32{blocks, 1, 1}, Block: [3]uint32{threads, 1, 1}, DynamicShared: shared}
	for i, n := range sizes {
		l.Buffers = append(l.Buffers, Buffer{Size: int64(n), Contents: make([]byte, n)})
		l.Args = append(l.Args, Pointer(i))
	}
	return l
}

// addresses puts p0 + 4*(32*cta + tid) in %rd10 and p1 + the same in %rd11.
const addresses = `
mad.lo.s32 %r10, %cta, 32, %tid;
mul.wide.s32 %rd12, %r10, 4;
add.s64 %rd10, %rd0, %rd12;
add.s64 %rd11, %rd1, %rd12;
`

func TestOrderOfHandmadeKernels(t *testing.T) {
	// Each kernel reads p0 and writes p1, 32 threads a block unless said; the
	// thread that writes a byte is not the one that reads it, except in "own".
	reversed := addresses + `
xor.b32 %r11, %tid, 31;
mad.lo.s32 %r12, %cta, 32, %r11;
mul.wide.s32 %rd13, %r12, 4;
add.s64 %rd14, %rd1, %rd13;
`
	far := `
xor.b32 %r11, %tid, 63;
mad.lo.s32 %r10, %cta, 64, %tid;
mad.lo.s32 %r12, %cta, 64, %r11;
mul.wide.s32 %rd12, %r10, 4;
mul.wide.s32 %rd13, %r12, 4;
add.s64 %rd10, %rd0, %rd12;
add.s64 %rd14, %rd1, %rd13;
mov.b32 %r40, smem;
`
	cases := []struct {
		name    string
		threads uint32
		body    string
		want    Safety
	}{
		{"own", 32, addresses + "ld.global.b32 %r1, [%rd10]; st.global.b32 [%rd11], %r1; ret;", Safe},
		{"own, written first", 32, addresses + "st.global.b32 [%rd11], %tid; ld.global.b32 %r1, [%rd10]; ret;", Unsafe},
		{"other lane", 32, reversed + "ld.global.b32 %r1, [%rd10]; st.global.b32 [%rd14], %r1; ret;", Unsafe},
		{"other lane, shuffle", 32, reversed + "ld.global.b32 %r1, [%rd10]; shfl.sync.bfly.b32 %r2, %r1, 31, 31, -1; st.global.b32 [%rd14], %r2; ret;", Safe},
		{"other lane, warp barrier", 32, reversed + "ld.global.b32 %r1, [%rd10]; bar.warp.sync -1; st.global.b32 [%rd14], %r1; ret;", Safe},
		{"other lane, vote", 32, reversed + "ld.global.b32 %r1, [%rd10]; setp.ne.b32 %p1, %tid, 77; vote.sync.any.pred %p2, %p1, -1; st.global.b32 [%rd14], %r1; ret;", Safe},
		{"other lane, redux of half", 32, reversed + "ld.global.b32 %r1, [%rd10]; setp.lt.u32 %p1, %tid, 16; @!%p1 bra X; redux.sync.add.s32 %r2, %tid, 0xffff; X: st.global.b32 [%rd14], %r1; ret;", Unsafe},
		{"other lane, block barrier", 32, reversed + "ld.global.b32 %r1, [%rd10]; bar.sync 0; st.global.b32 [%rd14], %r1; ret;", Safe},
		{"other warp, shuffle", 64, far + "ld.global.b32 %r1, [%rd10]; shfl.sync.bfly.b32 %r2, %r1, 31, 31, -1; st.global.b32 [%rd14], %r2; ret;", Unsafe},
		{"other warp, block barrier", 64, far + "ld.global.b32 %r1, [%rd10]; bar.sync 0; st.global.b32 [%rd14], %r1; ret;", Safe},
		{"other warp, named barrier", 64, far + "ld.global.b32 %r1, [%rd10]; bar.sync 3, 64; st.global.b32 [%rd14], %r1; ret;", Safe},
		{"other warp, barrier before", 64, far + "bar.sync 0; ld.global.b32 %r1, [%rd10]; st.global.b32 [%rd14], %r1; ret;", Unsafe},
		{"other warp, two barriers of a warp each", 64, far + "ld.global.b32 %r1, [%rd10]; shr.u32 %r2, %tid, 5; add.u32 %r2, %r2, 1; setp.eq.u32 %p1, %r2, 1; @%p1 bar.sync 1, 32; @!%p1 bar.sync 2, 32; st.global.b32 [%rd14], %r1; ret;", Unsafe},
		{"other warp, mbarrier", 64, far + `setp.eq.b32 %p1, %tid, 0; @%p1 mbarrier.init.shared.b64 [%r40], 64; bar.sync 0;
ld.global.b32 %r1, [%rd10]; mbarrier.arrive.shared.b64 _, [%r40];
W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W;
st.global.b32 [%rd14], %r1; ret;`, Safe},
		{"other warp, arrive before reading", 64, far + `setp.eq.b32 %p1, %tid, 0; @%p1 mbarrier.init.shared.b64 [%r40], 64; bar.sync 0;
mbarrier.arrive.shared.b64 _, [%r40]; ld.global.b32 %r1, [%rd10];
W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W;
st.global.b32 [%rd14], %r1; ret;`, Unsafe},
		{"copies, waited", 32, addresses + `mov.b32 %r40, smem; mad.lo.s32 %r41, %tid, 4, %r40;
cp.async.ca.shared.global [%r41], [%rd10], 4; cp.async.commit_group; cp.async.wait_group 0; st.global.b32 [%rd11], %tid; ret;`, Safe},
		{"copies, not waited", 32, addresses + `mov.b32 %r40, smem; mad.lo.s32 %r41, %tid, 4, %r40;
cp.async.ca.shared.global [%r41], [%rd10], 4; cp.async.commit_group; cp.async.wait_group 1; st.global.b32 [%rd11], %tid; ret;`, Unsafe},
		{"copies, ended by an mbarrier", 64, far + `setp.eq.b32 %p1, %tid, 0; @%p1 mbarrier.init.shared.b64 [%r40], 64; bar.sync 0;
mad.lo.s32 %r41, %tid, 4, %r40; cp.async.ca.shared.global [%r41+64], [%rd10], 4;
cp.async.mbarrier.arrive.noinc.shared.b64 [%r40];
W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W;
st.global.b32 [%rd14], %tid; ret;`, Safe},
		{"read by nobody whose guard holds", 32, addresses + "setp.gt.u32 %p1, %tid, 99; @%p1 ld.global.b32 %r1, [%rd10+4096]; st.global.b32 [%rd11], %tid; ret;", Safe},
		{"bulk copy, waited", 32, addresses + bulkHead + "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W; st.global.b32 [%rd11], %tid; ret;", Safe},
		{"bulk copy, waited by one warp's elder lanes only", 32, addresses + bulkHead + "setp.lt.u32 %p3, %tid, 8; @%p3 bra X; W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W; X: st.global.b32 [%rd11], %tid; ret;", Unsafe},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range []Mode{Sliced, Full} {
				l := handLaunch(kernel(t, 2, c.body), 4, c.threads, 4096, 1024, 1024)
				l.Mode = mode
				o := analysed(t, l)
				require.Nil(t, o.Hang)
				v := o.InPlace(0, 1, 0)
				require.Equal(t, c.want.String(), v.Safety.String(), "%+v %+v", v, v.Witness)
				require.True(t, o.Complete)
			}
		})
	}
}

const bulkHead = `mov.b32 %r40, smem; setp.eq.b32 %p1, %tid, 0; @%p1 mbarrier.init.shared.b64 [%r40], 1; bar.sync 0;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r40], 128;
add.u32 %r41, %r40, 128;
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r41], [%rd10], 128, [%r40];
`

func TestWarpTranspose(t *testing.T) {
	// A 32 x 32 tile a warp, turned by shuffles: 32 loads, then 32 stores.
	body := "mul.wide.u32 %rd12, %cta, 4096; mul.wide.u32 %rd13, %tid, 4; add.s64 %rd10, %rd0, %rd12; add.s64 %rd10, %rd10, %rd13; add.s64 %rd11, %rd1, %rd12; mul.wide.u32 %rd14, %tid, 128; add.s64 %rd11, %rd11, %rd14;\n"
	for i := 0; i < 32; i++ {
		body += fmt.Sprintf("ld.global.b32 %%r%d, [%%rd10+%d];\n", i+20, 128*i)
	}
	body += "shfl.sync.idx.b32 %r1, %r20, 0, 31, -1;\n"
	for i := 0; i < 32; i++ {
		body += fmt.Sprintf("st.global.b32 [%%rd11+%d], %%r%d;\n", 4*i, i+20)
	}
	l := handLaunch(kernel(t, 2, body+"ret;"), 8, 32, 0, 8*4096, 8*4096)
	for i := 0; i < 8*1024; i++ {
		binary.LittleEndian.PutUint32(l.Buffers[0].Contents[4*i:], uint32(i))
	}
	o := analysed(t, l)
	assert.Equal(t, Safe, o.InPlace(0, 1, 0).Safety)
	assert.Equal(t, Unsafe, o.InPlace(0, 1, 64).Safety)
	got := full(t, l, 1)
	for b := 0; b < 8; b++ {
		for r := 0; r < 32; r++ {
			for c := 0; c < 32; c++ {
				require.Equal(t, uint32(b*1024+r*32+c), binary.LittleEndian.Uint32(got[4*(b*1024+c*32+r):]))
			}
		}
	}
}

func TestLookBackIsUnknown(t *testing.T) {
	// Block b waits for flag b-1 in p1, then sets its own.
	body := `
setp.ne.u32 %p1, %tid, 0; @%p1 bra E;
mul.wide.u32 %rd10, %cta, 4; add.s64 %rd11, %rd1, %rd10; add.s64 %rd12, %rd0, %rd10;
ld.global.b32 %r1, [%rd12];
setp.eq.u32 %p2, %cta, 0; @%p2 bra S;
W: ld.volatile.global.b32 %r2, [%rd11+-4]; setp.eq.u32 %p3, %r2, 0; @%p3 bra W;
S: st.volatile.global.b32 [%rd11], 1;
E: ret;`
	for _, weak := range []bool{false, true} {
		if weak {
			body = replaceAll(body, ".volatile", "")
		}
		for _, order := range []Order{Forward, Backward} {
			l := handLaunch(kernel(t, 2, body), 16, 32, 0, 64, 64)
			l.Order = order
			o := run(t, l)
			v := o.InPlace(0, 1, 0)
			assert.Equal(t, Unknown, v.Safety)
			assert.Contains(t, v.Reason, "line ")
			if order == Forward {
				require.NotNil(t, o.MemoryOrder, "weak %v", weak)
				assert.False(t, o.Complete)
			} else {
				assert.False(t, o.Analysed)
				assert.Contains(t, o.Reason, "waits for memory")
			}
		}
	}
}

func replaceAll(s, old, new string) string {
	for i := 0; i+len(old) <= len(s); i++ {
		if s[i:i+len(old)] == old {
			s = s[:i] + new + s[i+len(old):]
		}
	}
	return s
}

func TestMaskedPipeline(t *testing.T) {
	// Two stages; the last fetch has source size 0 at an address out of bounds.
	body := addresses + `
mov.b32 %r40, smem; mad.lo.s32 %r41, %tid, 4, %r40;
mov.b32 %r1, 0; mov.b32 %r5, 0; mov.b64 %rd20, %rd10;
cp.async.ca.shared.global [%r41], [%rd20], 4; cp.async.commit_group;
L: add.u32 %r2, %r1, 1; setp.lt.u32 %p1, %r2, 4; selp.b32 %r3, 4, 0, %p1;
add.s64 %rd20, %rd20, 1048576; 
selp.b64 %rd21, %rd10, %rd20, %p1;
and.b32 %r4, %r2, 1; shl.b32 %r4, %r4, 7; add.u32 %r4, %r4, %r41;
cp.async.ca.shared.global [%r4], [%rd21], 4, %r3; cp.async.commit_group;
cp.async.wait_group 1; bar.sync 0;
and.b32 %r6, %r1, 1; shl.b32 %r6, %r6, 7; add.u32 %r6, %r6, %r41;
ld.shared.b32 %r7, [%r6]; add.u32 %r5, %r5, %r7; bar.sync 0;
mov.b32 %r1, %r2; @%p1 bra L;
cp.async.wait_group 0; st.global.b32 [%rd11], %r5; ret;`
	for _, mode := range []Mode{Sliced, Full} {
		l := handLaunch(kernel(t, 2, body), 4, 32, 256, 512, 512)
		for i := range l.Buffers[0].Contents {
			l.Buffers[0].Contents[i] = byte(i & 3 >> 1 * i)
		}
		l.Mode = mode
		o := analysed(t, l)
		assert.Empty(t, o.OutOfBounds)
		assert.Empty(t, o.LateCopies)
		assert.Equal(t, Safe, o.InPlace(0, 1, 0).Safety)
		assert.True(t, o.Complete)
		if mode == Full {
			for i := 0; i < 128; i++ {
				x := binary.LittleEndian.Uint32(l.Buffers[0].Contents[4*i:])
				assert.Equal(t, 4*x, binary.LittleEndian.Uint32(o.Contents[1].Bytes[4*i:]))
			}
		}
	}
}

func TestZeroesADeclaredOperand(t *testing.T) {
	// Adds p0 to p1 atomically where p1 was zeroed by the launch; and a kernel that clears what it reads.
	e := kernel(t, 2, addresses+"ld.global.b32 %r1, [%rd10]; red.global.add.u32 [%rd11], %r1; ret;")
	l := handLaunch(e, 4, 32, 0, 512, 512)
	l.Args[1].Zero = 512
	o := analysed(t, l)
	v := o.InPlace(0, 1, 0)
	assert.Equal(t, Unsafe, v.Safety)
	assert.True(t, v.Witness.Zeroed)
	assert.Empty(t, o.Effects[1].ReadFirst)
	l.Args[1].Zero = 0
	o = analysed(t, l)
	assert.Equal(t, Safe, o.InPlace(0, 1, 0).Safety)
	assert.Equal(t, []Range{{0, 512}}, o.Effects[1].ReadFirst)
	l.Args[0].Zero = 512 // zeroed on the declared operand: its old contents are discarded
	o = analysed(t, l)
	assert.Equal(t, Safe, o.InPlace(0, 1, 0).Safety)
	assert.False(t, o.Effects[0].OldRead)

	e = kernel(t, 2, addresses+"ld.global.b32 %r1, [%rd10]; st.global.b32 [%rd10], 0; st.global.b32 [%rd11], %r1; ret;")
	o = analysed(t, handLaunch(e, 4, 32, 0, 512, 512))
	assert.Equal(t, Safe, o.InPlace(0, 1, 0).Safety)
	assert.Equal(t, []Range{{0, 512}}, o.Effects[0].Written)
	assert.Equal(t, []Range{{0, 512}}, o.Effects[0].ReadFirst)
}

func TestReadFirst(t *testing.T) {
	cases := []struct {
		name             string
		body             string
		first, elsewhere []Range
	}{
		{"written first", addresses + "st.global.b32 [%rd11], 1; ld.global.b32 %r1, [%rd11]; st.global.b32 [%rd10], %r1; ret;", nil, nil},
		{"read first", addresses + "ld.global.b32 %r1, [%rd11]; st.global.b32 [%rd11], %r1; ret;", []Range{{0, 512}}, nil},
		{"another lane's, after a barrier", addresses + "st.global.b32 [%rd11], 1; bar.sync 0; xor.b32 %r2, %r10, 5; mul.wide.s32 %rd15, %r2, 4; add.s64 %rd15, %rd1, %rd15; ld.global.b32 %r1, [%rd15]; st.global.b32 [%rd10], %r1; ret;", nil, nil},
		{"another block's", addresses + "st.global.b32 [%rd11], 1; xor.b32 %r2, %r10, 32; mul.wide.s32 %rd15, %r2, 4; add.s64 %rd15, %rd1, %rd15; ld.global.b32 %r1, [%rd15]; st.global.b32 [%rd10], %r1; ret;", []Range{{0, 512}}, []Range{{0, 512}}},
		{"atomic", addresses + "atom.global.add.u32 %r1, [%rd11], 1; ret;", []Range{{0, 512}}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, order := range []Order{Forward, Backward} {
				l := handLaunch(kernel(t, 2, c.body), 4, 32, 0, 512, 512)
				l.Order = order
				e := analysed(t, l).Effects[1]
				assert.Equal(t, c.first, e.ReadFirst)
				assert.Equal(t, c.elsewhere, e.Elsewhere)
			}
		})
	}
}

func TestHostile(t *testing.T) {
	cases := []struct {
		name, body string
		grid       [3]uint32
		want       string
	}{
		{"a jump to itself", "L: bra L;", [3]uint32{1, 1, 1}, ""},
		{"a counting loop without end", "mov.b32 %r1, 0; L: add.u32 %r1, %r1, 1; bra L;", [3]uint32{1, 1, 1}, ""},
		{"a counting loop that ends late", "mov.b64 %rd5, 0; L: add.u64 %rd5, %rd5, 1; setp.ne.u64 %p1, %rd5, 0; @%p1 bra L;", [3]uint32{1, 1, 1}, "steps"},
		{"2^31 blocks", "add.u32 %r1, %r1, 1; ret;", [3]uint32{1 << 31, 1, 1}, "steps"},
		{"2^96 blocks", "ret;", [3]uint32{1<<32 - 1, 1<<32 - 1, 1<<32 - 1}, "too large"},
		{"an unknown instruction", "frobnicate.b32 %r1, %r2;", [3]uint32{1, 1, 1}, "frobnicate"},
		{"stores without end", "mov.b64 %rd5, %rd0; L: st.global.b32 [%rd5], %r1; add.s64 %rd5, %rd5, 4; bra L;", [3]uint32{1, 1, 1}, "steps"},
		{"diverging without end", "L: add.u32 %r1, %r1, %tid; and.b32 %r2, %r1, 1; setp.eq.b32 %p1, %r2, 0; @%p1 bra L; add.u32 %r1, %r1, 3; bra L;", [3]uint32{1, 1, 1}, "more than"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := handLaunch(kernel(t, 2, c.body), 1, 32, 0, 1<<16, 512)
			l.Grid = c.grid
			l.Budget.Steps = 20_000_000
			l.Budget.Memory = 64 << 20
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			o, err := Run(ctx, l)
			require.NoError(t, err)
			if c.want == "" {
				require.NotNil(t, o.Hang)
				return
			}
			require.False(t, o.Analysed)
			assert.Contains(t, o.Reason, c.want)
		})
	}
}

func TestHostileLaunches(t *testing.T) {
	e := kernel(t, 1, "st.global.b32 [%rd0+-4], %r1; ret;")
	l := handLaunch(e, 1, 32, 0, 64)
	o := analysed(t, l)
	require.Len(t, o.OutOfBounds, 1)
	assert.Equal(t, int64(-4), o.OutOfBounds[0].Offset)
	wide := kernel(t, 1, "mov.b64 %rd2, 0x4000000000000000; mul.wide.u32 %rd3, %tid, 1; mul.lo.s64 %rd2, %rd2, %rd3; add.s64 %rd2, %rd2, %rd0; st.global.b32 [%rd2], %r1; ret;")
	o = analysed(t, handLaunch(wide, 1, 32, 0, 64))
	require.Len(t, o.OutOfBounds, 1)
	assert.Equal(t, int64(24), o.OutOfBounds[0].Count) // every fourth thread's offset wraps to zero
	assert.Equal(t, []Range{{0, 4}}, o.Effects[0].Written)
	wrap := kernel(t, 1, "mov.b64 %rd1, -1; sub.s64 %rd1, %rd1, 3; st.global.v4.b32 [%rd1], {%r1,%r1,%r1,%r1}; ret;")
	o = analysed(t, handLaunch(wrap, 1, 32, 0, 64))
	require.Len(t, o.OutOfBounds, 1)
	for _, bad := range []func(l *Launch){
		func(l *Launch) { l.Args[0].Buffer = 7 },
		func(l *Launch) { l.Args[0].Offset = 65 },
		func(l *Launch) { l.Args = nil },
		func(l *Launch) { l.Block = [3]uint32{1 << 20, 1 << 20, 1} },
		func(l *Launch) { l.DynamicShared = 1 << 31 },
		func(l *Launch) { l.Buffers[0].Size = -1 },
		func(l *Launch) { l.Buffers[0].Size = 1 << 60; l.Buffers[0].Contents = nil },
		func(l *Launch) { l.Cluster = [3]uint32{3, 1, 1} },
	} {
		l := handLaunch(e, 1, 32, 0, 64)
		bad(l)
		_, err := Run(context.Background(), l)
		require.Error(t, err)
	}
	m, err := Parse("r", []byte(".version 8.0\n.func f() { call f; ret; }\n.entry k() { call f; ret; }"))
	require.NoError(t, err)
	o = run(t, &Launch{Entry: m.Entries[0], Grid: [3]uint32{1, 1, 1}})
	assert.Contains(t, o.Reason, "recursion")
}

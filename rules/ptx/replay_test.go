package ptx

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"aliascheck/rules/ptx/syntax"
)

// share makes a launch's argument b point into the buffer of argument a.
func share(l *Launch, a, b int) *Launch {
	s := *l
	s.Mode = Full
	s.Args = append([]Arg{}, l.Args...)
	s.Args[b].Buffer = s.Args[a].Buffer
	return &s
}

func TestSharedReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	x, m := f32s(4*million, 1), permutation(4096, 7)
	l := launchOf(t, "sort_computed_map_ffi_auto-1.ptx", "", [3]uint32{4096, 4, 1}, 4, 0, x, m, 16<<20)
	want := full(t, l, 2)
	for _, order := range []Order{Forward, Backward, Shuffled} {
		s := share(l, 0, 2)
		s.Order, s.Seed = order, 5
		got := full(t, s, 0)
		wrong := 0
		for i := 0; i < 4*million; i++ {
			if f32at(got, i) != f32at(want, i) {
				wrong++
			}
		}
		assert.Greater(t, wrong, 4*million/4, "order %d", order)
		assert.Less(t, wrong, 4*million)
	}
	l = launchOf(t, "scale_apart.ptx", "", [3]uint32{1024, 1, 1}, 4, 0, f32s(million, 2), 4*million, int32(million))
	want = full(t, l, 1)
	for _, order := range []Order{Forward, Backward, Shuffled} {
		s := share(l, 0, 1)
		s.Order = order
		assert.Equal(t, want, full(t, s, 0))
	}
}

func TestClusters(t *testing.T) {
	// Two blocks a cluster. Each reads its half of p0, stores it to the other's
	// shared memory, and writes what it was sent to the other half of p1.
	head := `
.reg .b32 %rank, %other;
mov.u32 %rank, %cluster_ctarank; xor.b32 %other, %rank, 1;
shl.b32 %r10, %cta, 5; add.u32 %r10, %r10, %tid; xor.b32 %r11, %r10, 32;
mul.wide.u32 %rd12, %r10, 4; mul.wide.u32 %rd13, %r11, 4; add.s64 %rd10, %rd0, %rd12; add.s64 %rd11, %rd1, %rd13;
mov.b32 %r40, smem; mad.lo.s32 %r40, %tid, 4, %r40; mapa.shared::cluster.u32 %r41, %r40, %other;
ld.global.b32 %r1, [%rd10]; st.shared::cluster.b32 [%r41], %r1;
`
	tail := "ld.shared.b32 %r2, [%r40]; st.global.b32 [%rd11], %r2; ret;"
	for _, c := range []struct {
		name, sync string
		want       Safety
	}{
		{"cluster barrier", "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;", Safe},
		{"block barrier", "bar.sync 0;", Unsafe},
		{"relaxed", "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;", Unsafe},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := handLaunch(kernel(t, 2, head+c.sync+tail), 8, 32, 256, 1024, 1024)
			l.Cluster = [3]uint32{2, 1, 1}
			for i := range l.Buffers[0].Contents {
				l.Buffers[0].Contents[i] = byte(i * 7)
			}
			for _, mode := range []Mode{Sliced, Full} {
				l.Mode = mode
				o := analysed(t, l)
				require.Nil(t, o.Hang)
				assert.Equal(t, c.want, o.InPlace(0, 1, 0).Safety)
				assert.True(t, o.Complete)
			}
			if c.want == Safe { // each sends its half, and stores what it was sent back where that came from
				assert.Equal(t, l.Buffers[0].Contents, full(t, l, 1))
			}
		})
	}
}

const gatherBody = `
mad.lo.s32 %r10, %cta, 256, %tid; mul.wide.s32 %rd12, %r10, 4;
add.s64 %rd10, %rd0, %rd12; add.s64 %rd11, %rd2, %rd12;
ld.global.b32 %r1, [%rd10]; mul.wide.s32 %rd13, %r1, 4; add.s64 %rd14, %rd1, %rd13;
ld.global.b32 %r2, [%rd14]; st.global.b32 [%rd11], %r2; ret;`

func gatherLaunch(t testing.TB) *Launch { return gatherOf(t, million) }

func gatherOf(t testing.TB, n int) *Launch {
	l := handLaunch(kernel(t, 3, gatherBody), uint32(n/256), 256, 0, 4*n, 4*n, 4*n)
	l.Buffers[0].Contents = permutation(n, 9)
	l.Buffers[1].Contents = f32s(n, 9)
	return l
}

func TestGather(t *testing.T) {
	l := gatherLaunch(t)
	o := analysed(t, l)
	assert.Equal(t, []int{0}, o.AddressFrom)
	assert.Equal(t, Unsafe, o.InPlace(1, 2, 0).Safety)
	assert.Equal(t, Safe, o.InPlace(0, 2, 0).Safety)
	assert.Equal(t, []Range{{0, 4 * million}}, o.Effects[1].Read)
	got := full(t, l, 2)
	for i := 0; i < million; i++ {
		k := int(binary.LittleEndian.Uint32(l.Buffers[0].Contents[4*i:]))
		if f32at(got, i) != f32at(l.Buffers[1].Contents, k) {
			require.Equal(t, f32at(l.Buffers[1].Contents, k), f32at(got, i), "element %d", i)
		}
	}
	l.Mode, l.Buffers[0].Contents = Sliced, nil
	o = run(t, l)
	assert.False(t, o.Analysed)
	assert.Contains(t, o.Reason, "contents of buffer 0 are not known")
}

func TestSampledBlocks(t *testing.T) {
	l := launchOf(t, "scale_apart.ptx", "", [3]uint32{1024, 1, 1}, 4, 0, 4*million, 4*million, int32(million))
	l.SampleBlocks = 16
	o := analysed(t, l)
	assert.True(t, o.Sampled)
	assert.False(t, o.Complete)
	assert.Equal(t, int64(16), o.Stats.Blocks)
	assert.Len(t, o.Effects[0].Read, 16)
}

func TestFunctionsAndTables(t *testing.T) {
	m, err := syntax.Parse("f", []byte(`.version 8.0
.target sm_90
.address_size 64
.global .align 8 .u32 lut[4] = {3, 5, 7, 11};
.func (.param .b32 out) twice(.param .b32 in, .param .b64 p) {
  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;
  ld.param.u32 %r1, [in]; ld.param.u64 %rd1, [p];
  setp.gt.u32 %p1, %r1, 5; @%p1 bra BIG;
  add.u32 %r2, %r1, %r1; st.param.b32 [out], %r2; ret;
BIG: ld.global.u32 %r3, [%rd1+4]; mul.lo.u32 %r2, %r1, %r3; st.param.b32 [out], %r2; ret;
}
.entry k(.param .u64 q) {
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .local .align 4 .b8 frame[16];
  mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [q];
  mov.u64 %rd2, lut; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd2, %rd3; 
  { .param .b32 a; .param .b64 b; .param .b32 r;
    st.param.b32 [a], %r1; st.param.b64 [b], %rd2;
    call (r), twice, (a, b);
    ld.param.b32 %r2, [r]; }
  and.b32 %r3, %r1, 3; 
  ts: .branchtargets A, B, C, D;
  brx.idx %r3, ts;
A: mov.u32 %r4, 100; bra E;
B: mov.u32 %r4, 200; bra E;
C: mov.u32 %r4, 300; bra E;
D: mov.u32 %r4, 400;
E: add.u32 %r2, %r2, %r4;
  mov.u64 %rd4, frame; mul.wide.u32 %rd7, %r3, 4; add.s64 %rd4, %rd4, %rd7; st.local.u32 [%rd4], %r2; cvta.local.u64 %rd5, %rd4; ld.u32 %r5, [%rd5];
  mul.wide.u32 %rd6, %r1, 4; add.s64 %rd6, %rd1, %rd6; st.global.u32 [%rd6], %r5; ret;
}`))
	require.NoError(t, err)
	l := handLaunch(m.Entries[0], 1, 32, 0, 128)
	l.Block[0] = 32
	got := full(t, l, 0)
	for i := uint32(0); i < 32; i++ {
		want := 2 * i
		if i > 5 {
			want = 5 * i
		}
		assert.Equal(t, want+100*(i&3+1), binary.LittleEndian.Uint32(got[4*i:]), "thread %d", i)
	}
	assert.True(t, analysed(t, l).Complete)
}

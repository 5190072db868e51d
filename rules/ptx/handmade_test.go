package ptx

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"aliascheck/rules/ptx/syntax"
)

// kernel wraps a body in an entry with pointer parameters p0, p1, ...; they are
// in %rd0, %rd1, ... and the thread's and the block's number in %tid, %cta.
func kernel(t testing.TB, params int, body string) *syntax.Entry {
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
	m, err := syntax.Parse("hand.ptx", []byte(text+body+"\n}\n"))
	require.NoError(t, err)
	return m.Entries[0]
}

// launch makes a launch with buffers apart, of known zero contents.
func handLaunch(e *syntax.Entry, blocks, threads, shared uint32, sizes ...int) *Launch {
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

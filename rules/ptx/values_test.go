package ptx

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// full runs a launch the full way and gives a buffer's contents, which must be known.
func full(t testing.TB, l *Launch, buffer int) []byte {
	t.Helper()
	l.Mode = Full
	o := analysed(t, l)
	require.Empty(t, o.Contents[buffer].Opaque)
	return o.Contents[buffer].Bytes
}

func TestSortValues(t *testing.T) {
	x, m := f32s(4*million, 1), permutation(4096, 7)
	l := launchOf(t, "sort_computed_map_ffi_auto-1.ptx", "", [3]uint32{4096, 4, 1}, 4, 0, x, m, 16<<20)
	got := full(t, l, 2)
	for r := 0; r < 4096; r++ {
		from := int(binary.LittleEndian.Uint32(m[4*r:]))
		require.Equal(t, x[4096*from:4096*from+4096], got[4096*r:4096*r+4096], "row %d", r)
	}
}

func TestElementwiseValues(t *testing.T) {
	x, y := f32s(million, 1), f32s(million, 2)
	g := [3]uint32{1024, 1, 1}
	n := int32(million)
	at := func(b []byte, i int) float32 {
		if i < 0 || i >= million {
			return 0
		}
		return f32at(b, i)
	}
	cases := []struct {
		file string
		args []any
		out  int
		want func(i int) float32
	}{
		{"scale_apart.ptx", []any{x, 4 * million, n}, 1, func(i int) float32 { return at(x, i) * 3 }},
		{"reverse_apart.ptx", []any{x, 4 * million, n}, 1, func(i int) float32 { return at(x, million-1-i) }},
		{"axpby_inplace.ptx", []any{x, y, 4 * million, n}, 2, func(i int) float32 {
			return fma32(at(x, i), 2, at(y, i)*3)
		}},
		{"stencil_inplace.ptx", []any{x, 4 * million, n}, 1, func(i int) float32 { return at(x, i-1) + at(x, i) + at(x, i+1) }},
		{"operand_written.ptx", []any{x, 4 * million, n}, 1, func(i int) float32 { return at(x, i) * 2 }},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			got := full(t, launchOf(t, c.file, "", g, 4, 0, c.args...), c.out)
			for i := 0; i < million; i++ {
				if w := c.want(i); w != f32at(got, i) {
					require.Equal(t, w, f32at(got, i), "element %d", i)
				}
			}
		})
	}
}

func TestSoftmaxValues(t *testing.T) {
	const rows, cols = 64, 1024
	x := f32s(rows*cols, 3)
	got := full(t, launchOf(t, "softmax_inplace.ptx", "", [3]uint32{rows, 1, 1}, 4, 16, x, 4*rows*cols), 1)
	for r := 0; r < rows; r++ {
		top, sum := math.Inf(-1), 0.0
		for c := 0; c < cols; c++ {
			top = max(top, float64(f32at(x, r*cols+c)))
		}
		for c := 0; c < cols; c++ {
			sum += math.Exp(float64(f32at(x, r*cols+c)) - top)
		}
		for c := 0; c < cols; c++ {
			want := math.Exp(float64(f32at(x, r*cols+c))-top) / sum
			assert.InEpsilon(t, want, float64(f32at(got, r*cols+c)), 4e-6)
		}
	}
}

func TestTransposeValues(t *testing.T) {
	x := f32s(4*million, 4)
	got := full(t, launchOf(t, "transpose_apart.ptx", "", [3]uint32{64, 16, 1}, 4, 16384, x, 16<<20), 1)
	for r := 0; r < 4096; r++ {
		for c := 0; c < 1024; c++ {
			if f32at(x, r*1024+c) != f32at(got, c*4096+r) {
				require.Equal(t, f32at(x, r*1024+c), f32at(got, c*4096+r), "row %d column %d", r, c)
			}
		}
	}
}

func TestHistogramValues(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	ids := make([]byte, 4*million)
	want := make([]uint32, 512)
	r := rand.New(rand.NewPCG(5, 5))
	for i := 0; i < million; i++ {
		k := r.Uint32N(512)
		want[k]++
		binary.LittleEndian.PutUint32(ids[4*i:], k)
	}
	l := launchOf(t, "histogram.ptx", "", [3]uint32{1024, 1, 1}, 4, 8192, ids, zeroed(2048), int32(million))
	got := full(t, l, 1)
	for k, w := range want {
		require.Equal(t, w, binary.LittleEndian.Uint32(got[4*k:]), "bin %d", k)
	}
	for _, mode := range []Mode{Sliced, Full} {
		l.Mode = mode
		o := analysed(t, l)
		assert.Equal(t, []int{0}, o.AddressFrom)
		assert.False(t, o.Complete)
		e := o.Effects[1]
		assert.Equal(t, []Range{{0, 2048}}, e.Atomic)
		assert.Equal(t, []Range{{0, 2048}}, e.Zeroed)
		assert.Empty(t, e.ReadFirst)
		assert.False(t, e.OldRead)
		assert.Nil(t, o.MemoryOrder)
		assert.Equal(t, []Range{{0, 4 * million}}, o.Effects[0].Read)
	}
}

func TestTMAValues(t *testing.T) {
	x := f32s(2*million, 6)
	l := launchOf(t, "tma_copy.ptx", "", [3]uint32{64, 16, 1}, 4, 8200, x, 8*million, scratch(64*16*256))
	got := full(t, l, 1)
	require.Equal(t, x, got)
	o := analysed(t, l)
	require.Len(t, o.Descriptors, 2)
	d := o.Descriptors[0]
	assert.Equal(t, 0, d.Buffer)
	assert.Equal(t, [5]uint64{1024, 4096}, d.GlobalDim)
	assert.Equal(t, [4]uint64{2048}, d.GlobalStride)
	assert.Equal(t, [5]uint32{64, 64}, d.BoxDim)
	assert.Equal(t, uint32(6), d.ElemType)
	assert.Equal(t, uint32(3), d.Swizzle)
	assert.Equal(t, 152, d.Line)
	assert.Equal(t, 1, o.Descriptors[1].Buffer)
}

func TestOperandWritten(t *testing.T) {
	o := analysed(t, launchOf(t, "operand_written.ptx", "", [3]uint32{1024, 1, 1}, 4, 0, 4*million, 4*million, int32(million)))
	e := o.Effects[0]
	assert.Equal(t, []Range{{0, 4 * million}}, e.Written)
	assert.Equal(t, 127, e.WrittenBy.Line)
	assert.True(t, e.OldRead)
	assert.True(t, e.Reaches)
	assert.Equal(t, []Range{{0, 4 * million}}, e.ReadFirst)
	assert.Empty(t, e.Elsewhere)
	assert.Empty(t, o.Effects[1].ReadFirst)
}

func TestLateCopy(t *testing.T) {
	for _, mode := range []Mode{Sliced, Full} {
		l := launchOf(t, "nvcc.ptx", "late_copy_kernel", [3]uint32{128, 1, 1}, 8, 8192, f32s(million, 1), million/2)
		l.Mode = mode
		o := analysed(t, l)
		require.NotEmpty(t, o.LateCopies)
		for _, c := range o.LateCopies {
			t.Logf("%+v", c)
		}
		assert.True(t, o.LateCopies[0].Write)
		assert.Equal(t, "st.shared.v4.f32", o.LateCopies[0].Use.Instruction)
		assert.True(t, o.Complete)
	}
}

func TestLostPhase(t *testing.T) {
	for _, mode := range []Mode{Sliced, Full} {
		l := launchOf(t, "nvcc.ptx", "lost_phase_kernel", [3]uint32{4096, 1, 1}, 8, 0, f32s(million, 1), 4*million)
		l.Mode = mode
		o := analysed(t, l)
		require.NotNil(t, o.Hang)
		assert.Equal(t, [3]uint32{3, 0, 0}, o.Hang.Block)
		assert.Equal(t, "mbarrier.test_wait.parity.shared.b64", o.Hang.Instruction)
		assert.Equal(t, 256, o.Hang.Waiting)
		assert.False(t, o.Complete)
		l.Grid = [3]uint32{3, 1, 1}
		o = analysed(t, l)
		assert.Nil(t, o.Hang)
		assert.Equal(t, Safe, o.InPlace(0, 1, 0).Safety)
	}
}

func TestStrayRead(t *testing.T) {
	for _, mode := range []Mode{Sliced, Full} {
		l := launchOf(t, "nvcc.ptx", "stray_read_kernel", [3]uint32{4096, 1, 1}, 8, 0, f32s(million, 1), 4*million)
		l.Mode = mode
		o := analysed(t, l)
		require.Len(t, o.OutOfBounds, 1)
		s := o.OutOfBounds[0]
		assert.Equal(t, 0, s.Nearest)
		assert.Equal(t, int64(1)<<36, s.Offset)
		assert.Equal(t, int64(million), s.Count)
		assert.Equal(t, "ld.global.f32", s.Instruction)
		assert.True(t, o.Effects[0].Untouched())
	}
}

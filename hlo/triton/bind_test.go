package triton

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBind(t *testing.T) {
	array := Param{Kind: Array}
	number := Param{Kind: Scalar, Type: "i32", Size: 4, Bits: 7}
	arg := func(s Source, param, buffer, size int, bits uint64) Argument {
		return Argument{s, param, buffer, size, bits}
	}
	for _, tt := range []struct {
		name    string
		params  []Param
		entry   []int
		buffers int
		scratch uint32
		want    Binding
		err     string
	}{
		{name: "older jaxlib: nothing follows", params: []Param{array, number, array}, entry: []int{8, 4, 8}, buffers: 2,
			want: Binding{Arguments: []Argument{arg(FromBuffer, 0, 0, 8, 0), arg(FromValue, 1, -1, 4, 7), arg(FromBuffer, 2, 1, 8, 0)}}},
		{name: "scratch and profiler, null", params: []Param{array}, entry: []int{8, 8, 8}, buffers: 1,
			want: Binding{Arguments: []Argument{arg(FromBuffer, 0, 0, 8, 0), arg(FromScratch, -1, -1, 8, 0), arg(FromProfiler, -1, -1, 8, 0)}}},
		{name: "scratch", params: []Param{array}, entry: []int{8, 8}, buffers: 1, scratch: 256,
			want: Binding{Arguments: []Argument{arg(FromBuffer, 0, 0, 8, 0), arg(FromScratch, -1, -1, 8, 0)}, ScratchBytes: 256 * 4 * 2}},
		{name: "a declared result without a pointer", params: []Param{array}, entry: []int{8}, buffers: 2,
			want: Binding{Arguments: []Argument{arg(FromBuffer, 0, 0, 8, 0)}}},
		{name: "a descriptor takes the next buffer", params: []Param{array, {Kind: Descriptor}, array}, entry: []int{8, 128, 8}, buffers: 3,
			want: Binding{Arguments: []Argument{arg(FromBuffer, 0, 0, 8, 0), arg(FromDescriptor, 1, 1, 128, 0), arg(FromBuffer, 2, 2, 8, 0)}}},
		{name: "more pointers than buffers", params: []Param{array, array}, entry: []int{8, 8}, buffers: 1, err: "2 pointers for 1 buffers"},
		{name: "entry too short", params: []Param{array, array}, entry: []int{8}, buffers: 2, err: "2 parameters for an entry of 1"},
		{name: "entry too long", params: []Param{array}, entry: []int{8, 8, 8, 8}, buffers: 1, err: "1 parameters for an entry of 4"},
		{name: "no pointer follows", params: []Param{array}, entry: []int{8, 4}, buffers: 1, err: "the entry's parameter 1 has 4 bytes"},
		{name: "sizes differ", params: []Param{number}, entry: []int{8}, err: "parameter 0 has 4 bytes, the entry's 8"},
		{name: "unknown kind", params: []Param{{Kind: Other, Type: "field 12"}}, entry: []int{8}, err: "parameter 0 is of an unknown kind: field 12"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := Kernel{Name: "k", Params: tt.params, Warps: 4, Grid: [3]uint32{4, 1, 1}, NumCTAs: 2, ScratchSize: tt.scratch}
			got, err := k.Bind(tt.entry, tt.buffers)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestGeometry(t *testing.T) {
	for _, tt := range []struct {
		name string
		k    Kernel
		want Geometry
		err  string
	}{
		{"plain", Kernel{Warps: 8, Grid: [3]uint32{4096, 4, 2}},
			Geometry{[3]uint32{4096, 4, 2}, [3]uint32{256, 1, 1}, [3]uint32{1, 1, 1}, 32768, 256}, ""},
		{"clusters", Kernel{Warps: 1, NumCTAs: 4, Grid: [3]uint32{3, 1, 1}},
			Geometry{[3]uint32{12, 1, 1}, [3]uint32{32, 1, 1}, [3]uint32{4, 1, 1}, 12, 32}, ""},
		{"older clusters", Kernel{Warps: 1, ClusterDims: [3]uint32{1, 2, 1}, Grid: [3]uint32{3, 5, 1}},
			Geometry{[3]uint32{3, 10, 1}, [3]uint32{32, 1, 1}, [3]uint32{1, 2, 1}, 30, 32}, ""},
		{name: "no block", k: Kernel{Warps: 1, Grid: [3]uint32{0, 1, 1}}, err: "1 to 2147483647 blocks along x"},
		{name: "too tall", k: Kernel{Warps: 1, Grid: [3]uint32{1, 65536, 1}}, err: "1 to 65535 blocks along y"},
		{name: "too wide by its clusters", k: Kernel{Warps: 1, NumCTAs: 2, Grid: [3]uint32{1 << 30, 1, 1}}, err: "blocks along x"},
		{name: "too many warps", k: Kernel{Warps: 33, Grid: [3]uint32{1, 1, 1}}, err: "33 warps"},
		{name: "no warps", k: Kernel{Grid: [3]uint32{1, 1, 1}}, err: "0 warps"},
		{name: "huge cluster", k: Kernel{Warps: 1, ClusterDims: [3]uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32}, Grid: [3]uint32{1, 1, 1}}, err: "a cluster of"},
		{name: "half a cluster", k: Kernel{Warps: 1, ClusterDims: [3]uint32{2, 0, 0}, Grid: [3]uint32{1, 1, 1}}, err: "a cluster of"},
		{name: "all limits at once", k: Kernel{Warps: 1, Grid: [3]uint32{math.MaxInt32, 65535, 65535}},
			want: Geometry{[3]uint32{math.MaxInt32, 65535, 65535}, [3]uint32{32, 1, 1}, [3]uint32{1, 1, 1}, math.MaxInt32 * 65535 * 65535, 32}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.k.Geometry()
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

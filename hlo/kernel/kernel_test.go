package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBind(t *testing.T) {
	pointer := func(n int) Param { return Param{Kind: Pointer, Buffer: n} }
	number := Param{Kind: Scalar, Type: "i32", Size: 4, Bits: 7}
	scratch := Param{Kind: Scratch, Bytes: 2048, Optional: true}
	profiler := Param{Kind: Null, Optional: true}
	maps := func(buffers ...int) Param {
		p := Param{Kind: TensorMaps}
		for _, n := range buffers {
			p.Maps = append(p.Maps, TensorMap{Buffer: n})
		}
		return p
	}
	for _, tt := range []struct {
		name    string
		params  []Param
		entry   []int
		buffers int
		want    int // how many of the parameters the entry has
		err     string
	}{
		{name: "older jaxlib: nothing follows", params: []Param{pointer(0), number, pointer(1), scratch, profiler}, entry: []int{8, 4, 8}, buffers: 2, want: 3},
		{name: "scratch and profiler", params: []Param{pointer(0), scratch, profiler}, entry: []int{8, 8, 8}, buffers: 1, want: 3},
		{name: "scratch", params: []Param{pointer(0), scratch, profiler}, entry: []int{8, 8}, buffers: 1, want: 2},
		{name: "a declared result without a pointer", params: []Param{pointer(0)}, entry: []int{8}, buffers: 2, want: 1},
		{name: "a descriptor", params: []Param{pointer(0), maps(1), pointer(2)}, entry: []int{8, 128, 8}, buffers: 3, want: 3},
		{name: "three descriptors in one parameter", params: []Param{pointer(0), maps(1, 0, 2)}, entry: []int{8, 384}, buffers: 3, want: 2},
		{name: "a descriptor too few", params: []Param{maps(1, 0)}, entry: []int{384}, buffers: 3, err: "parameter 0 has 256 bytes, the entry's 384"},
		{name: "a descriptor of nothing", params: []Param{maps(3)}, entry: []int{128}, buffers: 3, err: "4 pointers for 3 buffers"},
		{name: "more pointers than buffers", params: []Param{pointer(0), pointer(1)}, entry: []int{8, 8}, buffers: 1, err: "2 pointers for 1 buffers"},
		{name: "a pointer to nothing", params: []Param{pointer(-1)}, entry: []int{8}, buffers: 1, err: "parameter 0 names buffer -1"},
		{name: "a map of nothing", params: []Param{maps(0, -7)}, entry: []int{256}, buffers: 1, err: "parameter 0 names buffer -7"},
		{name: "entry too short", params: []Param{pointer(0), pointer(1), scratch}, entry: []int{8}, buffers: 2, err: "2 parameters for an entry of 1"},
		{name: "entry too long", params: []Param{pointer(0), scratch, profiler}, entry: []int{8, 8, 8, 8}, buffers: 1, err: "1 parameters for an entry of 4"},
		{name: "no pointer follows", params: []Param{pointer(0), scratch}, entry: []int{8, 4}, buffers: 1, err: "the entry's parameter 1 has 4 bytes"},
		{name: "sizes differ", params: []Param{number}, entry: []int{8}, err: "parameter 0 has 4 bytes, the entry's 8"},
		{name: "unknown kind", params: []Param{{Kind: Other, Type: "field 12"}}, entry: []int{8}, err: "parameter 0 is of an unknown kind: field 12"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Configuration{Entry: "k", Params: tt.params}
			got, err := c.Bind(tt.entry, tt.buffers)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.params[:tt.want], got)
		})
	}
}

func TestTakes(t *testing.T) {
	c := Configuration{Params: []Param{
		{Kind: Pointer, Buffer: 1}, {Kind: Scalar, Size: 4}, {Kind: TensorMaps, Maps: []TensorMap{{Buffer: 4}, {Buffer: 2}}},
		{Kind: Other, Buffer: 5}, {Kind: Scratch, Optional: true},
	}}
	for n, want := range []bool{false, true, true, false, true, true} {
		assert.Equal(t, want, c.Takes(n), "buffer %d", n)
	}
}

func TestGeometry(t *testing.T) {
	one := [3]uint32{1, 1, 1}
	for _, tt := range []struct {
		name string
		c    Configuration
		want Geometry
		err  string
	}{
		{"plain", Configuration{Grid: [3]uint32{4096, 4, 2}, Block: [3]uint32{16, 8, 2}},
			Geometry{[3]uint32{4096, 4, 2}, [3]uint32{16, 8, 2}, one, 32768, 256}, ""},
		{"clusters", Configuration{Grid: [3]uint32{12, 2, 1}, Block: one, Cluster: [3]uint32{4, 2, 1}},
			Geometry{[3]uint32{12, 2, 1}, one, [3]uint32{4, 2, 1}, 24, 1}, ""},
		{"all limits at once", Configuration{Grid: [3]uint32{math.MaxInt32, 65535, 65535}, Block: [3]uint32{1024, 1, 1}},
			Geometry{[3]uint32{math.MaxInt32, 65535, 65535}, [3]uint32{1024, 1, 1}, one, math.MaxInt32 * 65535 * 65535, 1024}, ""},
		{name: "its decoder says why not", c: Configuration{Problem: "its PTX is lost"}, err: "its PTX is lost"},
		{name: "no block", c: Configuration{Block: one, Grid: [3]uint32{0, 1, 1}}, err: "1 to 2147483647 blocks along x"},
		{name: "too tall", c: Configuration{Block: one, Grid: [3]uint32{1, 65536, 1}}, err: "1 to 65535 blocks along y"},
		{name: "broken clusters", c: Configuration{Block: one, Grid: [3]uint32{6, 1, 1}, Cluster: [3]uint32{4, 1, 1}}, err: "in whole clusters"},
		{name: "half a cluster", c: Configuration{Block: one, Grid: one, Cluster: [3]uint32{2, 0, 0}}, err: "a cluster of"},
		{name: "huge cluster", c: Configuration{Block: one, Grid: one, Cluster: [3]uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32}}, err: "a cluster of"},
		{name: "no threads", c: Configuration{Grid: one}, err: "0 threads along x"},
		{name: "too many threads", c: Configuration{Grid: one, Block: [3]uint32{64, 32, 1}}, err: "1 to 1024 threads in a block"},
		{name: "far too many threads", c: Configuration{Grid: one, Block: [3]uint32{math.MaxUint32, math.MaxUint32, 2}}, err: "threads along x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.c.Geometry()
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

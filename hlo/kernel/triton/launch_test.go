package triton

import (
	"math"
	"testing"

	"aliascheck/hlo/kernel"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLaunchShape(t *testing.T) {
	for _, tt := range []struct {
		name string
		l    launch
		want kernel.Geometry
		err  string
	}{
		{"plain", launch{warps: 8, grid: [3]uint32{4096, 4, 2}},
			kernel.Geometry{Grid: [3]uint32{4096, 4, 2}, Block: [3]uint32{256, 1, 1}, Cluster: [3]uint32{1, 1, 1}, Blocks: 32768, Threads: 256}, ""},
		{"clusters", launch{warps: 1, clusterBlocks: 4, grid: [3]uint32{3, 1, 1}},
			kernel.Geometry{Grid: [3]uint32{12, 1, 1}, Block: [3]uint32{32, 1, 1}, Cluster: [3]uint32{4, 1, 1}, Blocks: 12, Threads: 32}, ""},
		{"older clusters", launch{warps: 1, cluster: [3]uint32{1, 2, 1}, grid: [3]uint32{3, 5, 1}},
			kernel.Geometry{Grid: [3]uint32{3, 10, 1}, Block: [3]uint32{32, 1, 1}, Cluster: [3]uint32{1, 2, 1}, Blocks: 30, Threads: 32}, ""},
		{name: "no block", l: launch{warps: 1, grid: [3]uint32{0, 1, 1}}, err: "1 to 2147483647 blocks along x"},
		{name: "too tall", l: launch{warps: 1, grid: [3]uint32{1, 65536, 1}}, err: "1 to 65535 blocks along y"},
		{name: "too wide by its clusters", l: launch{warps: 1, clusterBlocks: 2, grid: [3]uint32{1 << 30, 1, 1}}, err: "blocks along x"},
		{name: "too many warps", l: launch{warps: 33, grid: [3]uint32{1, 1, 1}}, err: "33 warps"},
		{name: "no warps", l: launch{grid: [3]uint32{1, 1, 1}}, err: "0 warps"},
		{name: "huge cluster", l: launch{warps: 1, cluster: [3]uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32}, grid: [3]uint32{1, 1, 1}}, err: "a cluster of"},
		{name: "half a cluster", l: launch{warps: 1, cluster: [3]uint32{2, 0, 0}, grid: [3]uint32{1, 1, 1}}, err: "a cluster of"},
		{name: "scratch without end", l: launch{warps: 1, grid: [3]uint32{math.MaxInt32, 65535, 65535}, scratch: 8}, err: "global scratch of 8 bytes"},
		{name: "all limits at once", l: launch{warps: 1, grid: [3]uint32{math.MaxInt32, 65535, 65535}},
			want: kernel.Geometry{Grid: [3]uint32{math.MaxInt32, 65535, 65535}, Block: [3]uint32{32, 1, 1}, Cluster: [3]uint32{1, 1, 1}, Blocks: math.MaxInt32 * 65535 * 65535, Threads: 32}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c kernel.Configuration
			_, err := tt.l.shape(&c)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			got, err := c.Geometry()
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

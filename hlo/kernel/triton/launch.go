package triton

import (
	"fmt"
	"math"

	"aliascheck/hlo/kernel"
)

// launch are the numbers that jaxlib makes a launch of.
type launch struct {
	warps         uint32
	clusterBlocks uint32    // blocks of a cluster, along x (num_ctas)
	cluster       [3]uint32 // older jaxlib's clusters; zeros where absent
	grid          [3]uint32 // clusters in x, y, z
	scratch       uint32    // global scratch of one block, bytes
}

const (
	maxWarps = 32
	warpSize = 32
)

// shape gives a configuration the grid, blocks and clusters of its launch as jaxlib makes
// it: blocks of 32 threads a warp, and a grid of clusters. It returns the number of
// blocks, and fails where the driver would refuse the numbers; what cannot be told is
// then left at zero.
func (l *launch) shape(c *kernel.Configuration) (blocks int64, err error) {
	cluster := [3]uint32{1, 1, 1}
	switch {
	case l.clusterBlocks > 1:
		cluster[0] = l.clusterBlocks
	case l.cluster != [3]uint32{}:
		cluster = l.cluster
	}
	if err := kernel.CheckCluster(cluster); err != nil {
		return 0, err
	}
	if l.warps == 0 || l.warps > maxWarps {
		return 0, fmt.Errorf("%d warps; CUDA allows 1 to %d", l.warps, maxWarps)
	}
	var grid [3]uint32
	blocks = 1
	for i, limit := range kernel.GridLimits() {
		n := uint64(l.grid[i]) * uint64(cluster[i])
		if n == 0 || n > limit {
			return 0, fmt.Errorf("grid %v with clusters of %v; CUDA allows 1 to %d blocks along %c", l.grid, cluster, limit, "xyz"[i])
		}
		grid[i] = uint32(n)
		blocks *= int64(n) // below 2^63: the limits are 31, 16 and 16 bits
	}
	if l.scratch > 0 && blocks > math.MaxInt64/int64(l.scratch) {
		return 0, fmt.Errorf("global scratch of %d bytes for each of %d blocks", l.scratch, blocks)
	}
	c.Grid, c.Block, c.Cluster = grid, [3]uint32{warpSize * l.warps, 1, 1}, cluster
	return blocks, nil
}

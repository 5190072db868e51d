package kernel

import (
	"errors"
	"fmt"
	"math"
)

// Geometry is a launch's shape, checked against CUDA's limits.
type Geometry struct {
	Grid    [3]uint32 // blocks
	Block   [3]uint32 // threads
	Cluster [3]uint32 // blocks of a cluster; {1,1,1} without
	Blocks  int64
	Threads int64 // of a block
}

// CUDA's limits: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
const (
	maxGridX   = math.MaxInt32
	maxGridYZ  = 65535
	maxThreads = 1024
	maxCluster = 16 // 8 is portable, 16 an opt-in
)

// Geometry gives the launch's shape. It fails with the configuration's Problem, and
// where the driver would refuse the numbers.
func (c *Configuration) Geometry() (Geometry, error) {
	if c.Problem != "" {
		return Geometry{}, errors.New(c.Problem)
	}
	g := Geometry{Grid: c.Grid, Block: c.Block, Cluster: c.Cluster, Blocks: 1, Threads: 1}
	if g.Cluster == [3]uint32{} {
		g.Cluster = [3]uint32{1, 1, 1}
	}
	for i, n := range g.Block {
		if n == 0 || n > maxThreads {
			return Geometry{}, fmt.Errorf("kernel %s: %d threads along %c; CUDA allows 1 to %d in a block", c.Entry, n, "xyz"[i], maxThreads)
		}
		g.Threads *= int64(n)
	}
	if g.Threads > maxThreads {
		return Geometry{}, fmt.Errorf("kernel %s: blocks of %v; CUDA allows 1 to %d threads in a block", c.Entry, g.Block, maxThreads)
	}
	if err := CheckCluster(g.Cluster); err != nil {
		return Geometry{}, fmt.Errorf("kernel %s: %w", c.Entry, err)
	}
	for i, limit := range GridLimits() {
		n := g.Grid[i]
		if n == 0 || uint64(n) > limit || n%g.Cluster[i] != 0 {
			return Geometry{}, fmt.Errorf("kernel %s: grid %v with clusters of %v; CUDA allows 1 to %d blocks along %c, in whole clusters",
				c.Entry, g.Grid, g.Cluster, limit, "xyz"[i])
		}
		g.Blocks *= int64(n) // below 2^63: the limits are 31, 16 and 16 bits
	}
	return g, nil
}

// GridLimits are the most blocks of a grid along x, y and z.
func GridLimits() [3]uint64 { return [3]uint64{maxGridX, maxGridYZ, maxGridYZ} }

// CheckCluster says what is wrong with a cluster of so many blocks along x, y and z.
func CheckCluster(c [3]uint32) error {
	if n := uint64(c[0]) * uint64(c[1]); n == 0 || n > maxCluster || c[2] == 0 || n*uint64(c[2]) > maxCluster {
		return fmt.Errorf("a cluster of %v blocks; CUDA allows 1 to %d", c, maxCluster)
	}
	return nil
}

package alias

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTreeAgainstAList adds, removes and looks up at random, and holds the tree to a list.
func TestTreeAgainstAList(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		var tr tree
		const values = 60
		tr.reset(2, values, rnd.Uint32()|1)
		type slice struct{ begin, end int64 }
		alive := map[int32]slice{}
		for range 400 {
			v := int32(rnd.IntN(values))
			if _, in := alive[v]; in {
				tr.remove(v%2, v)
				delete(alive, v)
				continue
			}
			begin := rnd.Int64N(100)
			s := slice{begin, begin + 1 + rnd.Int64N(20)}
			var want []int32
			for u, o := range alive {
				if u%2 == v%2 && o.begin < s.end && s.begin < o.end {
					want = append(want, u)
				}
			}
			got := tr.meet(nil, v%2, s.begin, s.end)
			slices.Sort(want)
			slices.Sort(got)
			require.Equal(t, want, got, "seed %d", seed)
			tr.add(v%2, v, s.begin, s.end)
			alive[v] = s
		}
	}
}

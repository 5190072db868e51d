package alias

import (
	"math/rand/v2"
	"testing"

	"aliascheck/hlo"

	"github.com/stretchr/testify/require"
)

// TestSweep: walking the leaves finds what comparing each with each does.
func TestSweep(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	leaves := func() []Leaf {
		out := make([]Leaf, rnd.IntN(10))
		for i := range out {
			a := int32(rnd.IntN(3)) - 1
			out[i] = Leaf{Allocation: a, Slice: hlo.Slice{Allocation: int64(a), Offset: int64(rnd.IntN(12)), Size: int64(rnd.IntN(6))}}
		}
		return out
	}
	found := 0
	for range 2000 {
		c := &Call{Operands: leaves(), Results: leaves()}
		var walked, compared sweep
		walked.all(c)
		compared.each(c)
		found += len(compared.out.OperandResult) + len(compared.out.ResultResult)
		require.Equal(t, compared.out, walked.out)
	}
	require.NotZero(t, found)
}

package replay

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/kernel"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		name   string
		slices []hlo.Slice
		want   []Place
	}{
		{"apart", []hlo.Slice{{Allocation: 0, Offset: 0, Size: 8}, {Allocation: 1, Offset: 0, Size: 8}, {Allocation: 0, Offset: 8, Size: 8}}, []Place{{0, 0}, {2, 0}, {1, 8}}},
		{"same", []hlo.Slice{{Allocation: 0, Offset: 512, Size: 8}, {Allocation: 0, Offset: 512, Size: 8}}, []Place{{0, 0}, {0, 0}}},
		{"a chain", []hlo.Slice{{Allocation: 0, Offset: 1024, Size: 300}, {Allocation: 0, Offset: 1536, Size: 8}, {Allocation: 0, Offset: 1300, Size: 300}}, []Place{{0, 0}, {0, 512}, {0, 276}}},
		{"inside", []hlo.Slice{{Allocation: 3, Offset: 0, Size: 4096}, {Allocation: 3, Offset: 256, Size: 8}, {Allocation: 3, Offset: 300, Size: 8}}, []Place{{0, 0}, {0, 256}, {0, 300}}},
		{"alignment is kept", []hlo.Slice{{Allocation: 0, Offset: 260, Size: 8}}, []Place{{0, 4}}},
		{"empty overlaps nothing", []hlo.Slice{{Allocation: 0, Offset: 0, Size: 8}, {Allocation: 0, Offset: 4, Size: 0}}, []Place{{0, 0}, {1, 4}}},
		{"far in a huge allocation", []hlo.Slice{{Allocation: 0, Offset: 3 << 30, Size: 8}, {Allocation: 0, Offset: 3<<30 + 4, Size: 8}}, []Place{{0, 0}, {0, 4}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Empty(t, cmp.Diff(c.want, Places(c.slices, 256)))
		})
	}
}

// TestPlacesAgreeWithEveryPair holds the sweep to what it stands for: buffers share a
// group where a chain of slices that touch joins them, and keep their distance.
func TestPlacesAgreeWithEveryPair(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 2))
	for range 500 {
		var list []hlo.Slice
		for range 1 + rnd.IntN(9) {
			list = append(list, hlo.Slice{Allocation: rnd.Int64N(3) - 1, Offset: rnd.Int64N(40), Size: rnd.Int64N(9)})
		}
		joined := make([][]bool, len(list))
		for i := range list {
			joined[i] = make([]bool, len(list))
			for j := range list {
				joined[i][j] = i == j || list[i].Allocation >= 0 && list[i].Shares(list[j])
			}
		}
		for k := range list {
			for i := range list {
				for j := range list {
					joined[i][j] = joined[i][j] || joined[i][k] && joined[k][j]
				}
			}
		}
		got := Places(list, 1)
		for i := range list {
			for j := range list {
				require.Equal(t, joined[i][j], got[i].Group == got[j].Group, "%v: %d and %d", list, i, j)
				if joined[i][j] {
					require.Equal(t, list[i].Offset-list[j].Offset, got[i].Offset-got[j].Offset)
				}
			}
		}
	}
}

// TestManyOperandsInOneSlice: as many leaves as a plan may have, all in one place, are
// planned at once, and not in most of a minute.
func TestManyOperandsInOneSlice(t *testing.T) {
	c := &alias.Call{Module: &hlo.Module{}}
	for n := range maxBuffers {
		c.Operands = append(c.Operands, alias.Leaf{Operand: int32(n), Value: -1, Bytes: 1 << 20, Slice: hlo.Slice{Offset: int64(n), Size: 1 << 20}})
	}
	begin := time.Now()
	p, err := New(context.Background(), c, &kernel.Call{}, OperandSource{})
	require.NoError(t, err)
	assert.Less(t, time.Since(begin), 5*time.Second)
	for n := range p.Buffers {
		require.Equal(t, Place{Offset: int64(n)}, p.Buffers[n].Place)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = New(ctx, c, &kernel.Call{}, OperandSource{})
	assert.ErrorIs(t, err, context.Canceled)
}

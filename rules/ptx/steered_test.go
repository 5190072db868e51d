package ptx

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatContentsDoNotSteer holds what a run says of buffers that contents do not
// steer to runs with other contents: the same bytes, and the same verdicts.
func TestWhatContentsDoNotSteer(t *testing.T) {
	n := uint64(1200)
	if testing.Short() {
		n = 150
	}
	held, passed := 0, map[uint64]bool{}
	for seed := range n {
		k := generateKernel(seed)
		l, err := k.launch()
		require.NoError(t, err)
		o, err := Run(context.Background(), l)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(seed, 3))
		for range 3 {
			other := make([]byte, 4*gMapSize)
			same, all := r.IntN(3) == 0, uint32(r.IntN(gMapSize))
			for i := range gMapSize {
				v := uint32(r.IntN(gMapSize))
				if same {
					v = all
				}
				binary.LittleEndian.PutUint32(other[4*i:], v)
			}
			l.Buffers[k.mapBuf].Contents = other
			x, err := Run(context.Background(), l)
			require.NoError(t, err)
			require.True(t, x.Analysed)
			require.Empty(t, cmp.Diff(o.Steered, x.Steered), "seed %d", seed)
			for op := range o.Steered {
				for res := range o.Steered {
					if o.Steered[op] || o.Steered[res] {
						continue
					}
					if len(o.AddressFrom) > 0 {
						held++
					}
					a, b := o.InPlace(op, res, 0), x.InPlace(op, res, 0)
					if crowded(a) || crowded(b) { // a bound of the record's, which contents may reach or not
						passed[seed] = true
						continue
					}
					require.Empty(t, cmp.Diff(a, b), "seed %d, operand %d, result %d", seed, op, res)
				}
				if !o.Steered[op] {
					require.Empty(t, cmp.Diff(o.Effects[op], x.Effects[op], cmpopts.IgnoreFields(Effects{}, "Reaches")), "seed %d, buffer %d", seed, op)
				}
			}
		}
	}
	assert.LessOrEqual(t, len(passed), 4, "kernels of 1,200 that the record's bound decides: %v", passed)
	assert.Greater(t, held, int(n)/4, "pairs that contents do not steer, of kernels whose addresses they decide")
}

func TestSteered(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []bool
	}{
		{"a row that is looked up", "ld.global.b32 %r2, [%rd5]; mad.wide.s32 %rd9, %r2, 4, %rd2; ld.global.b32 %r3, [%rd9]; st.global.b32 [%rd7], %r3;", []bool{false, true, false}},
		{"a guard", "ld.global.b32 %r2, [%rd5]; setp.eq.s32 %p1, %r2, 0; @%p1 st.global.b32 [%rd7], %r1;", []bool{false, false, true}},
		{"a branch", "ld.global.b32 %r2, [%rd5]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L; st.global.b32 [%rd7], %r1; $L:", []bool{true, true, true}},
		{"where shared memory is written", "ld.global.b32 %r2, [%rd5]; mov.u64 %rd8, tile; mad.wide.s32 %rd9, %r2, 4, %rd8; st.shared.b32 [%rd9], %r1; bar.sync 0; ld.shared.b32 %r3, [%rd8]; mad.wide.s32 %rd10, %r3, 4, %rd3; st.global.b32 [%rd10], %r1;", []bool{true, true, true}},
		{"where memory is written that an address is loaded from", "ld.global.b32 %r2, [%rd5]; mad.wide.s32 %rd9, %r2, 4, %rd2; st.global.b32 [%rd9], %r1; bar.sync 0; ld.global.b32 %r3, [%rd2]; mad.wide.s32 %rd10, %r3, 4, %rd3; st.global.b32 [%rd10], %r1;", []bool{true, true, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := reachLaunch(t, c.body)
			l.Buffers[0].Contents = make([]byte, 4096)
			for i := range 32 {
				binary.LittleEndian.PutUint32(l.Buffers[0].Contents[4*i:], uint32(31-i))
			}
			o := analysed(t, l)
			assert.Equal(t, c.want, o.Steered)
		})
	}
}

// crowded is a verdict that the record's bound on accesses of one byte decided.
func crowded(v Verdict) bool {
	return v.Safety == Unknown && v.Reason == "a byte is touched by too many accesses without an order"
}

package ptx

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRowsTellWhatThreadsTell records the same runs of neighbouring threads as rows
// and thread by thread.
func TestRowsTellWhatThreadsTell(t *testing.T) {
	const bytes, threads, clusters = 4 << 10, 256, 60
	for _, d := range []direction{reads, writes} {
		for _, size := range []int64{1, 2, 4, 8, 16, 32} {
			for _, unit := range []int64{size, max(size, 64)} { // where runs begin
				t.Run(fmt.Sprintf("direction %d, %d bytes from multiples of %d", d, size, unit), func(t *testing.T) {
					m := bench(t, threads, bytes)
					r, x := &m.rec, &scatter{d: d, g: m.bufs[0], size: size}
					rnd := rand.New(rand.NewPCG(uint64(size), uint64(unit)))
					direct, rows := newShadow(bytes, d == reads), newShadow(bytes, d == reads)
					state, slot, ok := r.contexts.alloc()
					require.True(t, ok)
					*slot = &circumstances{sync: &syncState{}}
					whole := 0
					for _, cluster := range rnd.Perm(clusters) {
						id, st, ok := r.events.alloc()
						require.True(t, ok)
						*st = stored{cluster: uint32(cluster), seq: 1, context: state}
						st.thread = r.solo(id)
						x.e, x.id = r.event(id), id
						n := 1 + rnd.IntN(threads)
						run := threadRun{rnd.Int64N(bytes/unit) * unit, int16(rnd.IntN(threads - n + 1)), int16(n)}
						run.n = int16(min(int64(run.n), (bytes-run.off)/size))
						if _, _, ok := run.wholeLines(size); ok {
							whole++
						}
						r.put(direct, x.e, id, size, &run)
						r.scatter(x, rows, []threadRun{run})
					}
					require.Empty(t, m.reason)
					require.Greater(t, whole, clusters/4)
					assert.Equal(t, told(r, direct), told(r, rows))
				})
			}
		}
	}
}

// TestRangesAlike holds what is said of two ranges at once against their threads one by one.
func TestRangesAlike(t *testing.T) {
	piece := func(thread, how int32) int32 { return thread | how<<pieceShift }
	a := stored{base: 128, size: 64, thread: piece(16, 3)}
	var seen []bool
	for _, b := range []stored{
		a,
		{base: 192, size: 64, thread: piece(32, 3)}, // the same threads wherever both have some
		{base: 64, size: 128, thread: piece(0, 3)},
		{base: 128, size: 64, thread: piece(17, 3)},
		{base: 64, size: 128, thread: piece(16, 3)},
		{base: 128, size: 64, thread: piece(16, 4)},
		{base: 128, size: 64, thread: 16},
	} {
		for _, delta := range []int64{0, 64, -64, 32} {
			same := true
			for at := b.base; at < b.base+128; at++ { // of the buffer of b
				same = same && a.threadAt(at+delta-a.base+1<<20) == b.threadAt(at-b.base+1<<20)
			}
			require.Equal(t, same, a.alike(&b, delta), "%+v, %d", b, delta)
			seen = append(seen, same)
		}
	}
	assert.True(t, slices.Contains(seen, true) && slices.Contains(seen, false))
	assert.True(t, (&stored{thread: 5}).alike(&stored{thread: 5, base: 4}, 0))
}

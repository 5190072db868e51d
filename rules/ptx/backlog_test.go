package ptx

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gathers are launches that touch elements one by one without a pattern: each
// once, so often that backlogs are drained while blocks run, and beside accesses
// of other kinds.
func gathers(t testing.TB) map[string]*Launch {
	const threads, blocks = 256, 256
	const indexed = `
mad.lo.s32 %r10, %cta, 256, %tid; mul.wide.s32 %rd12, %r10, 4; add.s64 %rd10, %rd0, %rd12;
add.s64 %rd11, %rd1, %rd12; add.s64 %rd18, %rd2, %rd12; ld.global.b32 %r1, [%rd10];
mul.wide.s32 %rd13, %r1, 4; add.s64 %rd14, %rd1, %rd13; mul.wide.s32 %rd15, %r1, 8; add.s64 %rd16, %rd1, %rd15;
`
	made := func(body string, index func(i int) int) *Launch {
		l := handLaunch(kernel(t, 3, indexed+body+"ret;"), blocks, threads, 0, 4*threads*blocks, 8*threads*blocks, 4*threads*blocks)
		for i := range threads * blocks {
			binary.LittleEndian.PutUint32(l.Buffers[0].Contents[4*i:], uint32(index(i)))
		}
		return l
	}
	const load, store = "ld.global.b32 %r2, [%rd14];", "st.global.b32 [%rd18], %r2;"
	const from, put = "ld.global.b32 %r2, [%rd18];", "st.global.b32 [%rd14], %r2;"
	r := rand.New(rand.NewPCG(5, 6))
	perm, half := r.Perm(threads*blocks), r.Perm(threads*blocks/2)
	return map[string]*Launch{
		"gather by few":        made(load+store, func(int) int { return r.IntN(300) }),
		"gather of a page":     made(load+store, func(i int) int { return perm[i] / 4 }),
		"gather by turns":      made(load+store, func(i int) int { return r.IntN(64)*blocks + i/threads }), // a block's elements are no other's
		"gather thrice":        made(load+load+"bar.sync 0;"+load+store, func(i int) int { return half[i%len(half)] }),
		"gather of 8 bytes":    made("ld.global.v2.b32 {%r2, %r3}, [%rd16];"+store, func(i int) int { return perm[i] }),
		"gather of neighbours": made(load+store, func(i int) int { return perm[i/3] + i%3 }),
		"gather of whole rows": made(load+store, func(i int) int { return perm[i/16]/16*16 + i%16 }),
		"gather of long rows":  made(load+"ld.global.b32 %r3, [%rd14];"+store+load, func(i int) int { return perm[i/100]/50*50 + i%100 }),
		"rows in place":        made(load+"st.global.b32 [%rd14], %r2;"+load+store, func(i int) int { return perm[i/32*32]/32*32 + i%32 }),
		"rows and singles": made(load+"ld.global.v2.b32 {%r2, %r3}, [%rd16];"+put, func(i int) int {
			if i/48%3 == 0 {
				return perm[i]
			}
			return perm[i/48*48]/2*2 + i%48
		}),
		"gather of rows": made(load+store, func(i int) int {
			if i/threads%2 == 0 {
				return perm[i]
			}
			return perm[i/40] + i%40
		}),
		"gather and rows":      made(load+"ld.global.b32 %r3, [%rd11];"+store, func(i int) int { return perm[i] }),
		"gather in place":      made(load+"bar.sync 0; st.global.b32 [%rd11], %r2;"+load, func(i int) int { return perm[i] }),
		"scatter":              made(from+put, func(i int) int { return perm[i] }),
		"scatter on few":       made(from+put+"bar.sync 0;"+put, func(i int) int { return half[i%len(half)] / 8 }),
		"scatter and read":     made(from+put+"bar.sync 0; ld.global.b32 %r3, [%rd11];"+load+store, func(i int) int { return perm[i] }),
		"scatter and rows":     made(from+put+"st.global.b32 [%rd11], %r3;", func(i int) int { return perm[i] }),
		"gather out of bounds": made(load+store, func(i int) int { return perm[i] * (1 + 2*(i/100%2)) }),
	}
}

// bench is a recorder without a kernel that runs.
func bench(t *testing.T, threads uint32, size int64) *worker {
	l := handLaunch(kernel(t, 1, "ret;"), 1, threads, 0, int(size))
	p, err := compile(l.Entry)
	require.NoError(t, err)
	s, err := newLaunch(context.Background(), l, p)
	require.NoError(t, err)
	s.slice = p.slice(false, p.provenance(l))
	return newWorker(s, true)
}

// told gives who touches each 4 bytes of a shadow, as text.
func told(r *recorder, t *shadow) []string {
	var out []string
	t.each(r, func(line, n int64, cell uint32) bool {
		for end := line + n; line < end; line++ {
			r.parts(cell, line, func(p part) {
				for i := 0; i < 64; i += 4 {
					if p.entry.mask>>i&1 != 0 {
						p.threadsOn(line, i, func(thread int) bool {
							out = append(out, fmt.Sprintf("%07d: thread %d of event %d of cluster %d", line*64+int64(i), thread, p.seq, p.cluster))
							return true
						})
					}
				}
			})
		}
		return true
	})
	slices.Sort(out)
	return out
}

// TestBacklogsTellWhatOwnerLinesTell records the same accesses at once and through backlogs.
func TestBacklogsTellWhatOwnerLinesTell(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	const size = 3<<pageLog + 100
	for i, threads := range []uint32{2, 32, 256, 1000, 2, 32, 256, 1000} {
		d := [2]direction{reads, writes}[i/4]
		for _, c := range []struct {
			name     string
			events   int
			elements int // among which threads choose
			skip     int // numbers of events that are not of this shadow, at most
			ranges   int // one in so many events is of a range of bytes; 0 none
		}{
			{"many", 60000 / int(threads), size / 4, 1, 0},
			{"more than a backlog holds", 40000 / int(threads), pageLines * lineElements, 1, 0},
			{"few", 3000 / int(threads), 200, 1, 0},
			{"leaps", 300, size / 4, 1 << (20 - elementBits), 0},
			{"great leaps", 50, size / 4, 1 << 14, 0},
			{"ranges between", 10000 / int(threads), size / 4, 1, 5},
		} {
			t.Run(fmt.Sprintf("%s, %d threads, direction %d", c.name, threads, d), func(t *testing.T) {
				m := bench(t, threads, size)
				r, x := &m.rec, &scatter{d: d, g: m.bufs[0]}
				rnd := rand.New(rand.NewPCG(uint64(threads), 1))
				direct, later := newShadow(size, d == reads), newShadow(size, d == reads)
				states := [4]uint32{}
				for i := range states {
					id, slot, ok := r.contexts.alloc()
					require.True(t, ok)
					states[i], *slot = id, &circumstances{sync: &syncState{epoch: uint32(i * c.events / 5)}}
				}
				for seq := range uint32(c.events) {
					id, st, ok := r.events.alloc()
					require.True(t, ok)
					*st = stored{cluster: uint32(rnd.IntN(3)), seq: seq, context: states[4*int(seq)/c.events]}
					if c.ranges > 0 && rnd.IntN(c.ranges) == 0 {
						st.base, st.size, st.thread = int64(rnd.IntN(c.elements))&^3, 4*uint32(1+rnd.IntN(3)), int32(rnd.IntN(int(threads)))
						for _, tab := range []*shadow{direct, later} {
							r.lines(tab, r.event(id), id)
						}
						continue
					}
					for range rnd.IntN(c.skip) {
						_, _, ok := r.solos.alloc()
						require.True(t, ok)
					}
					st.thread = r.solo(id)
					x.e, x.id, x.size = r.event(id), id, 4<<rnd.IntN(2)
					var runs []threadRun
					for thread := range threads {
						if at := 4 * int64(rnd.IntN(c.elements)); rnd.IntN(8) > 0 && at+x.size <= size {
							runs = append(runs, threadRun{at, int16(thread), 1})
							r.put(direct, x.e, id, x.size, &runs[len(runs)-1])
						}
					}
					for chunk := range slices.Chunk(runs, scatterBatch) {
						r.scatter(x, later, chunk)
					}
				}
				require.NotNil(t, later.backlogs)
				for n, q := range later.backlogs {
					if q != nil {
						r.drainPage(later, int64(n), q)
					}
				}
				require.Empty(t, m.reason)
				want, got := told(r, direct), told(r, later)
				require.Greater(t, len(want), c.events/4)
				if !slices.Equal(want, got) {
					assert.Equal(t, len(want), len(got))
					for i := range want {
						require.Equal(t, want[i], got[min(i, len(got)-1)], "%d of %d", i, len(want))
					}
				}
			})
		}
	}
}

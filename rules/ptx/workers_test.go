package ptx

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWorkersAndOrdersAgree holds what is said of a launch to be the same
// whoever runs which block, and when.
func TestWorkersAndOrdersAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	launches := everyLaunch(t)
	for _, x := range benchLaunches(t) {
		launches["whole "+x.name] = x.make()
	}
	for name, l := range launches {
		t.Run(name, func(t *testing.T) {
			first := run(t, l)
			if first.MemoryOrder != nil || first.Hang != nil {
				require.Equal(t, "lost", name, "only one of these is endless")
				t.Skip("where an endless launch is ended depends on who ends it")
			}
			for _, order := range []Order{Forward, Backward, Shuffled} {
				for _, workers := range []int{1, 2, 5} {
					l.Order, l.Seed, l.Workers = order, 7, workers
					o := run(t, l)
					if d := cmp.Diff(first, o, cmpopts.IgnoreFields(Outcome{}, "Stats", "record")); d != "" {
						require.Fail(t, "outcomes differ", "order %d, %d workers: %s", order, workers, d)
					}
					for i := range first.Effects {
						for k := range first.Effects {
							require.Equal(t, first.InPlace(i, k, 0), o.InPlace(i, k, 0), "order %d, %d workers, pair %d %d", order, workers, i, k)
						}
					}
				}
			}
		})
	}
}

// TestGatherWithRepeats reads elements several times, by threads of one block
// and of others: what several have read is told of like what one has.
func TestGatherWithRepeats(t *testing.T) {
	l := gatherLaunch(t)
	perm := l.Buffers[0].Contents
	for i := 0; i < len(perm); i += 4 {
		perm[i] &^= 3 // four readers an element
	}
	for _, workers := range []int{1, 2} {
		l.Workers = workers
		o := analysed(t, l)
		assert.Equal(t, Unsafe, o.InPlace(1, 2, 0).Safety)
		assert.Equal(t, Safe, o.InPlace(0, 2, 0).Safety)
		want := []Range{}
		for i := int64(0); i < 4*million; i += 16 {
			want = append(want, Range{i, i + 4})
		}
		assert.Equal(t, want, o.Effects[1].Read)
	}
}

package diff

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// side makes one side of a diff out of calls: identity, fact, how often.
func side(calls ...any) *Dump {
	d := &Dump{variants: map[Identity][]*variant{}}
	for n := 0; n < len(calls); n += 3 {
		for range calls[n+2].(int) {
			f := facts{Sharing: []string{calls[n+1].(string)}}
			d.add(calls[n].(Identity), &variant{facts: f, key: f.key(), calls: 1})
		}
	}
	return d
}

func TestMatch(t *testing.T) {
	x, y := Identity{Module: "m", Kernel: "x"}, Identity{Module: "m", Kernel: "y"}
	v2, ffi := Identity{Module: "m", Kernel: "k", Target: "v2"}, Identity{Module: "m", Kernel: "k", Target: "ffi"}
	for _, test := range []struct {
		name                    string
		old, new                *Dump
		changed, removed, added int
	}{
		{"nothing", side(), side(), 0, 0, 0},
		{"equal", side(x, "a", 2, y, "b", 1), side(y, "b", 1, x, "a", 2), 0, 0, 0},
		{"one of many changed", side(x, "a", 4), side(x, "a", 3, x, "b", 1), 1, 0, 0},
		{"one more became like another", side(x, "a", 3, x, "b", 1), side(x, "a", 2, x, "b", 2), 1, 0, 0},
		{"the full suite compiles it more often", side(x, "a", 1), side(x, "a", 7), 0, 0, 0},
		{"and once in another way", side(x, "a", 1), side(x, "a", 6, x, "b", 1), 1, 0, 0},
		{"gone and come", side(x, "a", 1), side(y, "a", 1), 0, 1, 1},
		{"another target", side(v2, "a", 1), side(ffi, "a", 1), 1, 0, 0},
		{"another target and state", side(v2, "a", 1), side(ffi, "b", 1), 1, 0, 0},
		{"all in two states", side(x, "a", 1, x, "b", 1), side(x, "c", 1, x, "d", 1), 2, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			changed, removed, added := match(test.old, test.new)
			assert.Len(t, changed, test.changed)
			assert.Len(t, removed, test.removed)
			assert.Len(t, added, test.added)
			changed, removed, added = match(test.new, test.old)
			assert.Len(t, changed, test.changed, "the other way round")
			assert.Len(t, removed, test.added)
			assert.Len(t, added, test.removed)
		})
	}
}

func TestMatchCountsTheCalls(t *testing.T) {
	x := Identity{Kernel: "x"}
	changed, _, _ := match(side(x, "a", 4), side(x, "a", 1, x, "b", 3))
	require.Len(t, changed, 1)
	assert.Equal(t, 3, changed[0].oldCalls)
	assert.Equal(t, 3, changed[0].newCalls)
	assert.Equal(t, []Change{{"sharing", []string{"a"}, []string{"b"}}}, changed[0].changes())
}

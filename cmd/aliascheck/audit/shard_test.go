package audit

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseShard(t *testing.T) {
	for text, want := range map[string]shard{"": {}, "1/1": {1, 1}, "3/16": {3, 16}} {
		got, err := parseShard(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"0/4", "5/4", "1", "/", "1/0", "-1/4", "a/b", "1/2/3", "1/99999999"} {
		_, err := parseShard(text)
		assert.ErrorContains(t, err, "I/N was expected", text)
	}
}

func TestEveryModuleHasOneShard(t *testing.T) {
	counts := make([]int, 4)
	for n := range 4000 {
		name := fmt.Sprintf("module_%04d.jit_f.hlo.pb", n)
		owners := 0
		for s := range counts {
			here := shard{s + 1, 4}
			if here.has("dump/"+name, []string{"dump"}) {
				owners++
				counts[s]++
			}
			assert.Equal(t, here.has("dump/"+name, []string{"dump/"}), here.has("/ci/7/dump/"+name, []string{"/ci/7/dump"}),
				"another checkout makes no difference")
		}
		assert.Equal(t, 1, owners, name)
	}
	for _, n := range counts {
		assert.InDelta(t, 1000, n, 150, "shares are about equal")
	}
}

func TestAWholeDumpConcernsAllShards(t *testing.T) {
	assert.True(t, shard{2, 3}.has("missing", []string{"missing"}))
	assert.True(t, shard{}.has("a/b", []string{"a"}))
}

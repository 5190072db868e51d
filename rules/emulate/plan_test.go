package emulate

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/triton"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dumpedPlans calls use with the plan of every Triton call of testdata.
func dumpedPlans(t testing.TB, use func(name string, c *alias.Call, p kernelPlan)) {
	t.Helper()
	dirs, err := os.ReadDir("../../testdata/dumps")
	require.NoError(t, err)
	reader := hlo.NewReader(hlo.Limits{})
	var analyzer alias.Analyzer
	var decoder triton.Decoder
	for _, d := range dirs {
		files, err := filepath.Glob(filepath.Join("../../testdata/dumps", d.Name(), "*after_optimizations.hlo.pb"))
		require.NoError(t, err)
		for _, file := range files {
			m, err := reader.Read(hlo.Source{Path: file})
			require.NoError(t, err)
			calls := analyzer.Calls(m)
			for i := range calls {
				c := &calls[i]
				if !triton.IsTarget(c.Target) {
					continue
				}
				k, err := decoder.Decode(c.Request())
				require.NoError(t, err)
				p, err := replay.New(context.Background(), c, k, replay.OperandSource{})
				require.NoError(t, err)
				use(d.Name(), c, kernelPlan{p})
			}
		}
	}
}

// TestPlansOfDumps builds the launch of every configuration of every dump.
func TestPlansOfDumps(t *testing.T) {
	calls, configurations := 0, 0
	dumpedPlans(t, func(name string, c *alias.Call, p kernelPlan) {
		calls++
		for i := range p.Call.Configurations {
			configurations++
			config, err := p.newConfiguration(&p.Call.Configurations[i])
			require.NoError(t, err, name)
			l := config.launch(p.apart(p.FoundContents()))
			require.Len(t, l.Args, len(l.Entry.Params), name)
			for _, arg := range l.Args {
				require.Less(t, arg.Buffer, len(l.Buffers))
			}
			for n := range p.Buffers {
				assert.True(t, config.takes(n), "%s: every buffer of the lab's calls has a pointer", name)
			}
		}
	})
	assert.Equal(t, 58, calls)
	assert.Equal(t, 78, configurations)
}

// TestPlanOfTransformerStep: the row map is a literal of the module, and a permutation.
func TestPlanOfTransformerStep(t *testing.T) {
	dumpedPlans(t, func(name string, c *alias.Call, p kernelPlan) {
		if name != "transformer_step" {
			return
		}
		ids := int32s(p.Buffers[1].Found)
		require.Len(t, ids, 2048)
		seen := make([]bool, 2048)
		for _, v := range ids {
			seen[v] = true
		}
		assert.NotContains(t, seen, false)
		assert.Equal(t, replay.LiteralInput, p.Buffers[1].Recipe.Kind)
		assert.Contains(t, p.Buffers[1].Recipe.Source, "constant")
		assert.True(t, p.Buffers[1].Ready)
		assert.False(t, p.Buffers[0].Ready)
		assert.Equal(t, []replay.Pair{{Operand: 0, Result: 0}}, p.Pairs)
	})
}

// TestPlacesOfDumps: where an operand and a result share in the assignment, they
// share in a replay, and nothing else does.
func TestPlacesOfDumps(t *testing.T) {
	dumpedPlans(t, func(name string, c *alias.Call, p kernelPlan) {
		m := p.shared(make([][]byte, p.Operands))
		for a := range p.Buffers {
			for b := range a {
				x, y := replay.LeafOf(c, int64(a)), replay.LeafOf(c, int64(b))
				together := m.at[a].Group == m.at[b].Group
				require.Equal(t, x.Slice.Shares(y.Slice), together, "%s: buffers %d and %d", name, a, b)
				if together {
					assert.Equal(t, x.Slice.Offset-y.Slice.Offset, m.at[a].Offset-m.at[b].Offset)
				}
			}
		}
	})
}

func TestPlacesOfSlicesThatTouchInAChain(t *testing.T) {
	leaf := func(offset, size int64) alias.Leaf {
		return alias.Leaf{Bytes: size, Value: -1, Slice: hlo.Slice{Offset: offset, Size: size}}
	}
	c := &alias.Call{Operands: []alias.Leaf{leaf(0, 8), leaf(12, 8), leaf(100, 8)}, Results: []alias.Leaf{leaf(4, 12)}}
	plan, err := replay.New(context.Background(), c, &kernel.Call{}, replay.OperandSource{})
	require.NoError(t, err)
	m := kernelPlan{plan}.shared(make([][]byte, 3))
	require.Len(t, m.buffers, 2)
	assert.Equal(t, int64(20), m.buffers[0].Size)
	assert.Equal(t, []replay.Place{{}, {Offset: 12}, {Group: 1}, {Offset: 4}}, m.at)
}

// TestWrittenThrough: jax-triton 0.4.0 gives no pointer for a declared result.
func TestWrittenThrough(t *testing.T) {
	p := kernelPlan{&replay.Plan{Operands: 2, Buffers: []replay.Buffer{{Claimant: -1}, {Claimant: -1}, {Claimant: 1}, {Claimant: -1}}}}
	for pointers, want := range map[int][2]int{4: {2, 3}, 3: {2, -1}, 2: {1, -1}, 1: {-1, -1}} {
		c := &configuration{}
		for n := range pointers {
			c.pointers = append(c.pointers, n)
		}
		assert.Equal(t, want, [2]int{p.writtenThrough(c, 0), p.writtenThrough(c, 1)}, "%d pointers", pointers)
	}
}

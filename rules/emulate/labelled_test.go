package emulate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aliascheck/hlo/kernel"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLabelledKernels holds the engine to kernels written in look-alike pairs, whose
// accesses contents decide that nobody gives: one of a pair is safe whatever they are,
// the other is not. Each has 8 blocks of 128 threads, x and y of f32[8,1024] and n of
// s32[8]; its first line says what is owed of x in place of y.
func TestLabelledKernels(t *testing.T) {
	files, err := filepath.Glob("testdata/labelled/*.ptx")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	labels := map[string]int{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ptx"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			label, _, _ := strings.Cut(strings.TrimPrefix(string(text), "// owed: "), "\n")
			labels[label]++
			v := labelledVerdict(t, text)
			assert.Equal(t, label, string(v.Verdict), v.Reason)
			if v.Verdict == replay.Unsafe {
				assert.NotNil(t, v.Emulated.Witness)
			}
		})
	}
	assert.Equal(t, labels["safe"], labels["unsafe"], "they stand in pairs")
	assert.Len(t, labels, 2)
}

// labelledVerdict analyses one of them, and gives the verdict on x and y.
func labelledVerdict(t *testing.T, text []byte) replay.PairVerdict {
	c := kernel.Configuration{Entry: "k", PTX: text, Grid: [3]uint32{8, 1, 1}, Block: [3]uint32{128, 1, 1}}
	for n := range 3 {
		c.Params = append(c.Params, kernel.Param{Kind: kernel.Pointer, Buffer: n})
	}
	f32, s32 := element(t, "f32"), element(t, "s32")
	p := kernelPlan{&replay.Plan{
		Call:     &kernel.Call{Source: "triton", Name: "k", Configurations: []kernel.Configuration{c}},
		Operands: 2, Pairs: []replay.Pair{{Operand: 0, Result: 0, Shared: true}},
		Buffers: []replay.Buffer{
			{Element: f32, Dims: []int64{8, 1024}, Size: 32 << 10, Claimant: -1},
			{Element: s32, Dims: []int64{8}, Size: 32, Claimant: -1},
			{Element: f32, Dims: []int64{8, 1024}, Size: 32 << 10, Claimant: 0},
		},
	}}
	a, err := New(Options{}).analyse(context.Background(), p)
	require.NoError(t, err)
	return a.Pair(0, 0)
}

package rules

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"aliascheck/rules/goldens"
	"aliascheck/rules/ptx"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGoldens holds the PTX machine to what a GPU computed: bit for bit, and within
// the distance that a golden states where the GPU's own instruction approximates.
// `make goldens` renews them on a machine with a card.
func TestGoldens(t *testing.T) {
	all, err := goldens.Load("../testdata/goldens")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, g := range all {
		t.Run(fmt.Sprintf("%s/%s/%d", g.Dump, g.Instruction, g.Configuration), func(t *testing.T) {
			p, config := goldenPlan(t, &g)
			contents := make([][]byte, p.Operands)
			for n, in := range g.Inputs {
				b := &p.Buffers[n]
				contents[n] = Contents(Recipe{Operand: n, Kind: in.Kind, Seed: in.Seed, Bound: in.Bound}, b.Element, b.count())
				require.Equal(t, in.SHA256, goldens.Sum(contents[n]), "operand %d: these are not the inputs that the GPU had", n)
			}
			l := config.launch(p.apart(contents))
			l.Mode = ptx.Full
			out, err := ptx.Run(context.Background(), l)
			require.NoError(t, err)
			require.True(t, out.Analysed, out.Reason)
			require.NotEmpty(t, g.Buffers)
			for _, want := range g.Buffers {
				got := p.final(out, p.apartPlace(config, want.Buffer), want.Buffer)
				require.Empty(t, got.opaque, "buffer %d: values that were not computed", want.Buffer)
				assert.NoError(t, want.Check(got.data))
			}
		})
	}
}

// goldenPlan finds a golden's call in its dump.
func goldenPlan(t *testing.T, g *goldens.Golden) (p *kernelPlan, config *configuration) {
	t.Helper()
	err := goldens.EachCall(filepath.Join("../testdata", g.Dump), func(c goldens.Call) error {
		if c.Name != g.Instruction || config != nil {
			return nil
		}
		var err error
		if p, err = newKernelPlan(c.Call, c.Kernels, OperandSource{}); err != nil {
			return err
		}
		require.Less(t, g.Configuration, len(c.Kernels.Kernels))
		require.Len(t, g.Inputs, p.Operands)
		config, err = p.newConfiguration(&c.Kernels.Kernels[g.Configuration])
		return err
	})
	require.NoError(t, err)
	require.NotNil(t, config, "%s has no call %s", g.Dump, g.Instruction)
	return p, config
}

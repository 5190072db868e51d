package emulate

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"aliascheck/hlo/kernel"
	"aliascheck/rules/goldens"
	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGoldens holds the PTX machine to what a GPU computed: bit for bit, and within
// the distance that a golden states where the GPU's own instruction approximates.
// `make goldens` renews them on a machine with a card.
func TestGoldens(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	all, err := goldens.Load("../../testdata/goldens")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, g := range all {
		t.Run(fmt.Sprintf("%s/%s/%d", g.Dump, g.Instruction, g.Configuration), func(t *testing.T) {
			p, config := goldenPlan(t, &g)
			contents := make([][]byte, p.Operands)
			for n, in := range g.Inputs {
				b := &p.Buffers[n]
				contents[n] = replay.Contents(replay.Recipe{Operand: n, Kind: in.Kind, Seed: in.Seed, Bound: in.Bound}, b.Element, b.Count())
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
func goldenPlan(t *testing.T, g *goldens.Golden) (p kernelPlan, config *configuration) {
	t.Helper()
	err := goldens.EachCall(filepath.Join("../../testdata", g.Dump), func(c goldens.Call) error {
		if c.Name != g.Instruction || config != nil {
			return nil
		}
		plan, err := replay.New(context.Background(), c.Call, c.Kernels, replay.OperandSource{})
		if err != nil {
			return err
		}
		p = kernelPlan{plan}
		require.Less(t, g.Configuration, len(c.Kernels.Configurations))
		require.Len(t, g.Inputs, p.Operands)
		config, err = p.newConfiguration(&c.Kernels.Configurations[g.Configuration])
		return err
	})
	require.NoError(t, err)
	require.NotNil(t, config, "%s has no call %s", g.Dump, g.Instruction)
	return p, config
}

// TestGoldensCover: every configuration of the dumps has a golden, or one for an
// equal kernel, or its dump is among those that can have none.
func TestGoldensCover(t *testing.T) {
	const testdata = "../../testdata"
	key := func(k kernel.Configuration) string {
		k.Description = ""
		data, err := json.Marshal(k)
		require.NoError(t, err)
		return goldens.Sum(data)
	}
	all, err := goldens.Load(testdata + "/goldens")
	require.NoError(t, err)
	has := map[string]bool{}
	for _, g := range all {
		_, config := goldenPlan(t, &g)
		has[key(*config.kernel)] = true
	}
	special, err := goldens.LoadSpecials(testdata + "/goldens")
	require.NoError(t, err)
	folders, err := goldens.Folders(testdata)
	require.NoError(t, err)
	for dump, s := range special {
		assert.Contains(t, folders, dump, "%s: no such dump", dump)
		assert.True(t, s.Skip != "" || len(s.Inputs)+len(s.Close) > 0, "%s: nothing special", dump)
	}
	for _, folder := range folders {
		if special[folder].Skip != "" {
			continue
		}
		err := goldens.EachCall(filepath.Join(testdata, folder), func(c goldens.Call) error {
			for i, k := range c.Kernels.Configurations {
				assert.True(t, has[key(k)], "%s: %s: configuration %d has no golden", folder, c.Name, i)
			}
			return nil
		})
		require.NoError(t, err)
	}
}

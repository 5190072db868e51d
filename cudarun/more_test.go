package cudarun

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/kernel/triton"
	"aliascheck/rules/confirm"
	"aliascheck/rules/emulate"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const moreFolder = "../testdata/more"

// morePlans builds the plans of a case of testdata/more, with the contents that the
// analysis of its kernel starts from. A case whose descriptors the driver refuses
// has none.
func morePlans(t *testing.T, name string) []Plan {
	t.Helper()
	var plans []Plan
	for source, err := range hlo.Find([]string{filepath.Join(moreFolder, name)}, hlo.Limits{}) {
		require.NoError(t, err)
		module, err := hlo.NewReader(hlo.Limits{}).Read(source)
		require.NoError(t, err)
		var analyzer alias.Analyzer
		for _, call := range analyzer.Calls(module) {
			if triton.IsTarget(call.Target) {
				plans = append(plans, morePlan(t, name, &call))
			}
		}
	}
	return plans
}

func morePlan(t *testing.T, name string, call *alias.Call) Plan {
	t.Helper()
	var decoder triton.Decoder
	kernels, err := decoder.Decode(call.Request())
	require.NoError(t, err)
	ran := confirm.New(emulate.New(emulate.Options{})).Analyse(context.Background(), call, kernels)
	in := newInputs(ran, &replay.Claim{Operand: -1, Result: -1})
	plan, err := BuildPlan(ran, BuildOptions{Name: name, Contents: in.contents})
	require.NoError(t, err, name)
	return *plan
}

// moreExpected are the codes that expect.txt owes each case, those of the kernel's
// analysis included.
func moreExpected(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(moreFolder, "expect.txt"))
	require.NoError(t, err)
	expected := map[string]string{}
	for _, line := range strings.Split(string(b), "\n") {
		fields := strings.Fields(strings.TrimPrefix(line, "kernel "))
		if len(fields) >= 2 && !strings.HasPrefix(line, "#") {
			expected[fields[0]] += fields[1] + " "
		}
	}
	require.NotEmpty(t, expected)
	return expected
}

// Every kernel call of testdata/more becomes a plan, those with descriptors that
// the host encodes among them.
func TestMorePlans(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	for name := range moreExpected(t) {
		plans := morePlans(t, name)
		require.NotEmpty(t, plans, name)
		for _, p := range plans {
			assert.NoError(t, p.Check())
		}
		if name == "tma_host" {
			kinds := map[ParamKind]int{}
			for _, param := range plans[0].Kernels[0].Params {
				kinds[param.Kind]++
			}
			assert.Positive(t, kinds[ParamTensor])
		}
	}
}

// A card confirms nothing of these kernels that is not expected of them. Hazards that
// hang on the order of lanes or of two blocks need not show.
func TestGPUMore(t *testing.T) {
	s := openGPU(t)
	expected := moreExpected(t)
	for name, codes := range expected {
		if strings.Contains(codes, "AC401") {
			continue // the driver refuses its descriptor, or the kernel faults on it
		}
		for _, p := range morePlans(t, name) {
			out := s.Replay(context.Background(), &p)
			assert.Empty(t, out.Skipped, name)
			for _, code := range []string{"AC201", "AC203", "AC206", "AC301", "AC302", "AC303", "AC902", "AC903"} {
				v := out.Verdict(question(code), NoBuffer)
				if !strings.Contains(codes, code) {
					assert.NotEqual(t, "confirmed", v.Confirmation, "%s %s: %s", name, code, v.Reason)
				} else if code == "AC301" {
					assert.Equal(t, "confirmed", v.Confirmation, "%s %s: %s", name, code, v.Reason)
				}
			}
			for _, c := range out.Configurations {
				assert.Empty(t, c.Reason, name)
				if c.Apart != nil && len(c.Apart.Unstable) > 0 {
					assert.True(t, c.Apart.WithinTolerance, "%s: only sums in any order may differ: %+v", name, c.Apart.Unstable)
				}
			}
		}
	}
}

package cudarun

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/triton"
	"aliascheck/rules"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// corpusCall is a replayable call of the real dumps, with its plan.
type corpusCall struct {
	Case string
	Plan Plan
}

// corpusPlans builds the plans of every Triton call of one case of the corpus.
// force: an operand and a result that stand apart are put in one place.
func corpusPlans(t testing.TB, name string, force bool) []corpusCall {
	t.Helper()
	var calls []corpusCall
	reader := hlo.NewReader(hlo.Limits{})
	for source, err := range hlo.Find([]string{filepath.Join("..", "testdata", "dumps", name)}, hlo.Limits{}) {
		require.NoError(t, err)
		module, err := reader.Read(source)
		require.NoError(t, err)
		var analyzer alias.Analyzer
		for _, call := range analyzer.Calls(module) {
			if !triton.IsTarget(call.Target) {
				continue
			}
			calls = append(calls, corpusCall{name, corpusPlan(t, name, &call, force)})
		}
	}
	return calls
}

func corpusPlan(t testing.TB, name string, call *alias.Call, force bool) Plan {
	t.Helper()
	var decoder triton.Decoder
	kernels, err := decoder.Decode(call.Request())
	require.NoError(t, err)
	o := BuildOptions{
		Name:     name + ": " + strings.Clone(call.Module.Instructions[call.Instruction].Name),
		Contents: func(l *alias.Leaf) ([]byte, string, error) { return corpusContents(name, call.Module, l) },
	}
	if force {
		o.Arrangement.Share = []replay.Pair{{}}
	}
	plan, err := BuildPlan(corpusCase(t, call, kernels), o)
	require.NoError(t, err)
	require.NotNil(t, plan.Shared)
	return *plan
}

// corpusCase is a call as an engine gets it.
func corpusCase(t testing.TB, call *alias.Call, kernels *kernel.Call) *replay.Case {
	t.Helper()
	plan, err := replay.New(context.Background(), call, kernels, replay.OperandSource{})
	require.NoError(t, err)
	return &replay.Case{Call: call, Kernel: kernels, Plan: plan}
}

// question is what a run is to show of a rule's findings.
func question(code string) replay.Question {
	r, _ := rules.Lookup(code)
	return r.Confirm
}

// corpusContents are inputs that the corpus' kernels can take: row maps are
// permutations, histogram ids stay below 512, floats are random.
func corpusContents(name string, m *hlo.Module, l *alias.Leaf) ([]byte, string, error) {
	if l.Value >= 0 {
		in := &m.Instructions[m.Values[l.Value].Instruction]
		if in.Custom != nil && in.Custom.Target == "AllocateBuffer" {
			return nil, "no contents", nil
		}
	}
	rng := rand.New(rand.NewPCG(7, uint64(l.Bytes)+uint64(max(l.Operand, 0))))
	out := make([]byte, 0, l.Bytes)
	switch l.Element.String() {
	case "f32":
		for range l.Bytes / 4 {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(rng.NormFloat64())))
		}
		return out, "random normal", nil
	case "bf16":
		for range l.Bytes / 2 {
			out = binary.LittleEndian.AppendUint16(out, uint16(math.Float32bits(float32(rng.NormFloat64()))>>16))
		}
		return out, "random normal", nil
	case "f16":
		for range l.Bytes / 2 {
			out = binary.LittleEndian.AppendUint16(out, uint16(rng.IntN(0x7c00)))
		}
		return out, "random finite", nil
	case "s32":
		if name == "histogram" {
			for range l.Bytes / 4 {
				out = binary.LittleEndian.AppendUint32(out, uint32(rng.IntN(512)))
			}
			return out, "random below 512", nil
		}
		for _, n := range rng.Perm(int(l.Bytes / 4)) {
			out = binary.LittleEndian.AppendUint32(out, uint32(n))
		}
		return out, "permutation", nil
	}
	return nil, "", fmt.Errorf("no contents for %s", l.Element)
}

// corpusCases are the cases of the corpus that hold kernels.
func corpusCases() []string {
	return []string{
		"axpby_inplace", "axpby_second_auto_raw_ffi", "histogram", "late_copy", "lost_phase", "matmul_apart", "matmul_inplace",
		"operand_written", "reverse_apart", "reverse_inplace", "scale_apart", "scale_inplace", "scale_inplace_auto_rawindex_ffi",
		"scale_inplace_auto_told", "scale_inplace_auto_untold", "softmax_inplace", "sort_claimed_auto_untold", "sort_claimed_v2_auto",
		"sort_computed_map_ffi_auto", "sort_computed_map_v2_auto", "sort_donated", "sort_donated_ffi_auto", "sort_in_cond",
		"sort_in_loop", "sort_inplace_declared", "sort_kept_ffi_auto", "sort_probs_half_claimed", "sort_unclaimed_ffi",
		"sort_unclaimed_ffi_auto", "sort_unclaimed_v2_auto", "stencil_inplace", "stray_read", "tma_copy", "transformer_step",
		"transpose_apart",
	}
}

// Every Triton call of the corpus becomes a plan.
func TestCorpusPlans(t *testing.T) {
	for _, name := range corpusCases() {
		calls := corpusPlans(t, name, false)
		require.NotEmpty(t, calls, name)
		for _, c := range calls {
			assert.NoError(t, c.Plan.Check())
			assert.NotEmpty(t, c.Plan.Kernels[0].Params)
		}
	}
}

func TestCorpusPlanTellsWhatTheDumpTells(t *testing.T) {
	p := corpusPlans(t, "scale_inplace_auto_untold", false)[0].Plan
	require.NotNil(t, p.Trials)
	assert.Equal(t, PhaseExecute, p.Trials.Phase)
	assert.Empty(t, p.Trials.Entries)
	assert.Len(t, p.Kernels, 2)
	assert.Equal(t, 0, p.Buffers[1].Claims)
	assert.Equal(t, p.Shared[0], p.Shared[1])
	assert.Equal(t, [3]uint32{1024, 1, 1}, p.Kernels[0].Grid)
	assert.Equal(t, [3]uint32{128, 1, 1}, p.Kernels[0].Block)
	assert.Equal(t, ParamScalar, p.Kernels[0].Params[2].Kind)

	p = corpusPlans(t, "sort_donated_ffi_auto", false)[0].Plan
	assert.Equal(t, PhaseInitialize, p.Trials.Phase)
	require.Len(t, p.Buffers, 4)
	assert.Equal(t, Bystander, p.Buffers[3].Role, "the donated parameter lies under the result")
	assert.Equal(t, p.Shared[2], p.Shared[3])
	assert.False(t, p.Buffers[0].Ready, "x * 2 is computed")
	assert.True(t, p.Buffers[1].Ready)
	assert.True(t, p.Buffers[3].Ready)

	p = corpusPlans(t, "histogram", false)[0].Plan
	assert.Equal(t, []Zero{{Buffer: 1, Bytes: 2048}}, p.Kernels[0].Zero)

	p = corpusPlans(t, "tma_copy", false)[0].Plan
	last := p.Kernels[0].Params[len(p.Kernels[0].Params)-2:]
	assert.Equal(t, ParamScratch, last[0].Kind)
	assert.Positive(t, last[0].Bytes)
	assert.Equal(t, ParamNull, last[1].Kind)

	p = corpusPlans(t, "reverse_apart", true)[0].Plan
	assert.Equal(t, p.Shared[0], p.Shared[1], "forced")
}

// corpusExpectation is what testdata/dumps/README.md says of a case, as far as a
// replay can show it. force puts an operand and a result in one place that the
// assignment has apart (AC202).
type corpusExpectation struct {
	name  string
	force bool
	want  map[string]string
}

func corpusExpectations() []corpusExpectation {
	sharing := func(name string, force bool, confirmation string) corpusExpectation {
		return corpusExpectation{name, force, map[string]string{"AC201": confirmation, "AC901": "unconfirmed", "AC203": "unconfirmed", "AC206": "unconfirmed"}}
	}
	yes, no := "confirmed", "unconfirmed"
	list := []corpusExpectation{
		{"late_copy", false, map[string]string{"AC901": yes}},
		{"lost_phase", false, map[string]string{"AC902": yes, "AC903": no}},
		{"stray_read", false, map[string]string{"AC903": yes, "AC902": no}},
		{"operand_written", false, map[string]string{"AC203": yes, "AC901": no}},
		{"scale_inplace_auto_untold", false, map[string]string{"AC301": yes, "AC201": no}},
		{"scale_inplace_auto_told", false, map[string]string{"AC301": no, "AC201": no}},
		{"scale_inplace_auto_rawindex_ffi", false, map[string]string{"AC301": no, "AC201": no}},
		{"axpby_second_auto_raw_ffi", false, map[string]string{"AC301": no, "AC201": no}},
		{"sort_claimed_auto_untold", false, map[string]string{"AC301": no, "AC201": no}},
		{"sort_claimed_v2_auto", false, map[string]string{"AC301": no, "AC201": no}},
		{"sort_donated_ffi_auto", false, map[string]string{"AC302": yes, "AC303": no}},
		{"sort_kept_ffi_auto", false, map[string]string{"AC302": no, "AC303": no}},
		{"sort_unclaimed_ffi_auto", false, map[string]string{"AC302": no, "AC303": no}},
		{"sort_computed_map_ffi_auto", false, map[string]string{"AC303": yes, "AC903": no}},
		{"sort_computed_map_v2_auto", false, map[string]string{"AC301": no, "AC201": no}},
	}
	for _, name := range []string{"sort_inplace_declared", "reverse_inplace", "stencil_inplace", "matmul_inplace"} {
		list = append(list, sharing(name, false, yes))
	}
	for _, name := range []string{"softmax_inplace", "scale_inplace", "axpby_inplace", "histogram", "tma_copy", "transformer_step",
		"sort_in_loop", "sort_in_cond", "sort_donated", "sort_probs_half_claimed", "sort_unclaimed_ffi", "sort_unclaimed_v2_auto",
		"reverse_apart", "scale_apart", "matmul_apart", "transpose_apart"} {
		list = append(list, sharing(name, false, no))
	}
	for _, name := range []string{"reverse_apart", "matmul_apart", "transpose_apart", "sort_unclaimed_ffi", "sort_donated"} {
		list = append(list, sharing(name, true, yes))
	}
	return append(list, sharing("scale_apart", true, no))
}

// What is expected of the corpus is what an H200 showed.
func TestCorpusExpectationsAreOnRecord(t *testing.T) {
	for _, e := range corpusExpectations() {
		seen := 0
		for _, r := range readRecord(t) {
			if r.name() != e.name || r.forced() != e.force {
				continue
			}
			seen++
			for code, want := range e.want {
				assert.Equal(t, want, r.Verdicts[code], "%s %s", r.Call, code)
			}
		}
		assert.Positive(t, seen, e.name)
	}
}

// recordRow is one replay of testdata/h200_verdicts.json.
type recordRow struct {
	Call     string            `json:"call"`
	Verdicts map[string]string `json:"verdicts"`
}

func (r recordRow) name() string { return strings.SplitN(r.Call, ":", 2)[0] }
func (r recordRow) forced() bool { return strings.HasSuffix(r.Call, ", shared by force") }

func readRecord(t *testing.T) []recordRow {
	t.Helper()
	b, err := os.ReadFile("testdata/h200_verdicts.json")
	require.NoError(t, err)
	var rows []recordRow
	require.NoError(t, json.Unmarshal(b, &rows))
	return rows
}

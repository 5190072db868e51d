package cudarun

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"aliascheck/cudarun/driver"
	"aliascheck/hlo"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const testElements = 1000

// ramp is 1, 2, 3, ... as f32.
func ramp(n int) []byte {
	b := make([]byte, 0, 4*n)
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(i+1)))
	}
	return b
}

// pairPlan is a kernel with one operand and one result of n floats; where shared,
// both in one place.
func pairPlan(entry string, n int, shared, claimed bool) Plan {
	bytes := int64(4 * n)
	p := Plan{
		Name: entry,
		Kernels: []Kernel{{
			Entry: entry, PTX: []byte("// a fake kernel"), Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1},
			Params: []Param{{Kind: ParamBuffer, Divisibility: 16}, {Kind: ParamBuffer, Buffer: 1}, {Kind: ParamScalar, Scalar: u32(uint32(n))}},
		}},
		Buffers: []Buffer{
			{Label: "operand 0", Role: Operand, Bytes: bytes, Element: "f32", Claims: NoBuffer, Contents: ramp(n)},
			{Label: "result {}", Role: Result, Bytes: bytes, Element: "f32", Claims: NoBuffer},
		},
		Shared: []replay.Place{{Group: 0}, {Group: 1}},
	}
	if claimed {
		p.Buffers[1].Claims = 0
	}
	if shared {
		p.Shared[1].Group = 0
	}
	return p
}

// replayOn replays a plan on a device and checks that nothing is left on it.
func replayOn(t *testing.T, d *fakeDevice, p Plan) (Outcome, error) {
	t.Helper()
	out := Outcome{Plan: p.Name}
	err := replayPlan(d, &p, time.Second, func(string) {}, &out)
	if !d.lost {
		assert.Empty(t, d.leaks(), "left on the device")
		if err == nil {
			assert.Equal(t, out.FreeBefore, out.FreeAfter)
		}
	}
	return out, err
}

func replayFake(t *testing.T, p Plan) *Outcome {
	t.Helper()
	out, err := replayOn(t, newFake(), p)
	require.NoError(t, err)
	return &out
}

func TestSharing(t *testing.T) {
	for _, c := range []struct {
		name         string
		plan         Plan
		confirmation string
		shared       int64 // wrong elements on the whole card
		confined     int64
	}{
		{"safe in place", pairPlan("scale", testElements, true, true), "unconfirmed", 0, 0},
		{"reversal in place", pairPlan("reverse", testElements, true, true), "confirmed", 500, 500},
		{"reversal in place, not declared", pairPlan("reverse", testElements, true, false), "confirmed", 500, 500},
		{"reversal apart", pairPlan("reverse", testElements, false, true), "unconfirmed", 0, 0},
		{"a hazard that the whole card hides", pairPlan("hidden", testElements, true, true), "confirmed", 0, 500},
		{"adds to its claimed result", pairPlan("add", testElements, true, true), "unconfirmed", 0, 0},
		{"writes half of its claimed result", pairPlan("half", testElements, true, true), "unconfirmed", 0, 0},
		{"writes half of an unclaimed result", pairPlan("half", testElements, true, false), "unconfirmed", 0, 0},
		{"an odd number of elements", pairPlan("reverse", 1001, true, true), "confirmed", 500, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := replayFake(t, c.plan)
			got := out.Configurations[0]
			if len(got.Apart.Unwritten) == 0 {
				assert.Equal(t, 3, got.Apart.Runs)
			}
			assert.Equal(t, 5, got.Shared.Runs)
			assert.Equal(t, 5, got.Confined.Runs)
			assert.Equal(t, 8, got.Confined.SMs)
			assert.Equal(t, c.shared, got.Shared.Most)
			assert.Equal(t, c.shared, got.Shared.Least)
			assert.Equal(t, c.confined, got.Confined.Most)
			v := out.Verdict(replay.PairShared, NoBuffer)
			assert.Equal(t, c.confirmation, v.Confirmation, v.Reason)
			if c.confirmation == "confirmed" {
				require.NotNil(t, got.Control)
				assert.Equal(t, 10, got.Control.Runs)
				assert.Zero(t, got.Control.Differing)
			} else {
				assert.Nil(t, got.Control)
			}
		})
	}
}

func TestDifferenceTellsWhere(t *testing.T) {
	out := replayFake(t, pairPlan("reverse", 1024, true, true))
	d := out.Configurations[0].Shared.Worst[0]
	assert.Equal(t, "result {}", d.Label)
	assert.Equal(t, int64(512), d.Count)
	assert.Equal(t, int64(1024), d.Of)
	assert.Equal(t, int64(512), d.First, "the second half reads what the first half wrote")
	require.Len(t, d.Places, maxSpots)
	assert.Equal(t, Spot{Index: 512, Want: "00000044", Got: "00400044"}, d.Places[0])
	assert.InDelta(t, 1023, d.Largest, 0)
	require.Len(t, d.Map, mapCells)
	sum := int64(0)
	for i, n := range d.Map {
		sum += n
		if i < mapCells/2 {
			assert.Zero(t, n)
		}
	}
	assert.Equal(t, d.Count, sum)
}

func TestPartialOverlap(t *testing.T) {
	p := pairPlan("scale", testElements, true, false)
	p.Kernels[0].Params[0].Divisibility = 0
	p.Shared = replay.Places([]hlo.Slice{{Allocation: 1, Offset: 1024, Size: 4000}, {Allocation: 1, Offset: 1028, Size: 4000}}, layoutAlign)
	assert.Equal(t, []replay.Place{{}, {Offset: 4}}, p.Shared)
	out := replayFake(t, p)
	assert.Equal(t, int64(testElements-1), out.Configurations[0].Shared.Most, "each write spoils the next read")
	assert.Equal(t, "confirmed", out.Verdict(replay.PairShared, NoBuffer).Confirmation)
}

func TestAlignmentThatJaxlibRefuses(t *testing.T) {
	p := pairPlan("scale", testElements, true, false)
	p.Shared = []replay.Place{{Offset: 4}, {}}
	_, err := replayOn(t, newFake(), p)
	assert.ErrorContains(t, err, "not divisible by 16")
}

func TestApart(t *testing.T) {
	for _, c := range []struct {
		name, entry string
		claimed     bool
		verdicts    map[string]string
	}{
		{"healthy", "scale", false, map[string]string{
			"AC203": "unconfirmed", "AC204": "unconfirmed", "AC205": "unconfirmed", "AC206": "unconfirmed",
			"AC901": "unconfirmed", "AC902": "unconfirmed", "AC903": "unconfirmed", "AC301": "unchecked", "AC401": "unchecked"}},
		{"changes its operand", "mutate", false, map[string]string{"AC203": "confirmed", "AC206": "unconfirmed", "AC901": "unconfirmed"}},
		{"changes its claimed operand", "mutate", true, map[string]string{"AC203": "unconfirmed"}},
		{"writes half", "half", false, map[string]string{"AC204": "confirmed", "AC205": "unconfirmed", "AC901": "unconfirmed"}},
		{"writes half of what it claims", "half", true, map[string]string{"AC204": "unconfirmed"}},
		{"reads its result", "add", false, map[string]string{"AC204": "unconfirmed", "AC205": "confirmed", "AC901": "unconfirmed"}},
		{"is not deterministic", "flaky", false, map[string]string{"AC204": "unconfirmed", "AC205": "unconfirmed", "AC901": "confirmed"}},
		{"writes outside", "stray", false, map[string]string{"AC206": "confirmed", "AC203": "unconfirmed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pairPlan(c.entry, testElements, false, c.claimed)
			p.Shared = nil
			out := replayFake(t, p)
			for code, want := range c.verdicts {
				v := out.Verdict(question(code), NoBuffer)
				assert.Equal(t, want, v.Confirmation, "%s: %s", code, v.Reason)
			}
			assert.Equal(t, "unchecked", out.Verdict(replay.PairShared, NoBuffer).Confirmation, "no shared layout")
		})
	}
}

func TestApartTellsWhat(t *testing.T) {
	p := pairPlan("half", testElements, false, false)
	d := replayFake(t, p).Configurations[0].Apart.Unwritten[0]
	assert.Equal(t, "bytes", d.Unit)
	assert.Equal(t, int64(2000), d.Count)
	assert.Equal(t, int64(2000), d.First)

	p = pairPlan("mutate", testElements, false, false)
	d = replayFake(t, p).Configurations[0].Apart.Changed[0]
	assert.Equal(t, int64(testElements), d.Count)
	assert.Equal(t, 0, d.Buffer)

	p = pairPlan("stray", testElements, false, false)
	assert.Equal(t, []GuardBreak{
		{Buffer: 0, Label: "operand 0", Side: "before", Bytes: 4, Nearest: 1},
		{Buffer: 1, Label: "result {}", Side: "after", Bytes: 4, Nearest: 9},
	}, replayFake(t, p).Configurations[0].Apart.Guards)
}

func TestZeroedResult(t *testing.T) {
	p := pairPlan("add", testElements, false, false)
	p.Kernels[0].Zero = []Zero{{Buffer: 1, Bytes: 4 * testElements}}
	out := replayFake(t, p)
	assert.Equal(t, "unconfirmed", out.Verdict(replay.ReadFirst, NoBuffer).Confirmation)
}

// A kernel without a pointer to its claimed result writes through its operand's.
func TestClaimedResultWithoutPointer(t *testing.T) {
	p := pairPlan("inside", testElements, true, true)
	p.Kernels[0].Params = []Param{{Kind: ParamBuffer}, {Kind: ParamScalar, Scalar: u32(testElements)}}
	out := replayFake(t, p)
	assert.Equal(t, []int{1}, out.Configurations[0].Apart.NoApart)
	assert.Equal(t, "unconfirmed", out.Verdict(replay.PairShared, NoBuffer).Confirmation)
	assert.Equal(t, "unconfirmed", out.Verdict(replay.Changed, NoBuffer).Confirmation)
	assert.Equal(t, "unconfirmed", out.Verdict(replay.Unwritten, NoBuffer).Confirmation)
}

func TestFloatAtomics(t *testing.T) {
	p := pairPlan("sum", testElements, true, false)
	strict := replayFake(t, p)
	assert.Equal(t, "confirmed", strict.Verdict(replay.Unstable, NoBuffer).Confirmation)
	p.FloatAtomics = true
	out := replayFake(t, p)
	assert.True(t, out.Configurations[0].Apart.WithinTolerance)
	assert.Contains(t, out.Verdict(replay.Unstable, NoBuffer).Reason, "floating-point atomics explain it")
	assert.Equal(t, "unconfirmed", out.Verdict(replay.PairShared, NoBuffer).Confirmation)
	p = pairPlan("reverse", testElements, true, false)
	p.FloatAtomics = true
	assert.Equal(t, "confirmed", replayFake(t, p).Verdict(replay.PairShared, NoBuffer).Confirmation, "beyond the tolerance")
}

// A kernel that is not deterministic never confirms that sharing hurts it.
func TestNondeterminismBlocksConfirmation(t *testing.T) {
	p := pairPlan("flaky", testElements, true, true)
	out := replayFake(t, p)
	v := out.Verdict(replay.PairShared, NoBuffer)
	assert.Equal(t, "unconfirmed", v.Confirmation, v.Reason)
}

// Every configuration is replayed, and one that cannot be does not hide the others.
func TestConfigurations(t *testing.T) {
	p := pairPlan("scale", testElements, true, true)
	second, third := p.Kernels[0], p.Kernels[0]
	second.PTX = []byte("bad")
	third.Entry = "reverse"
	p.Kernels = append(p.Kernels, second, third)
	out := replayFake(t, p)
	require.Len(t, out.Configurations, 3)
	v := out.Verdict(replay.PairShared, NoBuffer)
	assert.Equal(t, "confirmed", v.Confirmation)
	assert.Contains(t, v.Reason, "configuration 2")
}

// A kernel that takes its operand through a TMA descriptor.
func TestDescriptorParameter(t *testing.T) {
	p := pairPlan("described", testElements, true, true)
	p.Kernels[0].Params[0] = Param{Kind: ParamTensor, Tensors: []Tensor{{Map: &driver.TensorMap{DataType: 7, Rank: 1, Dims: []uint64{testElements},
		Strides: []uint64{}, Box: []uint32{8}, ElementStrides: []uint32{1}}}}}
	out := replayFake(t, p)
	assert.Equal(t, "unconfirmed", out.Verdict(replay.PairShared, NoBuffer).Confirmation)
	p.Kernels[0].Params[0].Tensors[0].Map.Box[0] = 257
	_, err := replayOn(t, newFake(), p)
	assert.ErrorContains(t, err, "parameter 0: "+driver.EncodeTiled)
}

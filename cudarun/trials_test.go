package cudarun

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"aliascheck/rules/replay"
)

// tuned is scale in place with two configurations.
func tuned(entries ...SaveEntry) Plan {
	p := pairPlan("scale", testElements, true, true)
	p.Kernels = append(p.Kernels, p.Kernels[0])
	p.Trials = &Trials{Phase: PhaseExecute, Entries: entries}
	return p
}

func TestTrials(t *testing.T) {
	const whole = 4 * testElements
	for _, c := range []struct {
		name         string
		entries      []SaveEntry
		confirmation string
		idle         string
	}{
		{"no entry", nil, "confirmed", ""},
		{"rightly told", []SaveEntry{{0, 1, whole}}, "unconfirmed", ""},
		{"a number that is right by luck", []SaveEntry{{0, 0, whole}}, "unconfirmed", ""},
		{"another buffer", []SaveEntry{{1, 0, whole}}, "confirmed", "is no operand"},
		{"no such buffer", []SaveEntry{{0, 7, whole}}, "confirmed", "2 buffers"},
		{"a negative number", []SaveEntry{{-1, 1, whole}}, "confirmed", "2 buffers"},
		{"half of it", []SaveEntry{{0, 1, whole / 2}}, "confirmed", ""},
		{"more than there is", []SaveEntry{{0, 1, 2 * whole}}, "confirmed", "8000 bytes of a buffer of 4000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := replayFake(t, tuned(c.entries...))
			v := out.Verdict(replay.Tuning, NoBuffer)
			assert.Equal(t, c.confirmation, v.Confirmation, v.Reason)
			assert.Equal(t, 2*2+2*4, out.Trials.Launches, "each twice, then each once and three times")
			assert.Empty(t, out.Trials.AllSaved.Results)
			assert.NotEmpty(t, out.Trials.NoneSaved.Results)
			if c.idle != "" {
				require.Len(t, out.Trials.Idle, 1)
				assert.Contains(t, out.Trials.Idle[0].Reason, c.idle)
			}
		})
	}
}

func TestTrialsSaveByAddress(t *testing.T) {
	p := tuned(SaveEntry{0, 1, 4 * testElements})
	p.Shared[1].Group = 1
	out := replayFake(t, p)
	require.Len(t, out.Trials.Idle, 1)
	assert.Contains(t, out.Trials.Idle[0].Reason, "different addresses")
}

// A result whose slice is a parameter's: trials in the initialize phase overwrite
// the parameter before the program reads it.
func TestTrialsOverwriteParameter(t *testing.T) {
	p := pairPlan("scale", testElements, false, false)
	p.Buffers = append(p.Buffers, Buffer{Label: "parameter 0", Role: Bystander, Bytes: 4 * testElements, Element: "f32",
		Claims: NoBuffer, Contents: ramp(testElements), Ready: true})
	p.Shared = []replay.Place{{Group: 0}, {Group: 1}, {Group: 1}}
	p.Trials = &Trials{Phase: PhaseInitialize}
	out := replayFake(t, p)
	v := out.Verdict(replay.Overwrites, 2)
	assert.Equal(t, "confirmed", v.Confirmation, v.Reason)
	assert.Equal(t, int64(testElements), out.Trials.AsWritten.Overwritten[0].Count)
	assert.Equal(t, "unconfirmed", out.Verdict(replay.Overwrites, 0).Confirmation, "another buffer")
	assert.Empty(t, out.Trials.AsWritten.Results, "its operand is computed after the trials")

	p.Shared[2].Group = 2
	v = replayFake(t, p).Verdict(replay.Overwrites, 2)
	assert.Equal(t, "unconfirmed", v.Confirmation, v.Reason)
}

// gatherPlan takes its addresses from operand 1.
func gatherPlan(ready bool) Plan {
	indices := make([]byte, 0, 4*testElements)
	for i := range testElements {
		indices = binary.LittleEndian.AppendUint32(indices, uint32(testElements-1-i))
	}
	p := pairPlan("gather", testElements, false, false)
	p.Kernels[0].Params = []Param{{Kind: ParamBuffer}, {Kind: ParamBuffer, Buffer: 1}, {Kind: ParamBuffer, Buffer: 2}, {Kind: ParamScalar, Scalar: u32(testElements)}}
	p.Buffers = []Buffer{p.Buffers[0], {Role: Operand, Bytes: 4 * testElements, Element: "s32", Claims: NoBuffer, Contents: indices, Ready: ready}, p.Buffers[1]}
	p.Buffers[0].Ready = true
	p.Shared = []replay.Place{{Group: 0}, {Group: 1}, {Group: 2}}
	p.Trials = &Trials{Phase: PhaseInitialize}
	return p
}

func TestTrialsOnWhatIsNotComputedYet(t *testing.T) {
	out, err := replayOn(t, newFake(), gatherPlan(false))
	require.ErrorIs(t, err, errLost)
	v := out.Verdict(replay.RunsWild, NoBuffer)
	assert.Equal(t, "confirmed", v.Confirmation, v.Reason)
	assert.Equal(t, StopFault, out.Trials.AsWritten.Stop.Kind)
	assert.Equal(t, "unconfirmed", out.Verdict(replay.Faults, NoBuffer).Confirmation, "apart it ended well")

	v = replayFake(t, gatherPlan(true)).Verdict(replay.RunsWild, NoBuffer)
	assert.Equal(t, "unconfirmed", v.Confirmation, v.Reason)
	p := gatherPlan(false)
	p.Trials.Phase = PhaseExecute
	v = replayFake(t, p).Verdict(replay.RunsWild, NoBuffer)
	assert.Equal(t, "unchecked", v.Confirmation, v.Reason)
	assert.Contains(t, v.Reason, "its operands are there")
}

func TestTrialsOfWhatDoesNotLoad(t *testing.T) {
	p := tuned()
	p.Kernels[1].PTX = []byte("bad")
	out := replayFake(t, p)
	v := out.Verdict(replay.Tuning, NoBuffer)
	assert.Equal(t, "unchecked", v.Confirmation)
	assert.Contains(t, v.Reason, "configuration 1")
}

package cudarun

import (
	"testing"

	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStops(t *testing.T) {
	for _, c := range []struct {
		entry    string
		verdicts map[string]string
		kind     StopKind
		mode     Mode
	}{
		{"fault", map[string]string{"AC903": "confirmed", "AC902": "unconfirmed", "AC201": "unchecked", "AC203": "unchecked"}, StopFault, ModeApart},
		{"hang", map[string]string{"AC902": "confirmed", "AC903": "unconfirmed", "AC201": "unchecked"}, StopHang, ModeApart},
		// blocks that wait for each other do not fit on a part of the card: our doing
		{"crowd", map[string]string{"AC902": "unconfirmed", "AC201": "unconfirmed"}, StopHang, ModeConfined},
	} {
		t.Run(c.entry, func(t *testing.T) {
			out, err := replayOn(t, newFake(), pairPlan(c.entry, testElements, true, true))
			require.ErrorIs(t, err, errLost)
			require.NotNil(t, out.Configurations[0].Stop)
			assert.Equal(t, c.kind, out.Configurations[0].Stop.Kind)
			assert.Equal(t, c.mode, out.Configurations[0].Stop.Mode)
			for code, want := range c.verdicts {
				v := out.Verdict(question(code), NoBuffer)
				assert.Equal(t, want, v.Confirmation, "%s: %s", code, v.Reason)
			}
		})
	}
}

// A launch that the driver refuses is no fault of the kernel's.
func TestRefusedLaunch(t *testing.T) {
	_, err := replayOn(t, newFake(), pairPlan("refused", testElements, true, true))
	require.Error(t, err)
	assert.NotErrorIs(t, err, errLost)
}

func TestNoGreenContexts(t *testing.T) {
	d := newFake()
	d.noParts = true
	out, err := replayOn(t, d, pairPlan("reverse", testElements, true, true))
	require.NoError(t, err)
	assert.Equal(t, 0, out.Configurations[0].Confined.Runs)
	assert.Contains(t, out.Configurations[0].Confined.Reason, "green contexts")
	assert.Equal(t, "confirmed", out.Verdict(replay.PairShared, NoBuffer).Confirmation)
}

func TestFullCard(t *testing.T) {
	d := newFake()
	d.total = 1 << 17
	_, err := replayOn(t, d, pairPlan("scale", testElements, true, true))
	assert.ErrorContains(t, err, "the card is full")
}

func TestCodeForAnotherCard(t *testing.T) {
	p := pairPlan("scale", testElements, true, true)
	p.Kernels[0].PTX = []byte(".version 8.7\n.target sm_100a\n.address_size 64\n")
	out := replayFake(t, p)
	assert.Contains(t, out.Configurations[0].Reason, "sm_100a")
	v := out.Verdict(replay.PairShared, NoBuffer)
	assert.Equal(t, "unchecked", v.Confirmation)
	assert.Contains(t, v.Reason, "sm_100a")

	p.Kernels[0].Cubin, p.Kernels[0].Capability = []byte("cubin"), 90
	assert.Empty(t, replayFake(t, p).Configurations[0].Reason, "the cubin fits")
	p.Kernels[0].PTX, p.Kernels[0].Cubin = []byte("bad"), nil
	assert.Contains(t, replayFake(t, p).Configurations[0].Reason, "CUDA_ERROR_218")
}

func TestPTXFits(t *testing.T) {
	for _, c := range []struct {
		target string
		card   int
		fits   bool
	}{
		{"sm_90a", 90, true}, {"sm_90a", 100, false}, {"sm_90a", 80, false}, {"sm_90", 100, true}, {"sm_90", 80, false},
		{"sm_100f", 103, true}, {"sm_100f", 120, false}, {"sm_100f", 90, false}, {"nonsense", 90, true}, {"sm_90a, texmode_independent", 90, true},
	} {
		got := ptxFits([]byte("// x\n.version 8.0\n.target "+c.target+"\n"), c.card)
		assert.Equal(t, c.fits, got == "", "%s on %d: %s", c.target, c.card, got)
	}
}

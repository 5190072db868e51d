package confirm

import (
	"encoding/json"
	"testing"

	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
)

func TestJoinEmulated(t *testing.T) {
	differing := func(n int64) []replay.Run {
		return []replay.Run{{Order: "forward", Differing: []replay.Differ{{Elements: n, Of: 8}}}}
	}
	for _, tt := range []struct {
		name    string
		shown   replay.Emulation
		witness *replay.Witness
		want    replay.Confirmation
		reason  string
	}{
		{"it differs", replay.Emulation{Runs: differing(3)}, nil, replay.Confirmed, "of 8 elements of the result, 3 (forward) differ"},
		{"a witness alone", replay.Emulation{Runs: differing(0)}, &replay.Witness{}, replay.Confirmed, "no element differs"},
		{"a witness and opaque values", replay.Emulation{Reason: "opaque"}, &replay.Witness{}, replay.Confirmed, "no replay: opaque"},
		{"tried and not seen", replay.Emulation{Runs: differing(0)}, nil, replay.Unconfirmed, "no element differs"},
		{"not tried", replay.Emulation{Reason: "too large"}, nil, replay.Unchecked, "too large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := replay.Claim{Confirmation: replay.Unchecked, Evidence: &replay.Evidence{Emulated: &replay.Emulated{Witness: tt.witness}}}
			join(&c, &replay.Answer{Emulated: &tt.shown})
			assert.Equal(t, tt.want, c.Confirmation)
			assert.Contains(t, c.Reason, tt.reason)
		})
	}
}

// What a card showed is joined with what the machine said: the stronger verdict
// stands, and no machine's proof is lost.
func TestJoinCard(t *testing.T) {
	const h200 = "on an NVIDIA H200: "
	evidence := json.RawMessage(`{"key":"k"}`)
	for _, tt := range []struct {
		name          string
		machine       replay.Confirmation
		machineReason string
		card          replay.Confirmation
		where         string
		evidence      json.RawMessage
		want          replay.Confirmation
		reason        string
	}{
		{"both", replay.Confirmed, "a witness", replay.Confirmed, h200, evidence, replay.Confirmed, "a witness; on an NVIDIA H200: R"},
		{"the machine alone", replay.Confirmed, "a witness", replay.Unconfirmed, h200, evidence, replay.Confirmed, "a witness; on an NVIDIA H200: R"},
		{"the card alone", replay.Unconfirmed, "no element differs", replay.Confirmed, h200, evidence, replay.Confirmed, "on an NVIDIA H200: R; no element differs"},
		{"the card, not run before", replay.Unchecked, "the kernel was not run", replay.Confirmed, h200, evidence, replay.Confirmed, "on an NVIDIA H200: R"},
		{"the card did not see it", replay.Unchecked, "the kernel was not run", replay.Unconfirmed, h200, evidence, replay.Unconfirmed, "on an NVIDIA H200: R"},
		{"the card against a proof", replay.Refuted, "every read comes first", replay.Confirmed, h200, evidence, replay.Confirmed, "on an NVIDIA H200: R; every read comes first"},
		{"a proof that stays", replay.Refuted, "every read comes first", replay.Unconfirmed, h200, evidence, replay.Refuted, "every read comes first; on an NVIDIA H200: R"},
		{"no plan", replay.Unchecked, "the kernel was not run", replay.Unchecked, "not replayed on a GPU: ", nil, replay.Unchecked, "not replayed on a GPU: R"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := replay.Claim{Confirmation: tt.machine, Reason: tt.machineReason}
			join(&c, &replay.Answer{Confirmation: tt.card, Reason: "R", Where: tt.where, GPU: tt.evidence})
			assert.Equal(t, tt.want, c.Confirmation)
			assert.Equal(t, tt.reason, c.Reason)
			if tt.evidence == nil {
				assert.Nil(t, c.Evidence)
				return
			}
			assert.Equal(t, tt.evidence, c.Evidence.GPU)
		})
	}
}

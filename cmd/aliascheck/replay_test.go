package main

import (
	"encoding/json"
	"testing"

	"aliascheck/cudarun"
	"aliascheck/rules"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a card showed is joined with what the machine said: the stronger verdict
// stands, and no machine's proof is lost.
func TestJoin(t *testing.T) {
	evidence := func() *gpuEvidence {
		return &gpuEvidence{Outcome: cudarun.Outcome{Key: "k", Device: &cudarun.DeviceInfo{Name: "NVIDIA H200"}}, Layout: layoutAsIs}
	}
	for _, c := range []struct {
		name          string
		machine       rules.Confirmation
		machineReason string
		card          string
		evidence      *gpuEvidence
		want          rules.Confirmation
		reason        string
	}{
		{"both", rules.Confirmed, "a witness", "confirmed", evidence(), rules.Confirmed, "a witness; on an NVIDIA H200: R"},
		{"the machine alone", rules.Confirmed, "a witness", "unconfirmed", evidence(), rules.Confirmed, "a witness; on an NVIDIA H200: R"},
		{"the card alone", rules.Unconfirmed, "no element differs", "confirmed", evidence(), rules.Confirmed, "on an NVIDIA H200: R; no element differs"},
		{"the card, not run before", rules.Unchecked, "the kernel was not run", "confirmed", evidence(), rules.Confirmed, "on an NVIDIA H200: R"},
		{"the card did not see it", rules.Unchecked, "the kernel was not run", "unconfirmed", evidence(), rules.Unconfirmed, "on an NVIDIA H200: R"},
		{"the card against a proof", rules.Refuted, "every read comes first", "confirmed", evidence(), rules.Confirmed, "on an NVIDIA H200: R; every read comes first"},
		{"a proof that stays", rules.Refuted, "every read comes first", "unconfirmed", evidence(), rules.Refuted, "every read comes first; on an NVIDIA H200: R"},
		{"no plan", rules.Unchecked, "the kernel was not run", "unchecked", nil, rules.Unchecked, "not replayed on a GPU: R"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := rules.Finding{Confirmation: c.machine, ConfirmationReason: c.machineReason}
			(&gpuEffects{}).join(&f, cudarun.Verdict{Confirmation: c.card, Reason: "R"}, c.evidence)
			assert.Equal(t, c.want, f.Confirmation)
			assert.Equal(t, c.reason, f.ConfirmationReason)
			if c.evidence == nil {
				assert.Nil(t, f.Evidence)
				return
			}
			var o cudarun.Outcome
			require.NoError(t, json.Unmarshal(f.Evidence.GPU, &o), "the report reads it as an outcome")
			assert.Equal(t, "k", o.Key)
		})
	}
}

func TestGPUFlags(t *testing.T) {
	good := gpuFlags{devices: []int{0}, timeout: 1}
	assert.NoError(t, good.check())
	for _, bad := range []gpuFlags{{timeout: 0}, {timeout: 1, budget: -1}, {timeout: 1, devices: []int{-1}}, {timeout: 1, sanitize: []string{"x"}}} {
		assert.Error(t, bad.check())
	}
}

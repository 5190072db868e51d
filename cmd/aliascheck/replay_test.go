package main

import (
	"context"
	"testing"

	"aliascheck/rules"

	"github.com/stretchr/testify/assert"
)

// TestSuggestCard: nothing runs on a card unasked, and the report says where one could help.
func TestSuggestCard(t *testing.T) {
	r := &rules.Report{Findings: []rules.Finding{
		{Code: "AC201", Confirmation: rules.Unchecked, ConfirmationReason: "the kernel was not run"},
		{Code: "AC201", Confirmation: rules.Confirmed, ConfirmationReason: "seen"},
		{Code: "AC104", Confirmation: rules.Unchecked},
	}}
	suggestCard(r)
	assert.Equal(t, "the kernel was not run; a GPU is here, and --replay gpu may show more", r.Findings[0].ConfirmationReason)
	assert.Equal(t, "seen", r.Findings[1].ConfirmationReason)
	assert.Empty(t, r.Findings[2].ConfirmationReason)
	g := gpuFlags{timeout: 1}
	for _, mode := range []string{"auto", "emulate", "off"} {
		engine, err := g.open(context.Background(), mode, "", nil)
		assert.NoError(t, err)
		assert.Nil(t, engine, mode)
	}
}

func TestGPUFlags(t *testing.T) {
	good := gpuFlags{devices: []int{0}, timeout: 1}
	assert.NoError(t, good.check())
	for _, bad := range []gpuFlags{{timeout: 0}, {timeout: 1, budget: -1}, {timeout: 1, devices: []int{-1}}, {timeout: 1, sanitize: []string{"x"}}} {
		assert.Error(t, bad.check())
	}
}

package main

import (
	"context"
	"testing"

	"aliascheck/cmd/aliascheck/audit"
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
	audit.SuggestCard(r)
	assert.Equal(t, "the kernel was not run; a GPU is here, and --replay gpu may show more", r.Findings[0].ConfirmationReason)
	assert.Equal(t, "seen", r.Findings[1].ConfirmationReason)
	assert.Empty(t, r.Findings[2].ConfirmationReason)
	g := audit.GPUFlags{Timeout: 1}
	for _, mode := range []string{"auto", "emulate", "off"} {
		engine, err := g.Open(context.Background(), mode, "", nil)
		assert.NoError(t, err)
		assert.Nil(t, engine, mode)
	}
}

func TestGPUFlags(t *testing.T) {
	good := audit.GPUFlags{Devices: []int{0}, Timeout: 1}
	assert.NoError(t, good.Check())
	for _, bad := range []audit.GPUFlags{{Timeout: 0}, {Timeout: 1, Budget: -1}, {Timeout: 1, Devices: []int{-1}}, {Timeout: 1, Sanitize: []string{"x"}}} {
		assert.Error(t, bad.Check())
	}
}

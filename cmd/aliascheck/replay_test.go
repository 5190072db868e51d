package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGPUFlags(t *testing.T) {
	good := gpuFlags{devices: []int{0}, timeout: 1}
	assert.NoError(t, good.check())
	for _, bad := range []gpuFlags{{timeout: 0}, {timeout: 1, budget: -1}, {timeout: 1, devices: []int{-1}}, {timeout: 1, sanitize: []string{"x"}}} {
		assert.Error(t, bad.check())
	}
}

package cudarun

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWorkersGetOnlyWhatTheyNeed(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "secret")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("LD_PRELOAD", "/tmp/x.so")
	t.Setenv("CUDA_VISIBLE_DEVICES", "1")
	got := workerEnvironment()
	assert.Contains(t, got, "CUDA_VISIBLE_DEVICES=1")
	for _, entry := range got {
		assert.NotContains(t, entry, "secret")
		assert.NotContains(t, entry, "LD_PRELOAD")
	}
}

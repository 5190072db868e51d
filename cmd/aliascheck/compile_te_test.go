package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aliascheck/rules"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCompileTransformerEngine audits kernels of real size: programs of Transformer
// Engine's token permutation, compiled from PyPI's wheel for a GPU that is not there.
// Three of them, or with ALIASCHECK_TE=all the twenty, which are then held to a time.
func TestCompileTransformerEngine(t *testing.T) {
	s := newCompileSuite(t)
	venv, ok := s.venvs["jax-0.11.2"]
	if !ok {
		t.Skip("no virtual environment with JAX 0.11.2")
	}
	packages, dump := t.TempDir(), t.TempDir()
	python := filepath.Join(venv, "bin", "python")
	pip := exec.Command(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target", packages,
		"transformer-engine==2.20.2", "triton==3.6.0", "packaging==25.0")
	if out, err := pip.CombinedOutput(); err != nil {
		t.Skipf("transformer-engine cannot be fetched: %v: %s", err, bytes.TrimSpace(out))
	}
	names, count := "dispatch_pad_probs,combine_pad_merge_grad,sort_probs", 3
	if os.Getenv("ALIASCHECK_TE") == "all" {
		names, count = "", 20
	}
	dir, err := filepath.Abs("../../testdata/transformer_engine")
	require.NoError(t, err)
	cmd := exec.Command(s.binary, "compile", "--quiet", "--python", python, "--target", "h200", "--replay", "off",
		"--dump-dir", dump, "--keep", "all", "permutation.py:programs")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PERMUTATION_PROGRAMS="+names, "PYTHONPATH="+packages, "PYTHONDONTWRITEBYTECODE=1",
		"TRITON_CACHE_DIR="+t.TempDir(), "XLA_FLAGS=", "JAX_PLATFORMS=")
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() == 2 {
		require.NoError(t, err, "%s", out)
	}
	report, cold := s.audit(t, dump)
	assert.Equal(t, count, report.Summary.Modules)
	assert.Zero(t, report.Summary.Errors, "none of these programs was ever wrong")
	assert.Empty(t, report.Summary.Unanalysed, "no kernel is given up")
	assert.Empty(t, report.Summary.Unknown)
	sorts := 0
	for _, f := range report.Findings {
		if f.Code == "AC202" && strings.Contains(f.Kernel, "sort_chunks_by_map") {
			sorts++
		}
	}
	assert.Positive(t, sorts, "sort_chunks_by_map is not safe in place, and nothing claims its probabilities' result")
	again, warm := s.audit(t, dump)
	assert.Equal(t, report.Findings, again.Findings)
	t.Logf("%d programs: %v, and %v with what is remembered", count, cold, warm)
	if count == 20 {
		assert.Less(t, cold, time.Minute)
		assert.Less(t, warm, time.Second)
	}
}

// audit audits a dump and says how long it took.
func (s *compileSuite) audit(t *testing.T, dump string) (rules.Report, time.Duration) {
	cmd := exec.Command(s.binary, "--quiet", "--format", "json", "--fail-on", "never", "--cache-dir", s.cache, dump)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	require.NoError(t, cmd.Run(), "%s", &stderr)
	took := time.Since(start)
	var r rules.Report
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &r))
	return r, took
}

package jax

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fake is a Python that runs a shell script in the worker's place.
func fake(t *testing.T, script string) string {
	path := filepath.Join(t.TempDir(), "python")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\nread hello\n"+script), 0o700))
	return path
}

const (
	greets  = `echo '{"ready":{"jax":"0.0","device":"none","platform":"cpu"}}'` + "\n"
	answers = `echo '{"stage":"apart"}'; echo '{"outcome":{"modes":{"apart":{"results":[{"of":4,"control":0,"poison":0,"first":-1}]},"shared 0:0":{"runs":5,"differing":5,"most":2,"first":1}},"times":{}}}'` + "\n"
)

func scale() Request {
	a := Array{Type: "f32", Dims: []int64{4}, Layout: []int64{0}}
	return Request{Call: Call{Target: "Scale", APIVersion: 4, Operands: []Array{a}, Results: []Array{a}}, Pairs: []Pair{{0, 0}}}
}

func TestWorkers(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		check  func(*testing.T, *Outcome, error)
	}{
		"an outcome": {greets + "read call\n" + answers + "read end", func(t *testing.T, out *Outcome, err error) {
			require.NoError(t, err)
			assert.Equal(t, int64(2), out.Modes.Shared[Pair{0, 0}].Most)
			assert.Nil(t, out.Fault)
		}},
		"a refusal": {greets + `read call; echo '{"refused":"no such handler"}'; read end`, func(t *testing.T, _ *Outcome, err error) {
			assert.Equal(t, ErrRefused{"no such handler"}, err)
		}},
		"a hang": {greets + `read call; echo '{"stage":"shared 0:0"}'; sleep 60`, func(t *testing.T, out *Outcome, _ error) {
			require.NotNil(t, out)
			assert.True(t, out.Fault.Hang)
			assert.Equal(t, "shared 0:0", out.Fault.Mode)
		}},
		"a fault": {greets + `read call; echo '{"stage":"apart"}'; kill -SEGV $$`, func(t *testing.T, out *Outcome, _ error) {
			require.NotNil(t, out)
			assert.False(t, out.Fault.Hang)
			assert.Contains(t, out.Fault.Error, "segmentation fault")
		}},
		"a compiler that hangs": {greets + "read call; sleep 60", func(t *testing.T, out *Outcome, err error) {
			assert.Nil(t, out)
			assert.ErrorContains(t, err, "no end after")
		}},
		"no answer": {greets + "read call; echo hello", func(t *testing.T, _ *Outcome, err error) {
			assert.ErrorContains(t, err, "the worker's answer is none")
		}},
		"no JAX": {`echo '{"refused":"ModuleNotFoundError: No module named jax"}'`, func(t *testing.T, _ *Outcome, err error) {
			assert.ErrorContains(t, err, "JAX did not start: ModuleNotFoundError")
		}},
		"no Python": {"exit 3", func(t *testing.T, _ *Outcome, err error) {
			assert.ErrorContains(t, err, "exit status 3")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSession(Options{Python: fake(t, c.script), Platform: "cpu", Silence: 2 * time.Second, Dir: t.TempDir()})
			out, err := s.Ask(context.Background(), scale())
			c.check(t, out, err)
			require.NoError(t, s.Close())
			left, err := os.ReadDir(s.options.Dir)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// A call that faults costs its own worker, not the calls after it.
func TestWorkersAfterAFault(t *testing.T) {
	flag := filepath.Join(t.TempDir(), "once")
	script := greets + "read call\nif [ ! -e " + flag + " ]; then touch " + flag + `; echo '{"stage":"apart"}'; exit 9; fi` + "\n" + answers + "read end"
	s := NewSession(Options{Python: fake(t, script), Platform: "cpu", Dir: t.TempDir()})
	defer func() { require.NoError(t, s.Close()) }()
	out, _ := s.Ask(context.Background(), scale())
	require.NotNil(t, out)
	assert.NotNil(t, out.Fault)
	out, err := s.Ask(context.Background(), scale())
	require.NoError(t, err)
	assert.Nil(t, out.Fault)
	assert.Equal(t, 2, s.starts)
}

func TestCancelled(t *testing.T) {
	s := NewSession(Options{Python: fake(t, greets+"read call; sleep 60"), Platform: "cpu", Dir: t.TempDir()})
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	begin := time.Now()
	_, err := s.Ask(ctx, scale())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(begin), 20*time.Second)
	require.NoError(t, s.Close())
}

func TestCheck(t *testing.T) {
	big := scale().Call
	big.Operands = []Array{{Type: "f32", Dims: []int64{1 << 40, 1 << 40}}}
	require.ErrorContains(t, big.Check(), "is over")
	many := scale().Call
	many.Operands = make([]Array, 65)
	require.ErrorContains(t, many.Check(), "more than 64")
	old := scale().Call
	old.APIVersion = 0
	require.ErrorContains(t, old.Check(), "API version 0")
}

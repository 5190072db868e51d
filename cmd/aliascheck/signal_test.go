package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"aliascheck/cmd/aliascheck/audit"
	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// deafEngine runs its second kernel for ever, whatever its context says.
type deafEngine struct {
	replay.Engine
	runs  atomic.Int32
	begun chan struct{}
}

func (e *deafEngine) Analyse(ctx context.Context, c *replay.Case) {
	if e.runs.Add(1) == 2 {
		close(e.begun)
		select {}
	}
	e.Engine.Analyse(ctx, c)
}

// TestInterruptKeepsWhatWasFound: a signal ends an audit within a second, with the
// findings so far, also where a worker does not listen.
func TestInterruptKeepsWhatWasFound(t *testing.T) {
	o := audit.Options{Replay: "emulate", FailOn: "error", FindingsCode: cli.ExitFindings, Format: "text", Color: "never", Jobs: 1}
	o.Kernels = audit.KernelFlags{Steps: 20_000_000, Memory: 1 << 30, NoCache: true, CacheBytes: 1}
	a := &cli.App{}
	job, err := o.Prepare(a)
	require.NoError(t, err)
	runner := &deafEngine{Engine: job.Runner.Engines[0], begun: make(chan struct{})}
	job.Runner.Engines[0] = runner
	ctx, cancel := context.WithCancelCause(context.Background())
	var since time.Time
	go func() {
		<-runner.begun
		since = time.Now()
		cancel(errors.New("interrupted by the test"))
	}()
	dumps := repository(t) + "/testdata/dumps/"
	job.Audit(ctx, []string{dumps + "sort_inplace_declared", dumps + "scale_inplace"}, audit.NewProgress(nil, true))
	assert.Less(t, time.Since(since), time.Second)
	r := job.Collector.Report(a.Tool(), job.Choices())
	require.NotEmpty(t, r.Findings)
	assert.Equal(t, "AC201", r.Findings[0].Code)
	require.Len(t, r.Summary.Incomplete, 1)
	assert.Equal(t, "interrupted by the test: what was not audited by then is not in this report", r.Summary.Incomplete[0].Error)
	assert.Equal(t, cli.ExitError(cli.ExitFailed), job.Exit(r))
}

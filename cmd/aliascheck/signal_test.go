package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

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
	o := auditOptions{replay: "emulate", failOn: "error", findingsCode: exitFindings, format: "text", color: "never", jobs: 1}
	o.kernels = kernelFlags{steps: 20_000_000, memory: 1 << 30, noCache: true, cacheBytes: 1}
	job, err := o.prepare(&app{})
	require.NoError(t, err)
	runner := &deafEngine{Engine: job.runner.Engines[0], begun: make(chan struct{})}
	job.runner.Engines[0] = runner
	ctx, cancel := context.WithCancelCause(context.Background())
	var since time.Time
	go func() {
		<-runner.begun
		since = time.Now()
		cancel(errors.New("interrupted by the test"))
	}()
	dumps := repository(t) + "/testdata/dumps/"
	job.audit(ctx, []string{dumps + "sort_inplace_declared", dumps + "scale_inplace"}, newProgress(nil, true))
	assert.Less(t, time.Since(since), time.Second)
	r := job.collector.Report(tool(), job.choices())
	require.NotEmpty(t, r.Findings)
	assert.Equal(t, "AC201", r.Findings[0].Code)
	require.Len(t, r.Summary.Incomplete, 1)
	assert.Equal(t, "interrupted by the test: what was not audited by then is not in this report", r.Summary.Incomplete[0].Error)
	assert.Equal(t, exitError(exitFailed), job.exit(r))
}

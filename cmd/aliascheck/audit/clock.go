package audit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"aliascheck/alias"
	"aliascheck/hlo/kernel"
	"aliascheck/rules"
	"aliascheck/rules/replay"
)

// clock says when the time for all kernels of an audit is over. It begins with the first
// kernel; that of a running command counts only once the command has ended, which until
// then bounds it.
type clock struct {
	most time.Duration // 0: no limit

	mu       sync.Mutex
	paused   bool
	deadline time.Time // zero: no kernel was run yet
}

// around bounds what a runner takes; a nil clock bounds nothing.
func (c *clock) around(inner rules.KernelRunner) rules.KernelRunner {
	if c == nil || c.most <= 0 {
		return inner
	}
	return &timedRunner{inner, c}
}

// Pause stops the clock, or lets it run. A nil clock stands.
func (c *clock) Pause(paused bool) {
	if c != nil {
		c.mu.Lock()
		c.paused = paused
		c.mu.Unlock()
	}
}

// within bounds a context by the end of the time. It reports false where that is past.
func (c *clock) within(ctx context.Context) (context.Context, context.CancelFunc, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel, true
	}
	if c.deadline.IsZero() {
		c.deadline = time.Now().Add(c.most)
	}
	bounded, cancel := context.WithDeadline(ctx, c.deadline)
	return bounded, cancel, time.Now().Before(c.deadline)
}

// timedRunner runs kernels until the time for all of them is over.
type timedRunner struct {
	inner rules.KernelRunner
	clock *clock
}

// Analyse implements rules.KernelRunner.
func (r *timedRunner) Analyse(ctx context.Context, c *alias.Call, k *kernel.Call) *replay.Case {
	over := fmt.Sprintf("the time is over (--max-time %v)", r.clock.most)
	within, cancel, left := r.clock.within(ctx)
	defer cancel()
	if !left {
		return &replay.Case{Call: c, Kernel: k, Reason: over}
	}
	out := r.inner.Analyse(within, c, k)
	if out.Reason != "" && within.Err() != nil && ctx.Err() == nil {
		out.Reason = over
	}
	return out
}

// Confirm implements rules.KernelRunner.
func (r *timedRunner) Confirm(ctx context.Context, c *replay.Case, claim *replay.Claim) {
	within, cancel, left := r.clock.within(ctx)
	defer cancel()
	if left {
		r.inner.Confirm(within, c, claim)
	}
}

// Conduct implements rules.KernelRunner.
func (r *timedRunner) Conduct(ctx context.Context, c *replay.Case, q replay.Question) *replay.Conduct {
	within, cancel, left := r.clock.within(ctx)
	defer cancel()
	if !left {
		return nil
	}
	return r.inner.Conduct(within, c, q)
}

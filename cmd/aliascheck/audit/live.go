package audit

import (
	"context"
	"errors"
	"strings"
	"sync"

	"aliascheck/hlo"
)

// Live audits modules as a running command leaves them: see runner.Auditor.
type Live struct {
	Job     *Job
	mu      sync.Mutex // guards what follows, and job.collector
	idle    []*Worker
	modules int
	closed  bool // the report is being made: nothing more is added
}

// Close ends the audit: what was interrupted and still runs adds nothing.
func (l *Live) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// Audit reads and judges the module in one file, which a test compiled.
func (l *Live) Audit(ctx context.Context, path, test string) (findings bool, err error) {
	w := l.take()
	r, err := w.Audit(ctx, hlo.Source{Path: path})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, w)
	if err != nil || l.closed {
		return false, err
	}
	if test != "" {
		for i := range r.Findings {
			r.Findings[i].Tests = []string{test}
		}
	}
	l.Job.mark(r)
	findings = len(r.Findings) > 0
	l.modules++
	l.Job.Collector.Add(r)
	return findings, nil
}

// Incomplete notes what could not be audited.
func (l *Live) Incomplete(path string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.modules++ // of which at least something was seen
	l.Job.Collector.Incomplete(path, err)
}

// CheckAny notes a run that compiled nothing: a gate must not call that clean.
func (l *Live) CheckAny(command []string) {
	if l.modules == 0 {
		l.Job.Collector.Incomplete(strings.Join(command, " "), errors.New("it left no dump of any module: nothing was compiled, or XLA_FLAGS did not reach the process that did"))
	}
}

// take returns a worker that nobody uses.
func (l *Live) take() *Worker {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.idle); n > 0 {
		w := l.idle[n-1]
		l.idle = l.idle[:n-1]
		return w
	}
	return l.Job.NewWorker()
}

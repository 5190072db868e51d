package main

import (
	"context"
	"errors"
	"strings"
	"sync"

	"aliascheck/hlo"
)

// liveAudit audits modules as a running command leaves them: see runner.Auditor.
type liveAudit struct {
	job     *auditJob
	mu      sync.Mutex // guards what follows, and job.collector
	idle    []*worker
	modules int
	closed  bool // the report is being made: nothing more is added
}

// close ends the audit: what was interrupted and still runs adds nothing.
func (l *liveAudit) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// Audit reads and judges the module in one file, which a test compiled.
func (l *liveAudit) Audit(ctx context.Context, path, test string) (findings bool, err error) {
	w := l.take()
	r, err := w.audit(ctx, hlo.Source{Path: path})
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
	l.job.mark(r)
	findings = len(r.Findings) > 0
	l.modules++
	l.job.collector.Add(r)
	return findings, nil
}

// Incomplete notes what could not be audited.
func (l *liveAudit) Incomplete(path string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.modules++ // of which at least something was seen
	l.job.collector.Incomplete(path, err)
}

// checkAny notes a run that compiled nothing: a gate must not call that clean.
func (l *liveAudit) checkAny(command []string) {
	if l.modules == 0 {
		l.job.collector.Incomplete(strings.Join(command, " "), errors.New("it left no dump of any module: nothing was compiled, or XLA_FLAGS did not reach the process that did"))
	}
}

// take returns a worker that nobody uses.
func (l *liveAudit) take() *worker {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.idle); n > 0 {
		w := l.idle[n-1]
		l.idle = l.idle[:n-1]
		return w
	}
	return l.job.newWorker()
}

package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"aliascheck/hlo"
	"aliascheck/rules"
	"aliascheck/rules/confirm"
)

// auditJob is one audit: what the flags and files say, and what was found.
type auditJob struct {
	options   *auditOptions
	config    rules.Config
	baseline  *rules.Baseline
	outputs   []output
	shard     shard
	collector *rules.Collector
	runner    *confirm.Runner // nil: kernels are not run
	timed     *clock          // what bounds its time; nil: nothing does
	anyCall   bool            // the runner is asked of calls whose kernels nobody has, too
	gpu       string          // that the modules were compiled for; empty where nobody says
	found     int             // findings, before equal ones are one
}

// audit reads and judges every module that the paths hold, with several workers.
// What cannot be read is noted as incomplete, and the rest is audited all the same.
// An interrupt ends it, with what was found so far.
func (j *auditJob) audit(ctx context.Context, paths []string, p *progress) {
	next, stop := iter.Pull2(hlo.Find(paths, j.options.limits))
	defer func() { stop() }()
	q := &queue{next: next, has: func(path string) bool { return j.shard.has(path, paths) }}
	var workers sync.WaitGroup
	for range j.options.jobs {
		workers.Go(func() { j.work(ctx, q, p) })
	}
	if !ended(ctx, workers.Wait) {
		stop = func() {} // somebody still looks for the next module
	}
	q.adding.Lock()
	defer q.adding.Unlock()
	q.closed = true
	if ctx.Err() != nil {
		j.collector.Incomplete(strings.Join(paths, " "), fmt.Errorf("%w: what was not audited by then is not in this report", context.Cause(ctx)))
	}
}

// patience is how long what was interrupted may take to end by itself.
const patience = 500 * time.Millisecond

// ended waits until something has ended; where it was interrupted, not for long.
func ended(ctx context.Context, wait func()) bool {
	done := make(chan struct{})
	go func() {
		wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	select {
	case <-done:
		return true
	case <-time.After(patience):
		return false
	}
}

// queue hands modules to workers. They look for the next one themselves, and add
// what came of it themselves: a module takes less time than waking another goroutine
// for each.
type queue struct {
	finding sync.Mutex // guards next
	next    func() (hlo.Source, error, bool)
	has     func(path string) bool // whether this shard audits it
	adding  sync.Mutex             // guards the collector, and closed
	closed  bool                   // nothing more is added
}

// take returns the next module, or what is wrong with it; ok is false after the last.
func (q *queue) take() (src hlo.Source, err error, ok bool) {
	q.finding.Lock()
	defer q.finding.Unlock()
	for {
		if src, err, ok = q.next(); !ok || q.has(src.Path) {
			return src, err, ok
		}
	}
}

// work reads and judges modules until there are no more.
func (j *auditJob) work(ctx context.Context, q *queue, p *progress) {
	w := j.newWorker()
	for ctx.Err() == nil {
		src, err, ok := q.take()
		if !ok {
			return
		}
		var r *rules.ModuleReport
		if err == nil {
			r, err = w.audit(ctx, src)
		}
		q.add(j, src.Path, r, err)
		p.step()
	}
}

// add takes in what came of a module. Of one that was interrupted, it is what was found.
func (q *queue) add(j *auditJob, path string, r *rules.ModuleReport, err error) {
	q.adding.Lock()
	defer q.adding.Unlock()
	if q.closed {
		return
	}
	j.mark(r)
	if r != nil {
		j.collector.Add(r)
	}
	if err != nil {
		j.collector.Incomplete(path, err)
	}
}

// mark notes in findings which GPU their module was compiled for.
func (j *auditJob) mark(r *rules.ModuleReport) {
	if r == nil {
		return
	}
	j.found += len(r.Findings)
	if j.gpu == "" {
		return
	}
	for i := range r.Findings {
		r.Findings[i].CompiledFor = []string{j.gpu}
	}
}

// worker reads and judges modules one after the other, in the same memory.
type worker struct {
	reader  *hlo.Reader
	auditor *rules.Auditor
}

func (j *auditJob) newWorker() *worker {
	o := rules.Options{Config: j.config, SrcRoot: j.options.srcRoot, Maps: j.options.writes("html")}
	if j.runner != nil {
		o.Runner, o.AnyCall = j.timed.around(j.runner), j.anyCall
	}
	return &worker{reader: hlo.NewReader(j.options.limits), auditor: rules.NewAuditor(o)}
}

// audit reads one module and judges it. An error is about the file, or is ctx's.
func (w *worker) audit(ctx context.Context, src hlo.Source) (*rules.ModuleReport, error) {
	m, err := w.reader.Read(src)
	if err != nil {
		return nil, err
	}
	r := w.auditor.Module(ctx, m)
	return r, ctx.Err()
}

// finish writes the reports and the baseline, and says how the audit ended.
func (j *auditJob) finish(a *app) error {
	r := j.collector.Report(tool(), j.choices())
	if j.options.replay == "auto" && cardPresent() {
		suggestCard(r)
	}
	for i := range j.outputs {
		if err := j.outputs[i].to(a, r); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	if j.options.updateBaseline {
		return j.writeBaseline(a, r)
	}
	return j.exit(r)
}

// choices say which findings the report is to have: the flags beside the configuration.
func (j *auditJob) choices() rules.Choices {
	o := j.options
	c := rules.Choices{
		Selection: j.config.Selection, Suppressions: j.config.Suppressions, Baseline: j.baseline, Now: time.Now(),
		KeepSuppressed: o.showSuppressed, KeepLines: j.shard.of > 1, Sources: o.sources,
	}
	if len(o.selected) > 0 {
		c.Select = o.selected
	}
	c.Ignore = append(slices.Clone(c.Ignore), o.ignored...)
	return c
}

// writeBaseline accepts every finding. A dump that could not be read whole has none
// to accept: the audit still fails.
func (j *auditJob) writeBaseline(a *app, r *rules.Report) error {
	b := rules.NewBaseline(r.Findings)
	err := writeFile(j.options.baseline, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
	if err != nil {
		return fmt.Errorf("writing the baseline: %w", err)
	}
	fmt.Fprintf(a.stderr, "aliascheck: %d findings written to %s\n", len(b.Entries), j.options.baseline)
	if len(r.Summary.Incomplete) > 0 {
		return exitError(exitFailed)
	}
	return nil
}

// exit turns a report into an exit code.
func (j *auditJob) exit(r *rules.Report) error {
	if len(r.Summary.Incomplete) > 0 || j.options.kernels.requireAnalysis && len(r.Summary.Unanalysed)+len(r.Summary.Unknown) > 0 {
		return exitError(exitFailed)
	}
	if j.options.failOn == "never" {
		return nil
	}
	for i := range r.Findings {
		if r.Findings[i].Severity.AtLeast(rules.Severity(j.options.failOn)) {
			return exitError(j.options.findingsCode)
		}
	}
	return nil
}

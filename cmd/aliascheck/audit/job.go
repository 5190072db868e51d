// Package audit is the audit that several commands make: its flags, the modules that
// workers read and judge, the engines that are asked, and the reports that it ends in.
package audit

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/hlo"
	"aliascheck/rules"
	"aliascheck/rules/confirm"
)

// Job is one audit: what the flags and files say, and what was found.
type Job struct {
	Options   *Options
	Config    rules.Config
	baseline  *rules.Baseline
	outputs   []Output
	shard     shard
	Collector *rules.Collector
	Runner    *confirm.Runner // nil: kernels are not run
	Timed     *clock          // what bounds its time; nil: nothing does
	anyCall   bool            // the runner is asked of calls whose kernels nobody has, too
	GPU       string          // that the modules were compiled for; empty where nobody says
	Found     int             // findings, before equal ones are one
}

// Audit reads and judges every module that the paths hold, with several workers.
// What cannot be read is noted as incomplete, and the rest is audited all the same.
// An interrupt ends it, with what was found so far.
func (j *Job) Audit(ctx context.Context, paths []string, p *Progress) {
	next, stop := iter.Pull2(hlo.Find(paths, j.Options.Limits))
	defer func() { stop() }()
	q := &queue{next: next, has: func(path string) bool { return j.shard.has(path, paths) }}
	var workers sync.WaitGroup
	for range j.Options.Jobs {
		workers.Go(func() { j.work(ctx, q, p) })
	}
	if !ended(ctx, workers.Wait) {
		stop = func() {} // somebody still looks for the next module
	}
	q.adding.Lock()
	defer q.adding.Unlock()
	q.closed = true
	if ctx.Err() != nil {
		j.Collector.Incomplete(strings.Join(paths, " "), fmt.Errorf("%w: what was not audited by then is not in this report", context.Cause(ctx)))
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
func (j *Job) work(ctx context.Context, q *queue, p *Progress) {
	w := j.NewWorker()
	for ctx.Err() == nil {
		src, err, ok := q.take()
		if !ok {
			return
		}
		var r *rules.ModuleReport
		if err == nil {
			r, err = w.Audit(ctx, src)
		}
		q.add(j, src.Path, r, err)
		p.Step()
	}
}

// add takes in what came of a module. Of one that was interrupted, it is what was found.
func (q *queue) add(j *Job, path string, r *rules.ModuleReport, err error) {
	q.adding.Lock()
	defer q.adding.Unlock()
	if q.closed {
		return
	}
	j.mark(r)
	if r != nil {
		j.Collector.Add(r)
	}
	if err != nil {
		j.Collector.Incomplete(path, err)
	}
}

// mark notes in findings which GPU their module was compiled for.
func (j *Job) mark(r *rules.ModuleReport) {
	if r == nil {
		return
	}
	j.Found += len(r.Findings)
	if j.GPU == "" {
		return
	}
	for i := range r.Findings {
		r.Findings[i].CompiledFor = []string{j.GPU}
	}
}

// Worker reads and judges modules one after the other, in the same memory.
type Worker struct {
	reader  *hlo.Reader
	Auditor *rules.Auditor
}

// NewWorker makes a worker of the job, with the memory that it keeps from module to module.
func (j *Job) NewWorker() *Worker {
	o := rules.Options{Config: j.Config, SrcRoot: j.Options.SrcRoot, Maps: j.Options.writes("html")}
	if j.Runner != nil {
		o.Runner, o.AnyCall = j.Timed.around(j.Runner), j.anyCall
	}
	return &Worker{reader: hlo.NewReader(j.Options.Limits), Auditor: rules.NewAuditor(o)}
}

// Audit reads one module and judges it. An error is about the file, or is ctx's.
func (w *Worker) Audit(ctx context.Context, src hlo.Source) (*rules.ModuleReport, error) {
	m, err := w.reader.Read(src)
	if err != nil {
		return nil, err
	}
	r := w.Auditor.Module(ctx, m)
	return r, ctx.Err()
}

// Finish writes the reports and the baseline, and says how the audit ended.
func (j *Job) Finish(a *cli.App) error {
	r := j.Collector.Report(a.Tool(), j.Choices())
	if j.Options.Replay == "auto" && cardPresent() {
		SuggestCard(r)
	}
	for i := range j.outputs {
		if err := j.outputs[i].To(a, r); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	if j.Options.updateBaseline {
		return j.writeBaseline(a, r)
	}
	return j.Exit(r)
}

// Choices say which findings the report is to have: the flags beside the configuration.
func (j *Job) Choices() rules.Choices {
	o := j.Options
	c := rules.Choices{
		Selection: j.Config.Selection, Suppressions: j.Config.Suppressions, Baseline: j.baseline, Now: time.Now(),
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
func (j *Job) writeBaseline(a *cli.App, r *rules.Report) error {
	b := rules.NewBaseline(r.Findings)
	err := cli.WriteFile(j.Options.baseline, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
	if err != nil {
		return fmt.Errorf("writing the baseline: %w", err)
	}
	fmt.Fprintf(a.Stderr, "aliascheck: %d findings written to %s\n", len(b.Entries), j.Options.baseline)
	if len(r.Summary.Incomplete) > 0 {
		return cli.ExitError(cli.ExitFailed)
	}
	return nil
}

// Exit turns a report into an exit code.
func (j *Job) Exit(r *rules.Report) error {
	if len(r.Summary.Incomplete) > 0 || j.Options.Kernels.requireAnalysis && len(r.Summary.Unanalysed)+len(r.Summary.Unknown) > 0 {
		return cli.ExitError(cli.ExitFailed)
	}
	if j.Options.FailOn == "never" {
		return nil
	}
	for i := range r.Findings {
		if r.Findings[i].Severity.AtLeast(rules.Severity(j.Options.FailOn)) {
			return cli.ExitError(j.Options.FindingsCode)
		}
	}
	return nil
}

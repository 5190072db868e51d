package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"aliascheck/hlo"
	"aliascheck/rules"

	"golang.org/x/sync/errgroup"
)

// auditJob is one audit: what the flags and files say, and what was found.
type auditJob struct {
	options   *auditOptions
	config    rules.Config
	baseline  *rules.Baseline
	outputs   []output
	shard     shard
	collector *rules.Collector
	runner    rules.KernelRunner // nil: kernels are not run
}

// audit reads and judges every module that the paths hold, with several workers.
// What cannot be read is noted as incomplete, and the rest is audited all the same.
func (j *auditJob) audit(ctx context.Context, paths []string, p *progress) error {
	g, ctx := errgroup.WithContext(ctx)
	sources := make(chan hlo.Source)
	results := make(chan func(*rules.Collector))
	g.Go(func() error {
		defer close(sources)
		return j.find(ctx, paths, sources, results)
	})
	for range j.options.jobs {
		g.Go(func() error { return j.work(ctx, sources, results) })
	}
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		for add := range results {
			add(j.collector)
			p.step()
		}
	}()
	err := g.Wait()
	close(results)
	<-collected
	return err
}

// find sends every module to the workers.
func (j *auditJob) find(ctx context.Context, paths []string, to chan<- hlo.Source, results chan<- func(*rules.Collector)) error {
	for src, err := range hlo.Find(paths, j.options.limits) {
		if !j.shard.has(src.Path, paths) {
			continue
		}
		if err != nil {
			results <- func(c *rules.Collector) { c.Incomplete(src.Path, err) }
			continue
		}
		select {
		case to <- src:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// work reads and judges modules until there are no more.
func (j *auditJob) work(ctx context.Context, from <-chan hlo.Source, results chan<- func(*rules.Collector)) error {
	w := j.newWorker()
	for src := range from {
		r, err := w.audit(ctx, src)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		results <- func(c *rules.Collector) {
			if err != nil {
				c.Incomplete(src.Path, err)
				return
			}
			c.Add(r)
		}
	}
	return nil
}

// worker reads and judges modules one after the other, in the same memory.
type worker struct {
	reader  *hlo.Reader
	auditor *rules.Auditor
}

func (j *auditJob) newWorker() *worker {
	return &worker{
		reader: hlo.NewReader(j.options.limits),
		auditor: rules.NewAuditor(rules.Options{
			Config: j.config, SrcRoot: j.options.srcRoot, Runner: j.runner, Maps: j.options.writes("html"),
		}),
	}
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
	tool := rules.Tool{Name: "aliascheck", Version: version()}
	runtime.GC() // what the readers had makes room for the report
	r := j.collector.Report(tool, j.config.Suppressions, j.baseline, time.Now())
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
	if len(r.Summary.Incomplete) > 0 || j.options.kernels.requireAnalysis && len(r.Summary.Unanalysed) > 0 {
		return exitError(exitFailed)
	}
	if j.options.failOn == "never" {
		return nil
	}
	for i := range r.Findings {
		if r.Findings[i].Severity.AtLeast(rules.Severity(j.options.failOn)) {
			return exitError(exitFindings)
		}
	}
	return nil
}

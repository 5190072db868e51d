package audit

import (
	"context"
	"errors"

	"aliascheck/cmd/aliascheck/cli"
)

// Dumps audits the dumps, writes the reports and says how it ended.
func (o *Options) Dumps(ctx context.Context, a *cli.App, paths []string) error {
	job, err := o.Prepare(a)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return errors.New("no dump was named; `aliascheck --help` says how to make one")
	}
	progress := NewProgress(a.Stderr, o.Quiet)
	endGPU, err := o.GPU.Around(ctx, o.Replay, job, progress.Replay)
	if err != nil {
		return err
	}
	defer endGPU()
	endJAX, err := o.JAX.Around(o.Replay, job, false)
	if err != nil {
		return err
	}
	defer endJAX()
	job.Audit(ctx, paths, progress)
	progress.Clear()
	return job.Finish(a)
}

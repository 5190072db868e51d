package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"aliascheck/cmd/aliascheck/audit"
	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/repro"
	"aliascheck/cudarun"
	"aliascheck/hlo"
	"aliascheck/rules"

	"github.com/spf13/cobra"
)

// newWorkerCommand is the hidden command that replays run in: see cudarun.
func newWorkerCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: cudarun.HiddenCommand, Hidden: true, Args: cobra.NoArgs,
		Short: "Replay kernels for a parent process",
		RunE:  func(*cobra.Command, []string) error { return cudarun.ServeWorker(a.Stdin, a.Stdout) },
	}
}

// replayOptions are the flags of `aliascheck replay`.
type replayOptions struct {
	audit   audit.Options
	finding string
	repro   string // folder for a report to XLA; empty: replay
}

func newReplayCommand(a *cli.App) *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "replay --finding FINGERPRINT [flags] DUMP...",
		Short: "Replay one finding on a GPU",
		Long: `replay runs the kernel of one finding on a GPU again, from the same inputs:
with its buffers apart, with the sharing that the finding is about, and
confined to the smallest part of the card. It prints what that showed, and all
counts as JSON.

With --write-repro DIR nothing is run: of a finding about XLA's own buffer
assignment (AC107, AC108) it writes what an issue needs: the module's files, the
two values with how long each is needed, and the memory over the schedule.

Exit code: 0 where the replay does not show the finding, 1 where it does, 2
where it could not be made.`,
		Example: "  aliascheck replay --finding 3f2a9c dump_dir/\n  aliascheck replay --finding 77ab01 --write-repro issue/ dump_dir/",
		Args:    cli.AtLeastOne("no dump was named: `aliascheck replay --finding FINGERPRINT DUMP`, as the text report has it with each finding"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.finding, "finding", "", "`FINGERPRINT` of the finding, or its beginning")
	f.StringVar(&o.repro, "write-repro", "", "write the module and the conflict into `DIR`, for an issue; for AC107 and AC108")
	f.StringVar(&o.audit.Config, "config", "", "configuration `FILE` (default "+audit.DefaultConfig+" where it exists)")
	f.StringVar(&o.audit.SrcRoot, "src-root", "", "`DIR` that Python files are named relative to: as in the audit that found it")
	o.audit.Kernels.Add(cmd)
	o.audit.GPU.Add(cmd)
	return cmd
}

func (o *replayOptions) run(ctx context.Context, a *cli.App, paths []string) error {
	if o.finding == "" {
		return errors.New("--finding is missing: the report names each finding's fingerprint")
	}
	job, err := o.job(a)
	if err != nil {
		return err
	}
	finding, err := o.find(ctx, job, paths)
	if err != nil {
		return err
	}
	if o.repro != "" {
		return o.writeRepro(a, finding)
	}
	if len(finding.Values) > 0 {
		return fmt.Errorf("%s has no kernel to replay: XLA's own assignment does it; --write-repro DIR writes what an issue needs", finding.Code)
	}
	gpu, err := o.audit.GPU.Open(ctx, "gpu", "replay needs a GPU", nil)
	if err != nil {
		return err
	}
	defer gpu.Close()
	gpu.SetOnly(finding.Instruction)
	job.Runner.Engines = append(job.Runner.Engines, gpu)
	replayed, err := o.again(ctx, job, finding, paths)
	if err != nil {
		return err
	}
	return show(a, replayed, o.audit.SrcRoot)
}

// writeRepro writes what an issue about the finding needs.
func (o *replayOptions) writeRepro(a *cli.App, f *rules.Finding) error {
	wrote, err := repro.Write(o.repro, f, a.Tool())
	if err != nil {
		return err
	}
	for _, name := range wrote {
		fmt.Fprintln(a.Stdout, filepath.Join(o.repro, name))
	}
	return nil
}

// job is an audit without reports.
func (o *replayOptions) job(a *cli.App) (*audit.Job, error) {
	o.audit.Jobs = 1
	if o.repro != "" {
		o.audit.Format = "html" // the finding gets its memory map
	}
	job := &audit.Job{Options: &o.audit, Collector: rules.NewCollector()}
	var err error
	if job.Config, err = o.audit.LoadConfig(); err != nil {
		return nil, err
	}
	job.Runner, err = o.audit.Kernels.Runner(a.Version)
	return job, err
}

// find audits the dumps and returns the finding that is asked for.
func (o *replayOptions) find(ctx context.Context, job *audit.Job, paths []string) (*rules.Finding, error) {
	job.Audit(ctx, paths, audit.NewProgress(nil, true))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r := job.Collector.Report(rules.Tool{}, rules.Choices{Now: time.Now()})
	var found *rules.Finding
	for i := range r.Findings {
		if !strings.HasPrefix(r.Findings[i].Fingerprint, o.finding) {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("--finding %s: more than one finding begins so", o.finding)
		}
		found = &r.Findings[i]
	}
	if found == nil {
		return nil, fmt.Errorf("--finding %s: no such finding in %s", o.finding, strings.Join(paths, " "))
	}
	return found, nil
}

// again audits the finding's module once more, with the card.
func (o *replayOptions) again(ctx context.Context, job *audit.Job, f *rules.Finding, paths []string) (*rules.Finding, error) {
	for src, err := range hlo.Find(paths, o.audit.Limits) {
		if err != nil || src.Path != f.Path {
			continue
		}
		r, err := job.NewWorker().Audit(ctx, src)
		if err != nil {
			return nil, err
		}
		for i := range r.Findings {
			if r.Findings[i].Fingerprint == f.Fingerprint && r.Findings[i].Instruction == f.Instruction {
				return &r.Findings[i], nil
			}
		}
	}
	return nil, fmt.Errorf("%s: the finding is gone", f.Path)
}

// show prints what a replay showed.
func show(a *cli.App, f *rules.Finding, srcRoot string) error {
	fmt.Fprintf(a.Stdout, "%s %s, %s in %s: %s\n%s\nagain: %s\n", f.Code, f.Rule, f.Instruction, f.Path, f.Confirmation, f.ConfirmationReason, audit.ReplayCommandLine(f, srcRoot))
	if f.Evidence == nil || f.Evidence.GPU == nil {
		return errors.New("the finding was not replayed: " + f.ConfirmationReason)
	}
	var evidence cudarun.Evidence
	if err := json.Unmarshal(f.Evidence.GPU, &evidence); err != nil {
		return err
	}
	encoder := json.NewEncoder(a.Stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(&evidence); err != nil {
		return err
	}
	switch evidence.Verdict.Confirmation {
	case string(rules.Confirmed):
		return cli.ExitError(cli.ExitFindings)
	case string(rules.Unchecked):
		return errors.New("the finding was not replayed: " + evidence.Verdict.Reason)
	}
	return nil
}

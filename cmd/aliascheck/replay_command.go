package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"aliascheck/cmd/aliascheck/repro"
	"aliascheck/cudarun"
	"aliascheck/hlo"
	"aliascheck/rules"
	"aliascheck/rules/replay"

	"github.com/spf13/cobra"
)

// newWorkerCommand is the hidden command that replays run in: see cudarun.
func newWorkerCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: cudarun.HiddenCommand, Hidden: true, Args: cobra.NoArgs,
		Short: "Replay kernels for a parent process",
		RunE:  func(*cobra.Command, []string) error { return cudarun.ServeWorker(a.stdin, a.stdout) },
	}
}

// replayOptions are the flags of `aliascheck replay`.
type replayOptions struct {
	audit   auditOptions
	finding string
	repro   string // folder for a report to XLA; empty: replay
}

func newReplayCommand(a *app) *cobra.Command {
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
		Args:    atLeastOne("no dump was named: `aliascheck replay --finding FINGERPRINT DUMP`, as the text report has it with each finding"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.finding, "finding", "", "`FINGERPRINT` of the finding, or its beginning")
	f.StringVar(&o.repro, "write-repro", "", "write the module and the conflict into `DIR`, for an issue; for AC107 and AC108")
	f.StringVar(&o.audit.config, "config", "", "configuration `FILE` (default "+defaultConfig+" where it exists)")
	f.StringVar(&o.audit.srcRoot, "src-root", "", "`DIR` that Python files are named relative to: as in the audit that found it")
	o.audit.kernels.add(cmd)
	o.audit.gpu.add(cmd)
	return cmd
}

func (o *replayOptions) run(ctx context.Context, a *app, paths []string) error {
	if o.finding == "" {
		return errors.New("--finding is missing: the report names each finding's fingerprint")
	}
	job, err := o.job()
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
	gpu, err := o.audit.gpu.open(ctx, "gpu", "replay needs a GPU", nil)
	if err != nil {
		return err
	}
	defer gpu.Close()
	gpu.SetOnly(finding.Instruction)
	job.runner.Engines = append(job.runner.Engines, gpu)
	replayed, err := o.again(ctx, job, finding, paths)
	if err != nil {
		return err
	}
	return show(a, replayed, o.audit.srcRoot)
}

// writeRepro writes what an issue about the finding needs.
func (o *replayOptions) writeRepro(a *app, f *rules.Finding) error {
	wrote, err := repro.Write(o.repro, f, tool())
	if err != nil {
		return err
	}
	for _, name := range wrote {
		fmt.Fprintln(a.stdout, filepath.Join(o.repro, name))
	}
	return nil
}

// job is an audit without reports.
func (o *replayOptions) job() (*auditJob, error) {
	o.audit.jobs = 1
	if o.repro != "" {
		o.audit.format = "html" // the finding gets its memory map
	}
	job := &auditJob{options: &o.audit, collector: rules.NewCollector()}
	var err error
	if job.config, err = o.audit.loadConfig(); err != nil {
		return nil, err
	}
	job.runner, err = o.audit.kernels.runner()
	return job, err
}

// find audits the dumps and returns the finding that is asked for.
func (o *replayOptions) find(ctx context.Context, job *auditJob, paths []string) (*rules.Finding, error) {
	job.audit(ctx, paths, newProgress(nil, true))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r := job.collector.Report(rules.Tool{}, rules.Choices{Now: time.Now()})
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
func (o *replayOptions) again(ctx context.Context, job *auditJob, f *rules.Finding, paths []string) (*rules.Finding, error) {
	for src, err := range hlo.Find(paths, o.audit.limits) {
		if err != nil || src.Path != f.Path {
			continue
		}
		r, err := job.newWorker().audit(ctx, src)
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
func show(a *app, f *rules.Finding, srcRoot string) error {
	fmt.Fprintf(a.stdout, "%s %s, %s in %s: %s\n%s\nagain: %s\n", f.Code, f.Rule, f.Instruction, f.Path, f.Confirmation, f.ConfirmationReason, replayCommandLine(f, srcRoot))
	if f.Evidence == nil || f.Evidence.GPU == nil {
		return errors.New("the finding was not replayed: " + f.ConfirmationReason)
	}
	var evidence cudarun.Evidence
	if err := json.Unmarshal(f.Evidence.GPU, &evidence); err != nil {
		return err
	}
	encoder := json.NewEncoder(a.stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(&evidence); err != nil {
		return err
	}
	switch evidence.Verdict.Confirmation {
	case string(rules.Confirmed):
		return exitError(exitFindings)
	case string(rules.Unchecked):
		return errors.New("the finding was not replayed: " + evidence.Verdict.Reason)
	}
	return nil
}

// replayCommandLine repeats a finding's replay on a GPU; empty where there is none.
func replayCommandLine(f *rules.Finding, srcRoot string) string {
	if len(f.Values) > 0 {
		return reproCommandLine(f, srcRoot)
	}
	if f.Confirmation == "" || f.Kernel == "" || !replayable(f.Code) {
		return ""
	}
	line := "aliascheck replay --finding " + f.Fingerprint
	if srcRoot != "" {
		line += " --src-root " + shellWord(srcRoot)
	}
	path, _, _ := strings.Cut(f.Path, "!/") // a member of an archive is found in the archive
	return line + " " + shellWord(path)
}

// replayable says whether a replay can show something of a rule's findings.
func replayable(code string) bool {
	r, ok := rules.Lookup(code)
	return ok && r.Confirm != replay.NoQuestion
}

// reproCommandLine writes what an issue about a finding of XLA's own needs.
func reproCommandLine(f *rules.Finding, srcRoot string) string {
	line := "aliascheck replay --write-repro issue/ --finding " + f.Fingerprint
	if srcRoot != "" {
		line += " --src-root " + shellWord(srcRoot)
	}
	path, _, _ := strings.Cut(f.Path, "!/")
	return line + " " + shellWord(path)
}

// shellWord quotes what a shell would not take as one word as it stands.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./+@%:,=", r)
	}
	if s != "" && s[0] != '-' && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

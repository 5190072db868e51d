package audit

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"aliascheck/cmd/aliascheck/report"
	"aliascheck/cudarun"
	"aliascheck/rules"
	"aliascheck/rules/replay"

	"github.com/spf13/cobra"
)

// GPUFlags say how kernels are replayed on a card.
type GPUFlags struct {
	Devices  []int
	Timeout  time.Duration
	Budget   time.Duration
	Sanitize []string
	all      bool
}

// Add adds the flags to a command.
func (g *GPUFlags) Add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntSliceVar(&g.Devices, "device", []int{0}, "GPUs to replay on, as `NUMBERS` among those that CUDA_VISIBLE_DEVICES shows")
	f.DurationVar(&g.Timeout, "gpu-timeout", cudarun.DefaultLaunchDeadline, "a kernel that runs longer than this `TIME` on a GPU hangs")
	f.DurationVar(&g.Budget, "gpu-budget", 0, "most `TIME` for all GPU replays together; what it cuts off is unchecked (0: no limit)")
	f.StringSliceVar(&g.Sanitize, "sanitize", nil, "replay findings under these `TOOLS` of compute-sanitizer too: "+strings.Join(cudarun.SanitizerTools(), ", "))
	f.BoolVar(&g.all, "all", false, "with --replay gpu: replay every call that has a kernel, with findings or without")
}

// Check says which flag has a value that it must not have.
func (g *GPUFlags) Check() error {
	for _, tool := range g.Sanitize {
		if !slices.Contains(cudarun.SanitizerTools(), tool) {
			return fmt.Errorf("--sanitize %q: tools of %s were expected", tool, strings.Join(cudarun.SanitizerTools(), ", "))
		}
	}
	for _, d := range g.Devices {
		if d < 0 {
			return fmt.Errorf("--device %d: a number from 0 on was expected", d)
		}
	}
	if g.Timeout <= 0 {
		return fmt.Errorf("--gpu-timeout %v: a time above 0 was expected", g.Timeout)
	}
	if g.Budget < 0 {
		return fmt.Errorf("--gpu-budget %v: a time of 0 or more was expected", g.Budget)
	}
	return nil
}

// Around lets the card, where there is one and the flags want it, be asked after the
// job's other engines. What it returns ends the workers.
func (g *GPUFlags) Around(ctx context.Context, mode string, job *Job, progress func(cudarun.Progress)) (end func(), err error) {
	e, err := g.Open(ctx, mode, "--replay "+mode, progress)
	if err != nil || e == nil {
		return func() {}, err
	}
	job.Runner.Engines = append(job.Runner.Engines, e)
	return e.Close, nil
}

func (g *GPUFlags) options(progress func(cudarun.Progress)) cudarun.Options {
	return cudarun.Options{Devices: g.Devices, LaunchDeadline: g.Timeout, Budget: g.Budget, Progress: progress}
}

// Open starts the workers of --replay gpu; for any other mode the result is nil: nothing of
// a dump runs on a card unless somebody says so. Without a GPU it is an error. asked is
// what asked for a GPU, for errors.
func (g *GPUFlags) Open(ctx context.Context, mode, asked string, progress func(cudarun.Progress)) (*cudarun.Engine, error) {
	if mode != "gpu" {
		if len(g.Sanitize) > 0 || g.all {
			return nil, fmt.Errorf("--sanitize and --all need --replay gpu")
		}
		return nil, nil
	}
	if err := g.Check(); err != nil {
		return nil, err
	}
	o := cudarun.EngineOptions{Options: g.options(progress), All: g.all, Tools: g.Sanitize}
	if len(g.Sanitize) > 0 {
		var err error
		if o.Sanitizer, err = cudarun.FindSanitizer(); err != nil {
			return nil, fmt.Errorf("--sanitize: %w", err)
		}
	}
	session, err := cudarun.Open(ctx, o.Options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", asked, err)
	}
	return cudarun.NewEngine(session, o), nil
}

// cardPresent reports whether this machine has a GPU of NVIDIA's: whether its driver has
// made the device that everything begins with. Nothing is loaded to find out.
func cardPresent() bool {
	_, err := os.Stat("/dev/nvidiactl")
	return err == nil
}

// SuggestCard says of the findings that a card could confirm more that there is one.
func SuggestCard(r *rules.Report) {
	asks := map[string]bool{}
	for _, rule := range rules.All() {
		asks[rule.Code] = rule.Confirm != replay.NoQuestion
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Confirmation != rules.Confirmed && asks[f.Code] {
			f.ConfirmationReason = strings.TrimPrefix(f.ConfirmationReason+"; a GPU is here, and --replay gpu may show more", "; ")
		}
	}
}

// Replay draws the line of a replay under way.
func (p *Progress) Replay(r cudarun.Progress) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.Start) < time.Second || now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last, p.drawn = now, true
	fmt.Fprintf(p.w, "\r\x1b[K%d modules, %.0f s, GPU replay %d of %d: %s", p.modules, now.Sub(p.Start).Seconds(), min(r.Done+1, r.Of), r.Of, report.Clean(r.Stage))
}

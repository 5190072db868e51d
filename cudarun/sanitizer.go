package cudarun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// SanitizerTools are the tools of compute-sanitizer that Sanitize runs.
func SanitizerTools() []string { return []string{"memcheck", "racecheck", "initcheck", "synccheck"} }

// FindSanitizer looks for compute-sanitizer in PATH and in the toolkit that
// CUDA_HOME or CUDA_PATH names.
func FindSanitizer() (string, error) {
	path, err := exec.LookPath("compute-sanitizer")
	if err == nil {
		return path, nil
	}
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := os.Getenv(variable); home != "" {
			if path, err := exec.LookPath(filepath.Join(home, "bin", "compute-sanitizer")); err == nil {
				return path, nil
			}
		}
	}
	return "", errors.New("compute-sanitizer is not installed (not in PATH, CUDA_HOME or CUDA_PATH)")
}

const (
	// sanitizerSlowdown is how much longer a launch may take under a tool.
	sanitizerSlowdown = 20
	// sanitizerGrace is how long a tool may take to write its report.
	sanitizerGrace = 2 * time.Minute
	maxReport      = 64 << 20
)

// Sanitize runs each configuration of a plan once, with its buffers apart, in a
// worker under one tool of compute-sanitizer, and reads the tool's report. The
// tool's exit code is not asked: it is 0 after warnings.
func Sanitize(ctx context.Context, o Options, sanitizer, tool string, plan *Plan) (*SanitizerReport, error) {
	if !slices.Contains(SanitizerTools(), tool) {
		return nil, fmt.Errorf("no tool %q of compute-sanitizer: choose from %s", tool, strings.Join(SanitizerTools(), ", "))
	}
	if err := plan.Check(); err != nil {
		return nil, err
	}
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "aliascheck-sanitizer-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	log := filepath.Join(folder, tool+".log")
	o.Worker = append([]string{sanitizer, "--tool", tool, "--log-file", log, "--report-api-errors", "no"}, o.Worker...)
	outcome, err := sanitized(ctx, o, plan)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	report, readErr := readReport(log, tool)
	if readErr != nil {
		return nil, errors.Join(fmt.Errorf("compute-sanitizer %s: %w", tool, readErr), err)
	}
	report.Outcome = outcome
	if err != nil {
		report.Note = err.Error()
	}
	return report, nil
}

// sanitized runs the plan in a worker of its own and waits until the worker, and
// the tool around it, have ended.
func sanitized(ctx context.Context, o Options, plan *Plan) (*Outcome, error) {
	deadline := o.LaunchDeadline * sanitizerSlowdown
	c, err := startClient(ctx, o.Worker, o.Env, o.Devices[0], o.Silence+deadline)
	if err != nil {
		return nil, err
	}
	out, _, err := c.replay(ctx, plan, runRequest{Deadline: deadline, Sanitize: true}, func(string) {})
	c.close(sanitizerGrace)
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// readReport reads a tool's report file.
func readReport(path, tool string) (*SanitizerReport, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.New("it wrote no report")
	}
	defer f.Close()
	return parseSanitizer(io.LimitReader(f, maxReport), tool)
}

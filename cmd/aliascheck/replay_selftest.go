package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"aliascheck/cudarun"

	"github.com/spf13/cobra"
)

// selfTestDeadline is enough for the controls' kernels on any card; the control
// that hangs takes it whole.
const selfTestDeadline = 2 * time.Second

// selfTestRow is one control and what an engine said of it.
type selfTestRow struct {
	engine string
	name   string
	code   string
	found  bool // it must be found
	ok     bool
	said   string
}

func newSelftestCommand(a *app) *cobra.Command {
	var devices []int
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Show every rule and engine what it must find and what not",
		Long: `selftest audits modules whose faults are known, a pair for each rule, and runs
small kernels on every engine that this machine has: the PTX machine, a GPU,
and compute-sanitizer. A tool that has never reported an error cannot be told
from one that does not run.

Exit code: 0, or 2 where an engine said something else than it must.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, absent := selfTest(cmd.Context(), devices)
			return writeSelfTest(a.stdout, rows, absent)
		},
	}
	cmd.Flags().IntSliceVar(&devices, "device", []int{0}, "GPUs to test, as numbers among those that CUDA_VISIBLE_DEVICES shows")
	return cmd
}

// selfTest asks every engine about its controls; absent are the engines that this
// machine does not have, with the reason.
func selfTest(ctx context.Context, devices []int) (rows []selfTestRow, absent []string) {
	for _, engine := range []func(context.Context, []int) ([]selfTestRow, error){ruleControls, machineControls, gpuControls, sanitizerControls} {
		more, err := engine(ctx, devices)
		rows = append(rows, more...)
		if err != nil {
			absent = append(absent, err.Error())
		}
	}
	return rows, absent
}

// writeSelfTest prints the table; a control that fails is an error.
func writeSelfTest(w io.Writer, rows []selfTestRow, absent []string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "engine\tcontrol\tcode\tmust\tverdict")
	failed := 0
	for _, r := range rows {
		must, verdict := "not be found", "ok"
		if r.found {
			must = "be found"
		}
		if !r.ok {
			failed++
			verdict = "FAILED: " + r.said
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", r.engine, r.name, r.code, must, verdict)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, reason := range absent {
		fmt.Fprintf(w, "not here: %s\n", reason)
	}
	if failed > 0 {
		return fmt.Errorf("selftest: %d of %d controls failed", failed, len(rows))
	}
	return nil
}

// gpuControls replays the controls on a card.
func gpuControls(ctx context.Context, devices []int) ([]selfTestRow, error) {
	s, err := cudarun.Open(ctx, cudarun.Options{Devices: devices, LaunchDeadline: selfTestDeadline})
	if err != nil {
		return nil, fmt.Errorf("GPU: %w", err)
	}
	defer s.Close()
	engine := s.Devices()[0].Name
	var rows []selfTestRow
	for _, r := range cudarun.SelfTest(ctx, s) {
		rows = append(rows, selfTestRow{engine, r.Name, r.Code, r.Want == "confirmed", r.OK, r.Got.Confirmation + ": " + r.Got.Reason})
	}
	return rows, nil
}

// sanitizerControls runs memcheck on a control in which it must find something and
// on one in which it must not.
func sanitizerControls(ctx context.Context, devices []int) ([]selfTestRow, error) {
	sanitizer, err := cudarun.FindSanitizer()
	if err != nil {
		return nil, err
	}
	o := cudarun.Options{Devices: devices, LaunchDeadline: selfTestDeadline}
	s, err := cudarun.Open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("compute-sanitizer: %w", err)
	}
	s.Close()
	var rows []selfTestRow
	for _, c := range cudarun.Controls() {
		found := c.Code == "AC903" && c.Want == "confirmed"
		if !found && !(c.Code == "AC901" && c.Want == "unconfirmed") {
			continue
		}
		row := selfTestRow{engine: "memcheck", name: c.Name, code: c.Code, found: found}
		if r, err := cudarun.Sanitize(ctx, o, sanitizer, "memcheck", &c.Plan); err != nil {
			row.said = err.Error()
		} else {
			row.ok, row.said = (r.Errors > 0) == found, fmt.Sprintf("%d errors", r.Errors)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

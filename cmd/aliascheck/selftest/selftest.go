// Package selftest shows every rule and every engine that this machine has what it must
// find and what not: modules whose faults are known, and small kernels.
package selftest

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"aliascheck/cudarun"
	"aliascheck/rules/replay"
)

// deadline is enough for the controls' kernels on any card; the control
// that hangs takes it whole.
const deadline = 2 * time.Second

// row is one control and what an engine said of it.
type row struct {
	engine string
	name   string
	code   string
	found  bool // it must be found
	ok     bool
	said   string
}

// Write asks every engine about its controls and prints the table; devices are GPUs, by
// number. A control that fails is an error.
func Write(ctx context.Context, w io.Writer, devices []int) error {
	rows, absent := ask(ctx, devices)
	return write(w, rows, absent)
}

// ask asks every engine about its controls; absent are the engines that this
// machine does not have, with the reason.
func ask(ctx context.Context, devices []int) (rows []row, absent []string) {
	for _, engine := range []func(context.Context, []int) ([]row, error){ruleControls, machineControls, gpuControls, sanitizerControls} {
		more, err := engine(ctx, devices)
		rows = append(rows, more...)
		if err != nil {
			absent = append(absent, err.Error())
		}
	}
	return rows, absent
}

// write prints the table; a control that fails is an error.
func write(w io.Writer, rows []row, absent []string) error {
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
func gpuControls(ctx context.Context, devices []int) ([]row, error) {
	s, err := cudarun.Open(ctx, cudarun.Options{Devices: devices, LaunchDeadline: deadline})
	if err != nil {
		return nil, fmt.Errorf("GPU: %w", err)
	}
	defer s.Close()
	engine := s.Devices()[0].Name
	var rows []row
	for _, r := range cudarun.SelfTest(ctx, s) {
		rows = append(rows, row{engine, r.Name, r.Code, r.Want == "confirmed", r.OK, r.Got.Confirmation + ": " + r.Got.Reason})
	}
	return rows, nil
}

// sanitizerControls runs memcheck on a control in which it must find something and
// on one in which it must not.
func sanitizerControls(ctx context.Context, devices []int) ([]row, error) {
	sanitizer, err := cudarun.FindSanitizer()
	if err != nil {
		return nil, err
	}
	o := cudarun.Options{Devices: devices, LaunchDeadline: deadline}
	s, err := cudarun.Open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("compute-sanitizer: %w", err)
	}
	s.Close()
	var rows []row
	for _, c := range cudarun.Controls() {
		found := c.Question == replay.Faults && c.Want == "confirmed"
		if !found && !(c.Question == replay.Unstable && c.Want == "unconfirmed") {
			continue
		}
		shown := row{engine: "memcheck", name: c.Name, code: c.Code, found: found}
		if r, err := cudarun.Sanitize(ctx, o, sanitizer, "memcheck", &c.Plan); err != nil {
			shown.said = err.Error()
		} else {
			shown.ok, shown.said = (r.Errors > 0) == found, fmt.Sprintf("%d errors", r.Errors)
		}
		rows = append(rows, shown)
	}
	return rows, nil
}

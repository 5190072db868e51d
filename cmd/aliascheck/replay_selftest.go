package main

import (
	"context"
	"time"

	"aliascheck/cudarun"
)

// selfTestDeadline is enough for the controls' kernels on any card; the control
// that hangs takes it whole.
const selfTestDeadline = 2 * time.Second

// gpuControls replays the GPU engine's controls on the first device. The reason
// says in one line why there are none.
func gpuControls(ctx context.Context) (results []cudarun.ControlResult, device, reason string) {
	s, err := cudarun.Open(ctx, cudarun.Options{LaunchDeadline: selfTestDeadline})
	if err != nil {
		return nil, "", err.Error()
	}
	defer s.Close()
	about := s.Devices()[0]
	return cudarun.SelfTest(ctx, s), about.Name, ""
}

// sanitizerControls runs memcheck on one control in which it must find something
// and one in which it must not.
func sanitizerControls(ctx context.Context) (results []sanitizerControl, reason string) {
	sanitizer, err := cudarun.FindSanitizer()
	if err != nil {
		return nil, err.Error()
	}
	o := cudarun.Options{LaunchDeadline: selfTestDeadline}
	for _, c := range cudarun.Controls() {
		found := c.Code == "AC903" && c.Want == "confirmed"
		if !found && !(c.Code == "AC201" && c.Want == "unconfirmed") {
			continue
		}
		r, err := cudarun.Sanitize(ctx, o, sanitizer, "memcheck", &c.Plan)
		result := sanitizerControl{Name: "memcheck: " + c.Name, Want: found, Err: err}
		result.OK = err == nil && (r.Errors > 0) == found
		results = append(results, result)
	}
	return results, ""
}

// sanitizerControl is what compute-sanitizer said of a control.
type sanitizerControl struct {
	Name string
	Want bool // a hazard is to be found
	OK   bool
	Err  error
}

package cudarun

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"aliascheck/cudarun/driver"
	"aliascheck/cudarun/internal/process"
)

// roleVariable makes the test binary something else than a test.
const roleVariable = "CUDARUN_TEST_ROLE"

// TestMain lets the test binary be the worker processes that the tests start.
func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// play is what the binary does in a role.
func play(role string) error {
	switch role {
	case "fake", "full":
		var opened *fakeDevice
		w := worker{abort: process.EndSelf, open: func(ordinal int) (driver.Device, error) {
			if ordinal > 1 {
				return nil, fmt.Errorf("device %d: the driver shows 2 devices", ordinal)
			}
			d := newFake()
			d.about.Ordinal = ordinal
			d.stuck = make(chan struct{})
			if role == "full" {
				d.total = 1 << 17
			}
			opened = d
			return d, nil
		}}
		err := w.serve(os.Stdin, os.Stdout)
		if err == nil && opened != nil && !opened.lost && opened.leaks() != "" {
			err = fmt.Errorf("left on the device: %s", opened.leaks())
		}
		return err
	case "real":
		return ServeWorker(os.Stdin, os.Stdout)
	case "garbage":
		fmt.Println("Hello, I am a banner that somebody's shell prints.")
		time.Sleep(time.Hour)
	case "late garbage":
		if err := writeJSON(os.Stdout, frameHello, hello{protocolName, protocolVersion}); err != nil {
			return err
		}
		if err := writeJSON(os.Stdout, frameDevice, deviceReply{}); err != nil {
			return err
		}
		fmt.Println("and now something completely different")
		time.Sleep(time.Hour)
	case "old":
		return writeJSON(os.Stdout, frameHello, hello{protocolName, protocolVersion - 1})
	case "out of turn":
		if err := writeJSON(os.Stdout, frameHello, hello{protocolName, protocolVersion}); err != nil {
			return err
		}
		if err := writeJSON(os.Stdout, frameStage, "lunch"); err != nil {
			return err
		}
		time.Sleep(time.Hour)
	case "dead":
		return fmt.Errorf("no luck today")
	case "parent":
		return parent(fakeOptions("fake"), pairPlan("stuck", 8, false, false))
	case "parent of a hang":
		for _, c := range Controls() {
			if c.Code == "AC902" && c.Want == "confirmed" {
				o := gpuOptions()
				o.LaunchDeadline = time.Hour
				return parent(o, c.Plan)
			}
		}
	}
	return fmt.Errorf("no role %q", role)
}

// parent starts a worker that gets stuck, tells its process id when the kernel
// runs, and waits to be killed.
func parent(o Options, plan Plan) error {
	running := make(chan bool, 1)
	o.Progress = func(p Progress) {
		if p.Stage == "apart 1" {
			running <- true
		}
	}
	s, err := Open(context.Background(), o)
	if err != nil {
		return err
	}
	pid := s.clients[0].cmd.Process.Pid
	go s.Run(context.Background(), []Plan{plan})
	<-running
	fmt.Println(pid)
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	return nil
}

// fakeOptions start this binary in a role as the worker.
func fakeOptions(role string) Options {
	return Options{
		Worker: []string{os.Args[0]},
		Env:    append(os.Environ(), roleVariable+"="+role),
		// Long enough for any machine: no test waits for it.
		Silence: 10 * time.Minute,
	}
}

package cudarun

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// openFake opens a session of fake workers; at the test's end none is left.
func openFake(t *testing.T, o Options) *Session {
	t.Helper()
	s, err := Open(context.Background(), o)
	require.NoError(t, err)
	pids := pidsOf(s)
	t.Cleanup(func() {
		pids = append(pids, pidsOf(s)...)
		clients := append([]*client(nil), s.clients...)
		s.Close()
		for _, c := range clients {
			if c != nil {
				assert.Empty(t, c.stderr.words(), "a worker that ends well has nothing to say, leaks above all")
			}
		}
		for _, pid := range pids {
			assert.True(t, gone(pid), "process %d is left", pid)
		}
	})
	return s
}

func pidsOf(s *Session) []int {
	var pids []int
	for _, c := range s.clients {
		if c != nil {
			pids = append(pids, c.cmd.Process.Pid)
		}
	}
	return pids
}

// gone says that a process does not run: it does not exist, or waits for somebody
// to ask for its exit status.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return true
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return os.IsNotExist(err)
	}
	rest := b[bytes.LastIndexByte(b, ')')+1:]
	return strings.HasPrefix(strings.TrimSpace(string(rest)), "Z")
}

func TestSession(t *testing.T) {
	var seen []Progress
	o := fakeOptions("fake")
	o.Progress = func(p Progress) { seen = append(seen, p) }
	s := openFake(t, o)
	assert.Equal(t, "fake", s.Devices()[0].Name)
	first, again := pairPlan("reverse", testElements, true, true), pairPlan("reverse", testElements, true, true)
	again.Name = "the same"
	outcomes := s.Run(context.Background(), []Plan{first, pairPlan("scale", testElements, true, true), again})
	require.Len(t, outcomes, 3)
	assert.Equal(t, "confirmed", outcomes[0].Verdict(replay.PairShared, NoBuffer).Confirmation)
	assert.Equal(t, "unconfirmed", outcomes[1].Verdict(replay.PairShared, NoBuffer).Confirmation)
	assert.Equal(t, "the same", outcomes[2].Plan)
	assert.Equal(t, outcomes[0].Key, outcomes[2].Key)
	assert.Equal(t, outcomes[0].Configurations, outcomes[2].Configurations)
	last := seen[len(seen)-1]
	assert.Equal(t, Progress{Plan: "scale", Stage: "end", Done: 2, Of: 2}, last, "equal plans are replayed once")
	assert.Contains(t, seen, Progress{Plan: "reverse", Stage: "confined 5", Done: 0, Of: 2})
}

// Faults and hangs cost one replay each, and the next worker serves the rest.
func TestSessionGoesOn(t *testing.T) {
	s := openFake(t, fakeOptions("fake"))
	var plans []Plan
	var want []string
	for i := range 40 {
		entry, code := "reverse", "AC201"
		switch i % 10 {
		case 3:
			entry, code = "fault", "AC903"
		case 5:
			entry, code = "hang", "AC902"
		case 7:
			entry, code = "dies", ""
		}
		plans = append(plans, pairPlan(entry, 100+i, true, true))
		want = append(want, code)
	}
	for i, out := range s.Run(context.Background(), plans) {
		if want[i] == "" {
			assert.Contains(t, out.Skipped, "the worker ended (at: apart 1): signal: killed", "plan %d", i)
			continue
		}
		assert.Equal(t, "confirmed", out.Verdict(question(want[i]), NoBuffer).Confirmation, "plan %d: %+v", i, out)
	}
}

// A kernel that never ends, and a driver that never answers: the worker is killed.
func TestSessionKillsTheSilent(t *testing.T) {
	s := openFake(t, fakeOptions("fake"))
	pid := s.clients[0].cmd.Process.Pid
	s.clients[0].silence = 50 * time.Millisecond
	outcomes := s.Run(context.Background(), []Plan{pairPlan("stuck", 8, true, true), pairPlan("scale", 8, true, true)})
	assert.Contains(t, outcomes[0].Skipped, "said nothing")
	assert.Empty(t, outcomes[1].Skipped, "a new worker serves the next")
	assert.True(t, gone(pid))
}

func TestSessionInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := fakeOptions("fake")
	o.Progress = func(p Progress) {
		if p.Stage == "apart 1" && p.Plan == "stuck" {
			cancel()
		}
	}
	s := openFake(t, o)
	outcomes := s.Run(ctx, []Plan{pairPlan("scale", 8, true, true), pairPlan("stuck", 8, true, true), pairPlan("reverse", 8, true, true)})
	assert.Empty(t, outcomes[0].Skipped)
	assert.Equal(t, "interrupted", outcomes[1].Skipped)
	assert.Equal(t, "interrupted", outcomes[2].Skipped)
	assert.Equal(t, "unchecked", outcomes[2].Verdict(replay.PairShared, NoBuffer).Confirmation)
}

func TestSessionBudget(t *testing.T) {
	o := fakeOptions("fake")
	o.Budget = time.Nanosecond
	s := openFake(t, o)
	outcomes := s.Run(context.Background(), []Plan{pairPlan("scale", 8, true, true)})
	v := outcomes[0].Verdict(replay.PairShared, NoBuffer)
	assert.Equal(t, "unchecked", v.Confirmation)
	assert.Contains(t, v.Reason, "the GPU budget of 1ns was used up")
}

func TestSessionOnTwoDevices(t *testing.T) {
	o := fakeOptions("fake")
	o.Devices = []int{1, 0}
	s := openFake(t, o)
	var plans []Plan
	for i := range 20 {
		plans = append(plans, pairPlan("scale", 10+i, true, true))
	}
	for _, out := range s.Run(context.Background(), plans) {
		assert.Empty(t, out.Skipped)
		assert.Contains(t, []int{0, 1}, out.Device.Ordinal)
	}
}

func TestSessionFullCard(t *testing.T) {
	s := openFake(t, fakeOptions("full"))
	out := s.Run(context.Background(), []Plan{pairPlan("scale", 8, true, true)})[0]
	assert.Contains(t, out.Skipped, "the card is full: the replay needs")
}

func TestOpenSaysWhyNot(t *testing.T) {
	for _, c := range []struct{ role, want string }{
		{"garbage", "output is no protocol"},
		{"late garbage", ""}, // its greeting is right
		{"old", "does not speak version 1"},
		{"out of turn", "where a device was asked for"},
		{"dead", "no luck today"},
		{"real", ""}, // whatever this machine has
	} {
		s, err := Open(context.Background(), fakeOptions(c.role))
		if c.want != "" {
			assert.ErrorContains(t, err, c.want, c.role)
		}
		if err != nil {
			assert.NotContains(t, err.Error(), "\n", "one line")
			continue
		}
		out := s.Run(context.Background(), []Plan{pairPlan("scale", 8, true, true)})[0]
		if c.role == "late garbage" {
			assert.Contains(t, out.Skipped, "output is no protocol")
		}
		s.Close()
	}
	_, err := Open(context.Background(), Options{Worker: []string{"/no/such/worker"}})
	assert.ErrorContains(t, err, "no such file")
	o := fakeOptions("fake")
	o.Devices = []int{0, 2}
	_, err = Open(context.Background(), o)
	assert.ErrorContains(t, err, "the driver shows 2 devices")
}

// A worker ends with its parent, also when the parent is killed and the worker is
// in the middle of a kernel.
func TestWorkerEndsWithItsParent(t *testing.T) {
	killParent(t, "parent")
}

// killParent kills a parent whose worker is in the middle of a kernel, and waits
// until the worker is gone: the test's own limit bounds that.
func killParent(t *testing.T, role string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	var pid int
	_, err = fmt.Sscan(line, &pid)
	require.NoError(t, err)
	assert.False(t, gone(pid))
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for !gone(pid) {
		time.Sleep(time.Millisecond)
	}
}

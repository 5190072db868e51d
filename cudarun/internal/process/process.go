//go:build unix

// Package process starts workers that end with this program, and ends them whole.
package process

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// OwnGroup gives a worker a process group of its own: a signal from the terminal
// reaches the parent only, and a wrapper ends together with what it runs.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// EndGroup kills the group of a worker that OwnGroup prepared.
func EndGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
}

// Start starts a process from a thread that lives as long as it does, since the worker
// is ended with the thread that started it, and then has that thread run.
func Start(cmd *exec.Cmd, run func()) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			run()
		}
	}()
	return <-started
}

//go:build unix

package process

import (
	"os"
	"os/exec"
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

// EndSelf ends this process at once, also where a thread hangs in the driver.
func EndSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

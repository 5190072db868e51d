//go:build unix

package cudarun

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup gives a worker a process group of its own: a signal from the terminal
// reaches the parent only, and a wrapper ends together with what it runs.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// endGroup kills the group of a worker that ownGroup prepared.
func endGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
}

// endProcess ends this process at once, also where a thread hangs in the driver.
func endProcess() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

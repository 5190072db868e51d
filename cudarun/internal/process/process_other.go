//go:build !unix

package process

import (
	"os"
	"os/exec"
)

// OwnGroup does nothing where there are no process groups.
func OwnGroup(*exec.Cmd) {}

// EndGroup kills a worker.
func EndGroup(p *os.Process) { _ = p.Kill() }

// EndSelf ends this process at once.
func EndSelf() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
}

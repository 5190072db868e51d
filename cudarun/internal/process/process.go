// Package process starts workers that end with this program, and ends them whole.
package process

import (
	"os/exec"
	"runtime"
)

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

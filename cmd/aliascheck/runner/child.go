package runner

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// child is the command, in a process group of its own: signals that aliascheck
// receives reach all of the command's processes and none of the caller's. On a
// terminal the group is brought to the foreground, so that Ctrl-C and Ctrl-Z go
// to it from the terminal itself, once.
type child struct {
	pid int
	tty *terminal // nil where the command was not brought to the foreground
}

// startError is a command that could not be started; its code is the shell's.
type startError struct {
	code int
	err  error
}

func (e *startError) Error() string { return e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

func start(command []string, env environment, in, out, errs *os.File) (*child, error) {
	cmd := exec.Command(command[0], command[1:]...)
	if cmd.Err != nil {
		err := fmt.Errorf("%s: no such command", command[0])
		if !errors.Is(cmd.Err, exec.ErrNotFound) {
			err = cmd.Err
		}
		return nil, &startError{shellCode(cmd.Err), err}
	}
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, in, out, errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	tty := foregroundTerminal()
	if tty != nil {
		cmd.SysProcAttr.Foreground = true
		cmd.SysProcAttr.Ctty = tty.fd()
	}
	adoptOrphans()
	if err := cmd.Start(); err != nil {
		tty.close()
		return nil, &startError{shellCode(err), fmt.Errorf("%s: %w", command[0], err)}
	}
	c := &child{pid: cmd.Process.Pid, tty: tty}
	// wait asks the system itself, to see the command being stopped as well.
	return c, cmd.Process.Release()
}

func shellCode(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return 127
	}
	return 126
}

// signal sends s to every process of the command.
func (c *child) signal(s syscall.Signal) { _ = syscall.Kill(-c.pid, s) }

// alive reports whether any process of the command's group is left. Call it only
// when the command itself has ended: it collects its orphans.
func (c *child) alive() bool {
	for {
		pid, err := syscall.Wait4(-c.pid, nil, syscall.WNOHANG, nil)
		if err != nil || pid <= 0 {
			break
		}
	}
	return syscall.Kill(-c.pid, 0) == nil
}

// wait returns how the command ended. When the terminal stops it, aliascheck stops
// as well, so that the shell gets its prompt back, and continues it when continued.
func (c *child) wait() (syscall.WaitStatus, error) {
	defer c.tty.close()
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(c.pid, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for process %d: %w", c.pid, err)
		case !status.Stopped():
			c.tty.reclaim()
			return status, nil
		case c.tty != nil:
			c.tty.reclaim()
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			c.tty.give(c.pid)
			c.signal(syscall.SIGCONT)
		}
	}
}

// straggler is a process that outlives the command and may still write dumps.
type straggler struct {
	pid  int
	line string // its command line
}

// waitForAll waits until the command's descendants have ended too, at most limit, and
// returns those that have not: the rest of its process group, and whoever was started
// to write below dumps and has left the group.
func (c *child) waitForAll(dumps string, limit time.Duration) []straggler {
	for waited := time.Duration(0); ; waited += 20 * time.Millisecond {
		group := c.alive()
		if !group || waited >= limit {
			// To look at all processes takes longer than to ask for a group.
			left := leftBehind(dumps)
			if group && len(left) == 0 {
				left = []straggler{{c.pid, "a process of this group"}}
			}
			if len(left) == 0 || waited >= limit {
				return left
			}
			time.Sleep(180 * time.Millisecond)
			waited += 180 * time.Millisecond
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// relay holds the signals that this process receives, from before the command
// starts, so that none ends aliascheck in between.
type relay struct {
	signals chan os.Signal
	done    chan struct{}
}

func newRelay() *relay {
	r := &relay{signals: make(chan os.Signal, 8), done: make(chan struct{})}
	signal.Notify(r.signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	return r
}

// to passes the signals on to the command until stop.
func (r *relay) to(c *child) {
	for {
		select {
		case s := <-r.signals:
			c.signal(s.(syscall.Signal))
		case <-r.done:
			return
		}
	}
}

func (r *relay) stop() {
	signal.Stop(r.signals)
	close(r.done)
}

// terminal is the controlling terminal. All its methods do nothing on nil.
type terminal struct {
	file  *os.File
	group int // aliascheck's own process group
}

// foregroundTerminal opens the controlling terminal, if there is one and
// aliascheck is in its foreground: a background job must not take it.
func foregroundTerminal() *terminal {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	t := &terminal{file: file, group: syscall.Getpgrp()}
	front, err := unix.IoctlGetInt(t.fd(), unix.TIOCGPGRP)
	if err != nil || front != t.group {
		t.close()
		return nil
	}
	return t
}

func (t *terminal) fd() int { return int(t.file.Fd()) }

func (t *terminal) close() {
	if t != nil {
		t.file.Close()
	}
}

func (t *terminal) reclaim() {
	if t != nil {
		t.give(t.group)
	}
}

// give brings a process group to the foreground. The caller may be in the
// background itself, where the kernel answers with SIGTTOU unless it is ignored.
func (t *terminal) give(group int) {
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	_ = unix.IoctlSetPointerInt(t.fd(), unix.TIOCSPGRP, group)
}

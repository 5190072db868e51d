package cudarun

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"aliascheck/cudarun/driver"
	"aliascheck/cudarun/internal/process"
)

// client is the parent's end of one worker process.
type client struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	frames  chan frame
	failed  error // why frames ended; set before it is closed
	stderr  *tailBuffer
	exited  chan struct{}
	exit    error
	silence time.Duration // the longest that a worker may say nothing
	device  driver.DeviceInfo
	free    int64 // bytes, when the device was opened
}

// errNoDevice is a worker that runs and finds no card.
type errNoDevice struct{ reason string }

func (e errNoDevice) Error() string { return e.reason }

// startClient starts a worker and opens a device in it.
func startClient(ctx context.Context, argv, env []string, ordinal int, silence time.Duration) (*client, error) {
	if len(argv) == 0 {
		return nil, errors.New("no worker command")
	}
	c := &client{frames: make(chan frame), exited: make(chan struct{}), stderr: &tailBuffer{limit: 4 << 10}, silence: silence}
	c.cmd = exec.Command(argv[0], argv[1:]...)
	c.cmd.Env = env
	c.cmd.Stderr = c.stderr
	c.cmd.WaitDelay = closeGrace // where a stranger holds its standard error
	process.OwnGroup(c.cmd)
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.start(stdout); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	if err := c.greet(ctx, ordinal); err != nil {
		c.kill()
		return nil, err
	}
	return c, nil
}

// start runs the process from a thread that lives as long as it does: the worker
// is ended with the thread that started it.
func (c *client) start(stdout io.Reader) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		c.receive(stdout)
		c.exit = c.cmd.Wait()
		close(c.exited)
	}()
	return <-started
}

// receive passes frames on until the worker's output ends, or is no protocol.
func (c *client) receive(stdout io.Reader) {
	r := bufio.NewReaderSize(stdout, 64<<10)
	for {
		f, err := readFrame(r)
		if err != nil {
			if err != io.EOF {
				c.failed = err
				process.EndGroup(c.cmd.Process) // it may go on talking: nobody listens
			}
			close(c.frames)
			return
		}
		c.frames <- f
	}
}

// greet checks the worker's hello and opens its device.
func (c *client) greet(ctx context.Context, ordinal int) error {
	f, err := c.next(ctx, "start")
	if err != nil {
		return err
	}
	var h hello
	if f.kind != frameHello || f.decode(&h) != nil || h.Name != protocolName || h.Version != protocolVersion {
		return fmt.Errorf("worker %s: it does not speak version %d of the protocol", c.cmd.Path, protocolVersion)
	}
	if err := writeJSON(c.stdin, frameOpen, openRequest{ordinal}); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	if f, err = c.next(ctx, "open the device"); err != nil {
		return err
	}
	switch f.kind {
	case frameDevice:
		var d deviceReply
		if err := f.decode(&d); err != nil {
			return err
		}
		c.device, c.free = d.Device, d.Free
		return nil
	case frameFailure:
		var e failure
		if err := f.decode(&e); err != nil {
			return err
		}
		return errNoDevice{e.Error}
	}
	return fmt.Errorf("worker: a frame %q where a device was asked for", f.kind)
}

// next waits for a frame. stage says what the worker is at, for the error.
func (c *client) next(ctx context.Context, stage string) (frame, error) {
	patience := time.NewTimer(c.silence)
	defer patience.Stop()
	select {
	case f, ok := <-c.frames:
		if !ok {
			return frame{}, c.death(stage)
		}
		return f, nil
	case <-ctx.Done():
		return frame{}, ctx.Err()
	case <-patience.C:
		return frame{}, fmt.Errorf("the worker said nothing for %s; it was at: %s", c.silence, stage)
	}
}

// death says how the worker ended.
func (c *client) death(stage string) error {
	if c.failed != nil {
		return fmt.Errorf("the worker's output is no protocol (at: %s): %w%s", stage, c.failed, c.stderr.words())
	}
	select {
	case <-c.exited:
	case <-time.After(c.silence):
		return fmt.Errorf("the worker closed its output (at: %s)%s", stage, c.stderr.words())
	}
	return fmt.Errorf("the worker ended (at: %s): %s%s", stage, c.cmd.ProcessState, c.stderr.words())
}

// maxSilences bounds a replay, beside two for each configuration: a stage ends, or the
// worker is killed, in the time of one.
const maxSilences = 10

// replay sends a plan and waits for its outcome. After an error, or a lost
// device, the worker is of no more use.
func (c *client) replay(ctx context.Context, plan *Plan, run runRequest, stage func(string)) (out Outcome, lost bool, err error) {
	sent := make(chan error, 1)
	go func() { sent <- writePlan(c.stdin, plan, run) }()
	at := "plan"
	// Each stage may take its time, and all together must end: a worker that has gone mad
	// could begin stages for ever.
	whole, cancel := context.WithTimeout(ctx, time.Duration(maxSilences+2*len(plan.Kernels))*c.silence)
	defer cancel()
	for {
		f, err := c.next(whole, at)
		if err != nil && ctx.Err() == nil && whole.Err() != nil {
			err = fmt.Errorf("the worker came to no end; it was at: %s", at)
		}
		if err != nil {
			c.kill() // ends the sender too
			if failed := <-sent; failed != nil && ctx.Err() == nil && c.failed == nil {
				err = fmt.Errorf("%w (sending the plan: %w)", err, failed)
			}
			return out, true, err
		}
		switch f.kind {
		case frameStage:
			if err := f.decode(&at); err != nil {
				c.kill()
				return out, true, err
			}
			stage(at)
		case frameOutcome:
			var reply outcomeReply
			if err := f.decode(&reply); err != nil {
				c.kill()
				return out, true, err
			}
			return reply.Outcome, reply.Lost, <-sent
		default:
			c.kill()
			return out, true, fmt.Errorf("worker: a frame %q where an outcome was asked for", f.kind)
		}
	}
}

// close ends a worker that is idle, or has lost its device, by the end of its
// input, and kills it if it takes longer than grace.
func (c *client) close(grace time.Duration) {
	_ = c.stdin.Close()
	go func() { // a worker that still talks must not block
		for range c.frames {
		}
	}()
	select {
	case <-c.exited:
	case <-time.After(grace):
		c.kill()
	}
}

// killWait is how long a killed worker may take to be gone: the driver has to stop
// a hung kernel first.
const killWait = 30 * time.Second

// kill ends the worker by its own process id and waits for it.
func (c *client) kill() {
	process.EndGroup(c.cmd.Process)
	_ = c.stdin.Close()
	gone := time.NewTimer(killWait)
	defer gone.Stop()
	frames := c.frames
	for {
		select {
		case _, ok := <-frames: // a worker that still talks must not block
			if !ok {
				frames = nil
			}
		case <-c.exited:
			return
		case <-gone.C:
			return
		}
	}
}

// tailBuffer keeps the last bytes written to it.
type tailBuffer struct {
	mu    sync.Mutex
	limit int
	bytes []byte
}

func (b *tailBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes = append(b.bytes, p...)
	if extra := len(b.bytes) - b.limit; extra > 0 {
		b.bytes = append(b.bytes[:0], b.bytes[extra:]...)
	}
	return len(p), nil
}

// words are the last lines, for the end of an error.
func (b *tailBuffer) words() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := strings.TrimSpace(string(bytes.ToValidUTF8(b.bytes, []byte("?"))))
	if text == "" {
		return ""
	}
	return ": " + text
}

package jax

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"aliascheck/cudarun/internal/process"
)

// worker is one child process, asked one call after the other.
type worker struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers chan answer // closed with the output
	failed  error       // why answers ended; set before it is closed
	stderr  *tail
	exited  chan struct{}
	silence time.Duration
	ready   Ready
}

// answer is one line of the worker's.
type answer struct {
	Ready   *Ready   `json:"ready"`
	Stage   string   `json:"stage"`
	Outcome *Outcome `json:"outcome"`
	Refused string   `json:"refused"`
}

// hello is the first line that a worker reads.
type hello struct {
	Platform string     `json:"platform"`
	Imports  []string   `json:"imports"`
	Paths    []string   `json:"paths"`
	Trace    *traceWith `json:"trace,omitempty"`
}

type traceWith struct {
	Library string `json:"library"`
	Patches string `json:"patches"`
}

// maxLine bounds an answer: an outcome of 64 buffers and every pair of them.
const maxLine = 8 << 20

// ErrRefused is an answer that a call cannot be made, with the reason.
type ErrRefused struct{ Reason string }

func (e ErrRefused) Error() string { return e.Reason }

// startWorker starts Python on the scripts of a folder and has JAX start in it.
func startWorker(ctx context.Context, python, script string, h hello, silence time.Duration) (*worker, error) {
	w := &worker{answers: make(chan answer), exited: make(chan struct{}), stderr: &tail{}, silence: silence}
	w.cmd = exec.Command(python, "-u", script)
	w.cmd.Stderr = w.stderr
	w.cmd.WaitDelay = time.Second
	w.cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "TF_CPP_MIN_LOG_LEVEL=2")
	process.OwnGroup(w.cmd)
	var err error
	if w.stdin, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(w.cmd, func() {
		w.receive(stdout)
		_ = w.cmd.Wait()
		close(w.exited)
	}); err != nil {
		return nil, fmt.Errorf("starting %s: %w", python, err)
	}
	if err := w.send(h); err != nil {
		w.kill()
		return nil, w.death("start")
	}
	a, err := w.next(ctx, "start")
	if err == nil && a.Ready == nil {
		err = fmt.Errorf("JAX did not start: %s", a.Refused)
	}
	if err != nil {
		w.kill()
		return nil, err
	}
	w.ready = *a.Ready
	return w, nil
}

func (w *worker) send(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.stdin.Write(append(line, '\n'))
	return err
}

// receive hands answers on until the worker's output ends, or is no answer.
func (w *worker) receive(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			w.failed = fmt.Errorf("the worker's answer is none: %w", err)
			break
		}
		w.answers <- a
	}
	if err := lines.Err(); err != nil && w.failed == nil {
		w.failed = err
	}
	if w.failed != nil {
		process.EndGroup(w.cmd.Process)
	}
	close(w.answers)
}

// next waits for an answer; at says what the worker is at, for the error.
func (w *worker) next(ctx context.Context, at string) (answer, error) {
	patience := time.NewTimer(w.silence)
	defer patience.Stop()
	select {
	case a, ok := <-w.answers:
		if !ok {
			return answer{}, w.death(at)
		}
		return a, nil
	case <-ctx.Done():
		return answer{}, context.Cause(ctx)
	case <-patience.C:
		return answer{}, errSilent{w.silence, at}
	}
}

// errSilent is a worker that said nothing for its whole silence: a call that hangs.
type errSilent struct {
	silence time.Duration
	at      string
}

func (e errSilent) Error() string {
	return fmt.Sprintf("no end after %s (%s)", e.silence, e.at)
}

// errDied is a worker that ended by itself.
type errDied struct{ at, how string }

func (e errDied) Error() string { return fmt.Sprintf("the worker ended (at: %s): %s", e.at, e.how) }

func (w *worker) death(at string) error {
	if w.failed != nil {
		return w.failed
	}
	select {
	case <-w.exited:
	case <-time.After(w.silence):
		return errDied{at, "it closed its output" + w.stderr.words()}
	}
	return errDied{at, w.cmd.ProcessState.String() + w.stderr.words()}
}

// ask has one call replayed and traced. lost says that the worker is of no more use.
func (w *worker) ask(ctx context.Context, r any) (out *Outcome, lost bool, err error) {
	if err := w.send(r); err != nil {
		w.kill()
		return nil, true, w.death("call")
	}
	at := "compile"
	for {
		a, err := w.next(ctx, at)
		if err != nil {
			w.kill()
			return stopped(err, at), true, err
		}
		switch {
		case a.Stage != "":
			at = a.Stage
		case a.Outcome != nil:
			return a.Outcome, a.Outcome.Fault != nil, nil
		default:
			return nil, false, ErrRefused{a.Refused}
		}
	}
}

// stopped is the outcome of a call that hung, or took its process with it.
func stopped(err error, at string) *Outcome {
	var silent errSilent
	var died errDied
	switch {
	case errors.As(err, &silent) && at != "compile":
		return &Outcome{Fault: &Fault{Mode: at, Error: err.Error(), Hang: true}}
	case errors.As(err, &died) && at != "compile":
		return &Outcome{Fault: &Fault{Mode: at, Error: err.Error()}}
	}
	return nil
}

// close ends the worker by the end of its input, and kills it if that takes long.
func (w *worker) close() {
	_ = w.stdin.Close()
	go func() {
		for range w.answers { // a worker that still talks must not block
		}
	}()
	select {
	case <-w.exited:
	case <-time.After(5 * time.Second):
		w.kill()
	}
}

// kill ends the worker's group and waits until it is gone.
func (w *worker) kill() {
	process.EndGroup(w.cmd.Process)
	_ = w.stdin.Close()
	go func() {
		for range w.answers {
		}
	}()
	select {
	case <-w.exited:
	case <-time.After(30 * time.Second): // the driver has to stop a hung kernel first
	}
}

// tail keeps the last of what a worker says on its standard error.
type tail struct {
	mu    sync.Mutex
	bytes []byte
}

const tailBytes = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, p...)
	if extra := len(t.bytes) - tailBytes; extra > 0 {
		t.bytes = append(t.bytes[:0], t.bytes[extra:]...)
	}
	return len(p), nil
}

func (t *tail) words() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(bytes.ToValidUTF8(t.bytes, []byte("?"))))
	if text == "" {
		return ""
	}
	return ": " + text
}

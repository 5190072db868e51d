package compile

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
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"aliascheck/hlo"
)

// maxEvent bounds one event, in bytes.
const maxEvent = 16 << 20

// process is one Python that compiles for a target.
type process struct {
	run      *targetRun
	dump     string
	programs []Program
	ready    bool
	current  string // key of the program whose turn it is
	name     string
}

// event is one line of the Python side: see python/aliascheck_compile.py.
type event struct {
	Event        string   `json:"event"`
	Key          string   `json:"key"`
	Name         string   `json:"name"`
	JAX          string   `json:"jax"`
	Python       string   `json:"python"`
	Dropped      []string `json:"dropped"`
	Modules      []int    `json:"modules"`
	Seconds      float64  `json:"seconds"`
	Placeholders []string `json:"placeholders"`
	Without      []string `json:"without"`
	Error        string   `json:"error"`
	Mend         string   `json:"mend"`
	Place        string   `json:"place"`
}

// job is what the Python side is told.
type job struct {
	Target   string    `json:"target"`
	Config   string    `json:"config"`
	Dump     string    `json:"dump"`
	Programs []Program `json:"programs"`
	Skip     []string  `json:"skip"`
}

// compile runs the process to its end and says whether it went through all programs.
func (p *process) compile(ctx context.Context) (whole bool, err error) {
	work, err := json.Marshal(job{p.run.target.Name, p.run.target.Config, p.dump, p.programs, p.run.skip})
	if err != nil {
		return false, err
	}
	logPath := p.dump + ".log"
	log, err := os.Create(logPath)
	if err != nil {
		return false, err
	}
	defer log.Close()
	reader, writer, err := os.Pipe()
	if err != nil {
		return false, err
	}
	defer reader.Close()
	cmd := exec.Command(p.run.o.Python, filepath.Join(p.run.scripts, "aliascheck_compile.py"))
	cmd.Env = append(withoutPython(p.run.o.Env), "ALIASCHECK_EVENTS=3", "PYTHONUNBUFFERED=1")
	cmd.Stdin, cmd.ExtraFiles = bytes.NewReader(work), []*os.File{writer}
	var out io.Writer = log
	if p.run.o.Log != nil {
		out = io.MultiWriter(log, p.run.o.Log)
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a hanging program's children end with it
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Start()
	writer.Close()
	if err != nil {
		return false, fmt.Errorf("%s: %w", p.run.o.Python, err)
	}
	ended, why := p.follow(ctx, reader, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	waitErr := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case ended:
		return true, nil
	case why == "":
		why = endedEarly(waitErr, logPath)
	}
	return p.broken(why), nil
}

// follow takes events until the last one, the end of the process, or a timeout, which
// ends the process.
func (p *process) follow(ctx context.Context, r io.Reader, kill func()) (ended bool, why string) {
	events := make(chan *event)
	go func() {
		defer close(events)
		scan := bufio.NewScanner(r)
		scan.Buffer(nil, maxEvent)
		for scan.Scan() {
			var e event
			if json.Unmarshal(scan.Bytes(), &e) == nil {
				events <- &e
			}
		}
	}()
	timer := time.NewTimer(p.run.o.Timeout)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return false, why
			}
			if p.take(e) {
				go func() { // a process that the program left behind may hold the pipe
					for range events {
					}
				}()
				return true, ""
			}
			timer.Reset(p.run.o.Timeout)
		case <-timer.C:
			why = timedOut(p.run.o.Timeout)
			kill()
		case <-ctx.Done():
			kill()
			for range events { // to the pipe's end
			}
			return false, ""
		}
	}
}

// endedEarly says how a process ended that was not done, with its last words.
func endedEarly(err error, log string) string {
	text := "Python ended without a word"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			text = fmt.Sprintf("Python was ended by signal %d (%v)", status.Signal(), status.Signal())
		} else {
			text = fmt.Sprintf("Python ended with exit code %d", exit.ExitCode())
		}
	}
	if last := lastLine(log); last != "" {
		text += ": " + last
	}
	return text
}

// lastLine is the last line of a log that says anything.
func lastLine(path string) string {
	f, _, err := hlo.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const tail = 16 << 10
	if info, err := f.Stat(); err == nil && info.Size() > tail {
		_, _ = f.Seek(-tail, io.SeekEnd)
	}
	data, _ := io.ReadAll(io.LimitReader(f, tail))
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	return last[:min(len(last), 500)]
}

// withoutPython is an environment without what changes how Python starts a script.
func withoutPython(env []string) []string {
	var out []string
	for _, e := range env {
		if !strings.HasPrefix(e, "PYTHONINSPECT=") && !strings.HasPrefix(e, "PYTHONSAFEPATH=") {
			out = append(out, e)
		}
	}
	return out
}

// moduleNumber is the number in module_NUMBER.NAME.STAGE; -1 where there is none.
func moduleNumber(name string) int {
	_, rest, found := strings.Cut(name, "module_")
	digits, _, ended := strings.Cut(rest, ".")
	n, err := strconv.ParseUint(digits, 10, 31)
	if !found || !ended || err != nil {
		return -1
	}
	return int(n)
}

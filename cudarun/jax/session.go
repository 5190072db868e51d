package jax

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// The worker's scripts, and the patches for the architectures that they were built for.
//
//go:embed python/*.py
var scripts embed.FS

// Session asks workers about calls, one call at a time. It keeps a worker for replays
// and, where traces are asked for, another for these: patched kernels are slow even
// where nothing is recorded.
type Session struct {
	options Options
	mu      sync.Mutex
	dir     string // of the scripts
	replays *worker
	traces  *worker
	starts  int
	failed  error // why no worker starts
	without string
}

// maxStarts bounds the workers of a session: calls that fault take one each.
const maxStarts = 1000

// NewSession returns a session; its first worker starts with the first call.
func NewSession(o Options) *Session {
	if o.Python == "" {
		o.Python = "python3"
	}
	if o.Silence == 0 {
		o.Silence = DefaultSilence
	}
	return &Session{options: o}
}

// Ready starts the workers, if they do not run yet, and says what there is.
func (s *Session) Ready(ctx context.Context) (Ready, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.replayer(ctx)
	if err != nil {
		return Ready{}, err
	}
	ready := w.ready
	if t, err := s.tracer(ctx); err == nil && t != nil {
		ready.Trace, ready.WithoutTrace = t.ready.Trace, t.ready.WithoutTrace
	} else if s.without != "" {
		ready.WithoutTrace = s.without
	}
	return ready, nil
}

// Ask has one call replayed and traced. An ErrRefused says why the call cannot be made
// here; any other error is about the workers.
func (s *Session) Ask(ctx context.Context, r Request) (*Outcome, error) {
	if err := r.Call.Check(); err != nil {
		return nil, ErrRefused{err.Error()}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.replayer(ctx)
	if err != nil {
		return nil, err
	}
	out, lost, err := w.ask(ctx, question{Request: r})
	if lost {
		w.kill()
		s.replays = nil
	}
	if out == nil {
		return nil, err
	}
	if out.Fault != nil || len(r.Trace) == 0 && !r.Traced {
		return out, nil
	}
	out.Modes.Trace = s.trace(ctx, r)
	return out, nil
}

// question is a request as a worker reads it.
type question struct {
	Request
	TraceIt bool `json:"trace"`
}

// trace asks the worker whose kernels are patched.
func (s *Session) trace(ctx context.Context, r Request) *Trace {
	w, err := s.tracer(ctx)
	if err != nil {
		return &Trace{Reason: err.Error()}
	}
	if w == nil {
		return &Trace{Reason: s.without}
	}
	r.Pairs = nil
	out, lost, err := w.ask(ctx, question{r, true})
	if lost {
		w.kill()
		s.traces = nil
	}
	switch {
	case err != nil:
		return &Trace{Reason: err.Error()}
	case out.Fault != nil:
		return &Trace{Reason: "under the trace: " + out.Fault.Error}
	case out.Modes.Trace == nil:
		return &Trace{Reason: "the worker traced nothing"}
	}
	return out.Modes.Trace
}

// replayer gives the worker for replays, starting it where there is none.
func (s *Session) replayer(ctx context.Context) (*worker, error) {
	if s.replays == nil {
		w, err := s.start(ctx, nil)
		if err != nil {
			return nil, err
		}
		s.replays = w
	}
	return s.replays, nil
}

// tracer gives the worker for traces; nil, with the reason kept, where none can be.
func (s *Session) tracer(ctx context.Context) (*worker, error) {
	if s.traces != nil {
		return s.traces, nil
	}
	if s.without == "" {
		s.without = s.whyNot()
	}
	if s.without != "" {
		return nil, nil
	}
	library, err := FindLibrary(s.options.Library, s.options.Python)
	if err != nil {
		s.without = err.Error()
		return nil, nil
	}
	patches, err := s.patches()
	if err != nil {
		s.without = err.Error()
		return nil, nil
	}
	w, err := s.start(ctx, &traceWith{Library: library, Patches: patches})
	if err != nil {
		return nil, err
	}
	if !w.ready.Trace {
		w.close()
		s.without = w.ready.WithoutTrace
		return nil, nil
	}
	s.traces = w
	return w, nil
}

func (s *Session) whyNot() string {
	switch {
	case !s.options.Trace:
		return "traces were not asked for"
	case s.options.Platform != "cuda":
		return "only kernels on a card are traced"
	}
	return ""
}

// start starts a worker, with the scripts in a folder of the session's.
func (s *Session) start(ctx context.Context, trace *traceWith) (*worker, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	if s.starts++; s.starts > maxStarts {
		return nil, fmt.Errorf("%d workers were started: too many calls end theirs", maxStarts)
	}
	if err := s.unpack(); err != nil {
		return nil, err
	}
	h := hello{Platform: s.options.Platform, Imports: s.options.Imports, Paths: s.options.Paths, Trace: trace}
	w, err := startWorker(ctx, s.options.Python, filepath.Join(s.dir, "worker.py"), h, s.options.Silence)
	if err != nil && ctx.Err() == nil && s.starts == 1 {
		s.failed = err // it will not start for the next call either
	}
	return w, err
}

// unpack writes the scripts.
func (s *Session) unpack() error {
	if s.dir != "" {
		return nil
	}
	dir, err := os.MkdirTemp(s.options.Dir, "aliascheck-jax-")
	if err != nil {
		return err
	}
	entries, err := scripts.ReadDir("python")
	for _, e := range entries {
		data, failed := scripts.ReadFile("python/" + e.Name())
		err = errors.Join(err, failed, os.WriteFile(filepath.Join(dir, e.Name()), data, 0o600))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	s.dir = dir
	return nil
}

// Close ends the workers.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range []*worker{s.replays, s.traces} {
		if w != nil {
			w.close()
		}
	}
	s.replays, s.traces = nil, nil
	if s.dir == "" {
		return nil
	}
	dir := s.dir
	s.dir = ""
	return os.RemoveAll(dir)
}

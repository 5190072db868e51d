package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Auditor takes the modules of a run. Its methods may be called by several
// goroutines at once.
type Auditor interface {
	// Audit reads the module in one file, compiled by a test (empty: none, or not
	// known), and says whether it found anything to report. An error means that the
	// file could not be read whole; nothing is kept of it then, and it may be
	// offered again.
	Audit(ctx context.Context, path, test string) (findings bool, err error)
	// Incomplete takes what could not be audited. It makes the audit's exit code 2.
	Incomplete(path string, err error)
}

// Keep says which dump files are left when a run ends.
type Keep string

// The choices of --keep.
const (
	KeepAll      Keep = "all"
	KeepFindings Keep = "findings" // those of modules with findings, and those that could not be read
	KeepNone     Keep = "none"
)

// watcher follows the directories below dumps and hands every module to the
// auditor once: as soon as it is whole and its test is known, and at the end
// whatever is left. Several processes write there while it looks.
type watcher struct {
	dumps     string
	auditor   Auditor
	keep      Keep
	stages    stages
	absent    Absent              // what came of a run for an absent GPU
	processes map[string]*process // by base name of the dump directory

	mu     sync.Mutex // guards what audits note in modules, and closed
	closed bool       // nothing more is noted: what was interrupted may still run
}

func newWatcher(dumps string, auditor Auditor, keep Keep) *watcher {
	return &watcher{
		dumps: dumps, auditor: auditor, keep: keep,
		stages: newStages(), processes: make(map[string]*process),
	}
}

// poll audits what has become ready since the last one. Trouble with a directory
// is no reason to stop: the last look, in finish, tells.
func (w *watcher) poll(ctx context.Context) {
	_ = w.look(false)
	for _, p := range w.sorted() {
		for _, m := range p.modules {
			if ctx.Err() != nil {
				return
			}
			test, known := p.test(m)
			if m.audited || m.failure != nil && m.steady > 0 || !m.settled() || !known {
				continue
			}
			w.audit(ctx, m, test)
		}
		w.tidy(p)
		p.trim()
	}
}

// finish audits everything that is left, jobs modules at a time, and tells what
// is not whole. No process writes any more.
func (w *watcher) finish(ctx context.Context, jobs int) error {
	if err := w.look(true); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		w.rest(ctx, jobs)
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(patience):
		}
	}
	if ctx.Err() == nil {
		return w.close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.auditor.Incomplete(w.dumps, fmt.Errorf("%w: what was not audited by then is not in this report", context.Cause(ctx)))
	return nil
}

// patience is how long what was interrupted may take to end by itself.
const patience = 500 * time.Millisecond

// rest audits the modules that were not audited yet, until it is interrupted.
func (w *watcher) rest(ctx context.Context, jobs int) {
	var group errgroup.Group
	group.SetLimit(max(jobs, 1))
	for _, p := range w.sorted() {
		for _, m := range p.modules {
			if ctx.Err() != nil {
				break
			}
			if m.file == "" || m.audited {
				continue
			}
			test, _ := p.test(m)
			group.Go(func() error {
				if ctx.Err() == nil {
					w.audit(ctx, m, test)
				}
				return nil
			})
		}
	}
	_ = group.Wait()
}

// close tells what is not whole. It looks once more, since a process that could not be
// awaited may have written while the rest was audited.
func (w *watcher) close() error {
	if err := w.look(true); err != nil {
		return err
	}
	strays, err := w.strays()
	for _, path := range strays {
		w.auditor.Incomplete(path, errors.New("XLA gives a module no such name or place: not audited"))
	}
	for _, p := range w.sorted() {
		w.tell(p)
		w.tidy(p)
		p.trim()
		p.dropMosaic(w.drop)
		_ = os.Remove(filepath.Join(p.dir, mosaicDir)) // where no kernel was compiled
	}
	return err
}

func (w *watcher) audit(ctx context.Context, m *module, test string) {
	findings, failure := w.auditor.Audit(ctx, m.path(), test)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		m.findings, m.failure, m.audited = findings, failure, failure == nil
	}
}

// tell reports what is not whole in a directory.
func (w *watcher) tell(p *process) {
	for _, m := range p.modules {
		path := filepath.Join(p.dir, m.prefix)
		switch {
		case m.file == "":
			w.auditor.Incomplete(path, errors.New("no after_optimizations file: its compilation did not end"+p.during(m)))
		case m.failure != nil:
			w.auditor.Incomplete(m.path(), fmt.Errorf("%w%s", m.failure, p.during(m)))
		case !m.audited && m.rewrites == 0:
			w.auditor.Incomplete(m.path(), errors.New("written after the command had ended and the rest was audited: not audited itself"))
		}
		if m.rewrites > 0 {
			w.auditor.Incomplete(path, errors.New("several processes wrote this file: modules that were overwritten could not be audited"))
		}
	}
	if p.record != nil {
		if n, why := p.record.lost(); n > 0 {
			w.auditor.Incomplete(p.dir, errors.New(why))
		}
		w.absent.count(p.record)
	}
	w.absent.read(p.dir+absentSuffix, w.auditor)
}

// tidy deletes the files that are not to be kept, those too that XLA wrote after
// the audit.
func (w *watcher) tidy(p *process) {
	p.names = slices.DeleteFunc(p.names, func(name string) bool {
		number, _, _ := w.stages.parse(name)
		for _, m := range p.byNumber[number] {
			if m.owns(name) && w.drop(m) {
				return os.RemoveAll(filepath.Join(p.dir, name)) == nil
			}
		}
		return false
	})
}

func (w *watcher) drop(m *module) bool {
	return m.audited && (w.keep == KeepNone || w.keep == KeepFindings && !m.findings)
}

func (w *watcher) sorted() []*process {
	all := make([]*process, 0, len(w.processes))
	for _, p := range w.processes {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *process) int { return strings.Compare(a.dir, b.dir) })
	return all
}

// look takes in the directories, the records and the state of the files.
func (w *watcher) look(last bool) error {
	entries, err := os.ReadDir(w.dumps)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, isRecord := strings.CutSuffix(e.Name(), recordSuffix)
		if !isRecord && !e.IsDir() || e.Name() == pythonDir {
			continue
		}
		p := w.processes[name]
		if p == nil {
			p = &process{dir: filepath.Join(w.dumps, name), byNumber: make(map[int][]*module)}
			w.processes[name] = p
		}
		if isRecord && p.record == nil {
			p.record = &record{path: filepath.Join(w.dumps, e.Name())}
		}
	}
	var errs []error
	for _, p := range w.sorted() {
		errs = append(errs, p.look(w.stages, last))
	}
	return errors.Join(errs...)
}

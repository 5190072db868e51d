package compile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxProcesses bounds how often a target is begun anew after a hang or a crash.
const maxProcesses = 100

// targetRun compiles the programs for one target.
type targetRun struct {
	o       *Options
	target  Target
	scripts string // directory of the Python side
	outcome *Outcome
	skip    []string // keys of what is done, or ended a process
}

// run starts processes until one of them has gone through all programs.
func (t *targetRun) run(ctx context.Context) error {
	programs := t.programs()
	if len(programs) == 0 {
		return nil
	}
	for n := 1; ; n++ {
		dir := filepath.Join(t.o.Root, t.target.Name)
		if n > 1 {
			dir = fmt.Sprintf("%s.%d", dir, n)
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		t.outcome.Dumps = append(t.outcome.Dumps, dir)
		p := &process{run: t, dump: dir, programs: programs}
		whole, err := p.compile(ctx)
		if err != nil || whole {
			return err
		}
		if n == maxProcesses {
			t.outcome.Failures = append(t.outcome.Failures, Failure{Program: "the rest", Error: fmt.Sprintf("%d processes were ended by their programs", n)})
			return nil
		}
	}
}

// programs are those that are to be compiled for this target.
func (t *targetRun) programs() []Program {
	var list []Program
	for _, p := range t.o.Programs {
		if len(p.Targets) == 0 || slices.Contains(p.Targets, t.target.Name) {
			list = append(list, p)
		}
	}
	return list
}

// take notes one event of a process, and says whether it was its last.
func (p *process) take(e *event) (last bool) {
	out := p.run.outcome
	switch e.Event {
	case "ready":
		p.ready = true
		out.JAX, out.Python, out.Dropped = e.JAX, e.Python, e.Dropped
	case "refused":
		out.Refused = &Failure{Error: e.Error, Mend: e.Mend}
		return true
	case "start":
		p.current, p.name = e.Key, e.Name
	case "end":
		p.run.skip = append(p.run.skip, e.Key)
		out.Without = union(out.Without, e.Without)
		out.Placeholders = union(out.Placeholders, e.Placeholders)
		if !strings.HasSuffix(e.Key, "/*") {
			out.Compiled = append(out.Compiled, Compiled{Name: e.Name, Dump: p.dump, Modules: e.Modules, Seconds: e.Seconds})
		}
	case "fail":
		p.run.skip = append(p.run.skip, e.Key)
		out.Failures = append(out.Failures, Failure{Program: e.Name, Place: e.Place, Error: e.Error, Mend: e.Mend})
	case "done":
		return true
	}
	return false
}

// broken notes that a process ended before it was done: over one program, if it had
// come so far.
func (p *process) broken(why string) (whole bool) {
	if !p.ready {
		p.run.outcome.Refused = &Failure{Error: why}
		return true
	}
	if p.current == "" || slices.Contains(p.run.skip, p.current) {
		p.run.outcome.Failures = append(p.run.outcome.Failures, Failure{Program: p.name, Error: why})
		return true
	}
	p.run.skip = append(p.run.skip, p.current)
	p.run.outcome.Failures = append(p.run.outcome.Failures, Failure{Program: p.name, Error: why})
	p.removeUnfinished()
	return false
}

// removeUnfinished removes the modules that no finished program owns: the one that
// broke the process is reported, and its dump is half.
func (p *process) removeUnfinished() {
	owned := map[int]bool{}
	for _, c := range p.run.outcome.Compiled {
		if c.Dump == p.dump {
			for _, n := range c.Modules {
				owned[n] = true
			}
		}
	}
	_ = os.RemoveAll(filepath.Join(p.dump, ".try")) // where the Python side compiles
	entries, err := os.ReadDir(p.dump)
	if err != nil {
		return
	}
	for _, e := range entries {
		if n := moduleNumber(e.Name()); n >= 0 && !owned[n] {
			_ = os.RemoveAll(filepath.Join(p.dump, e.Name()))
		}
	}
}

// timedOut is the sentence about a program that took too long.
func timedOut(limit time.Duration) string {
	return fmt.Sprintf("it took longer than %v (--compile-timeout)", limit)
}

// union is a with what of b it has not.
func union(a, b []string) []string {
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(a, x)
		}
	}
	return a
}

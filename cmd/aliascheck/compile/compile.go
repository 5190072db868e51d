// Package compile compiles JAX programs for GPUs that need not be there, in the user's
// own Python, so that what XLA dumps of them can be audited.
//
// In: programs and targets. Out: for each target the directories of its dumps, and what
// could not be compiled. A target has a process of its own, which compiles all programs
// one after the other; where it hangs or crashes over one of them, another process
// compiles the rest. The Python side is in the folder python.
package compile

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
)

// Program is what a WHAT of the command line, or an entry of the configuration, says.
type Program struct {
	What   string  `json:"what"` // module:function, FILE.py:function, or a file
	Name   string  `json:"name,omitempty"`
	Args   *string `json:"args"` // shapes; nil: the function lists programs
	Donate []int   `json:"donate,omitempty"`
	Static []int   `json:"static,omitempty"`
	Mesh   string  `json:"mesh,omitempty"`

	Targets []string `json:"-"` // for which; none: for all
}

// Options say what to compile and how.
type Options struct {
	Python   string // the interpreter
	Env      []string
	Programs []Program
	Targets  []Target
	Root     string        // an empty directory of ours, for dumps and scripts
	Jobs     int           // targets at a time
	Timeout  time.Duration // for one program
	Log      io.Writer     // what Python says, as it says it; nil: kept in files alone
	// Done takes a target's outcome as soon as it is there. It is called by one
	// goroutine at a time.
	Done func(*Outcome) error
}

// Outcome is what came of one target.
type Outcome struct {
	Target       string
	JAX, Python  string   // their versions; empty where nothing could be compiled
	Dumps        []string // directories
	Compiled     []Compiled
	Failures     []Failure
	Dropped      []string // fields of the target configuration that this JAX does not know
	Without      []string // what this XLA does not know, or had to do without
	Placeholders []string // FFI targets that nobody registered
	Refused      *Failure // why nothing could be compiled, nil where something could
}

// Compiled is a program and the modules that it left.
type Compiled struct {
	Name    string
	Dump    string // directory
	Modules []int  // numbers
	Seconds float64
}

// Failure is what could not be compiled, why, and how to mend it where that is known.
type Failure struct {
	Program string
	Place   string // file:line of the user's code
	Error   string
	Mend    string
}

// Error is the failure as a sentence.
func (f *Failure) String() string {
	text := f.Error
	if f.Place != "" {
		text = f.Place + ": " + text
	}
	if f.Mend != "" {
		text += "; mend: " + f.Mend
	}
	return text
}

// Run compiles all programs for all targets. An error is about this machine, or is
// ctx's or Done's; what is wrong with programs and targets is in the outcomes.
func Run(ctx context.Context, o Options) error {
	scripts := filepath.Join(o.Root, "site-packages") // library code, to whoever reads a stack
	if err := WriteScripts(scripts); err != nil {
		return err
	}
	defer os.RemoveAll(scripts)
	outcomes := make(chan *Outcome)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(o.Jobs, 1) + 1)
	group.Go(func() error {
		for range o.Targets {
			select {
			case outcome := <-outcomes:
				if err := o.Done(outcome); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for _, target := range o.Targets {
		group.Go(func() error {
			t := &targetRun{o: &o, target: target, scripts: scripts, outcome: &Outcome{Target: target.Name}}
			if err := t.run(ctx); err != nil {
				return fmt.Errorf("compiling for %s: %w", target.Name, err)
			}
			select {
			case outcomes <- t.outcome:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}
	return group.Wait()
}

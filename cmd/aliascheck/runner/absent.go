package runner

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
)

const (
	// absentSuffix, after the name of a dump directory, names the record of what its
	// process compiled for an absent GPU.
	absentSuffix = ".absent.jsonl"
	targetConfig = "target.pbtxt"
)

// Target is a GPU that need not be there.
type Target struct {
	Name   string
	Config string                 // for XLA: see package compile
	Write  func(dir string) error // puts what Python needs for it into a directory
}

func (t *Target) write(dir string) error {
	if err := t.Write(dir); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, targetConfig), []byte(t.Config), 0o644)
}

// Tests counts tests of a run for an absent GPU.
type Tests struct {
	Ended, Failed, Nothing int // ran to their end; failed; came to no program
}

func (t *Tests) add(outcome string, calls int) {
	switch outcome {
	case "passed":
		t.Ended++
	case "failed":
		t.Failed++
	default:
		return
	}
	if calls == 0 {
		t.Nothing++
	}
}

// Absent is what came of a run for an absent GPU.
type Absent struct {
	JAX              string
	Compiled, Failed int // functions
	Placeholders     []string
	Tests            Tests
}

func (a *Absent) count(r *record) {
	a.Tests.Ended += r.tally.Ended
	a.Tests.Failed += r.tally.Failed
	a.Tests.Nothing += r.tally.Nothing
}

// read takes in a process's record: see python/aliascheck_absent.py of package compile.
// What could not be compiled makes the audit incomplete.
func (a *Absent) read(path string, auditor Auditor) {
	f, err := os.Open(path)
	if err != nil {
		return // the process came to no program, or there is no target
	}
	defer f.Close()
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, maxRecordLine)
	for scan.Scan() {
		var l struct {
			Event, JAX, Name, Error, Mend, Place string
			Placeholders                         []string
		}
		if json.Unmarshal(scan.Bytes(), &l) != nil {
			continue
		}
		switch l.Event {
		case "ready":
			a.JAX = l.JAX
		case "compiled":
			a.Compiled++
			for _, p := range l.Placeholders {
				if !slices.Contains(a.Placeholders, p) {
					a.Placeholders = append(a.Placeholders, p)
				}
			}
		case "fail", "refused":
			a.Failed++
			why, name := l.Error, l.Name
			if l.Mend != "" {
				why += "; mend: " + l.Mend
			}
			if l.Place != "" {
				why += " (during " + l.Place + ")"
			}
			if name == "" {
				name = "the target"
			}
			auditor.Incomplete(name, errors.New(why))
		}
	}
	if scan.Err() != nil {
		auditor.Incomplete(path, scan.Err())
	}
}

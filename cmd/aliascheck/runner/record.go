package runner

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"

	"aliascheck/hlo"
)

const (
	// recordSuffix, after the name of a dump directory, names its process's record.
	recordSuffix = ".tests.jsonl"
	// maxRecordLine bounds a line of a record, in bytes; longer ones are skipped.
	maxRecordLine = 1 << 20
)

// record is what one process wrote about its tests: see python/aliascheck_pytest.py.
type record struct {
	path   string
	offset int64  // of the first byte not yet read
	rest   []byte // the beginning of a line whose end has not come
	skip   bool   // the line being read is too long

	whole   string         // the test that started the process: all its modules are that test's
	running string         // the test that started and has not ended
	tests   map[int]string // module number: the test that compiled it, empty between tests

	tally            Tests // of the tests that ended
	finished         bool
	compiled, dumped int // by the plugin's count, from when JAX was first imported
	cached           int // hits of JAX's persistent cache: compiled programs without a dump
}

type recordLine struct {
	Event    string `json:"event"`
	Test     string `json:"test"`
	Modules  []int  `json:"modules"`
	Compiled int    `json:"compiled"`
	Dumped   int    `json:"dumped"`
	Cached   int    `json:"cached"`
	Outcome  string `json:"outcome"`
	Calls    int    `json:"calls"` // with a target: functions that came to be compiled for it
}

// update reads what was added since the last call.
func (r *record) update() error {
	f, _, err := hlo.OpenRegular(r.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(r.offset, io.SeekStart); err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		r.offset += int64(n)
		r.feed(buf[:n])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *record) feed(b []byte) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			if len(r.rest)+len(b) > maxRecordLine {
				r.rest, r.skip = nil, true
			}
			if !r.skip {
				r.rest = append(r.rest, b...)
			}
			return
		}
		if !r.skip && len(r.rest)+end <= maxRecordLine {
			r.line(append(r.rest, b[:end]...))
		}
		r.rest, r.skip = r.rest[:0], false
		b = b[end+1:]
	}
}

// line takes one event. A line that is none, as a killed process may leave, is passed over.
func (r *record) line(b []byte) {
	var l recordLine
	if json.Unmarshal(b, &l) != nil {
		return
	}
	switch l.Event {
	case "process":
		r.whole = l.Test
	case "start":
		r.running = l.Test
	case "end":
		r.running = ""
		r.note(l.Modules, l.Test)
		r.tally.add(l.Outcome, l.Calls)
	case "outside":
		r.note(l.Modules, "")
	case "finish":
		r.finished, r.compiled, r.dumped, r.cached = true, l.Compiled, l.Dumped, l.Cached
	}
}

func (r *record) note(modules []int, test string) {
	if r.tests == nil {
		r.tests = make(map[int]string)
	}
	for _, n := range modules {
		if _, known := r.tests[n]; !known {
			r.tests[n] = test
		}
	}
}

// of returns the test that compiled a module, and whether that is known yet.
func (r *record) of(number int) (test string, known bool) {
	if r.whole != "" {
		return r.whole, true
	}
	test, known = r.tests[number]
	return test, known
}

// lost says how many compiled programs left no dump, as the plugin counted them.
func (r *record) lost() (n int, why string) {
	switch {
	case !r.finished:
		return 0, ""
	case r.cached > 0:
		return r.cached, strconv.Itoa(r.cached) + " compiled programs came out of JAX's persistent cache, which the program itself turned on: they left no dump"
	case r.compiled > r.dumped:
		n = r.compiled - r.dumped
		return n, strconv.Itoa(n) + " compiled programs left no dump: JAX's backend started before the dump flags were set, or XLA_FLAGS was overwritten"
	}
	return 0, ""
}

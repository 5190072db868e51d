package runner

import (
	"errors"
	"os"
	"slices"
	"time"
)

// process is one dump directory.
type process struct {
	dir      string
	listed   time.Time // the directory's time when it was last read
	names    []string
	record   *record // nil without a plugin
	modules  []*module
	byNumber map[int][]*module
	trimmed  map[string]bool // logs of Mosaic GPU that were cut
}

// look reads the record before the directory: a module that the record names is in it.
func (p *process) look(s stages, last bool) error {
	if p.record != nil {
		if err := p.record.update(); err != nil {
			return err
		}
	}
	info, err := os.Stat(p.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil // the process has compiled nothing yet
	}
	if err != nil {
		return err
	}
	// Directory times are coarse: one from just now may hide a change to come.
	fresh := last || !info.ModTime().Equal(p.listed) || time.Since(p.listed) < 2*time.Second
	if fresh {
		if err := p.list(s); err != nil {
			return err
		}
		p.listed = info.ModTime()
	}
	for _, m := range p.modules {
		if m.file == "" || m.audited && !fresh {
			continue
		}
		if info, err := os.Lstat(m.path()); err == nil && info.Mode().IsRegular() {
			m.look(info)
		}
	}
	return nil
}

func (p *process) list(s stages) error {
	d, err := os.Open(p.dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if p.names, err = d.Readdirnames(-1); err != nil {
		return err
	}
	slices.Sort(p.names)
	for _, name := range p.names {
		number, prefix, final := s.parse(name)
		if prefix == "" {
			continue
		}
		m := p.module(number, prefix)
		if final {
			m.file = name
		}
	}
	for _, name := range p.names {
		number, _, _ := s.parse(name)
		for _, m := range p.byNumber[number] {
			m.later = m.later || m.owns(name) && m.isLater(name)
		}
	}
	return nil
}

func (p *process) module(number int, prefix string) *module {
	for _, m := range p.byNumber[number] {
		if m.prefix == prefix {
			return m
		}
	}
	m := &module{prefix: prefix, number: number, dir: p.dir}
	p.modules = append(p.modules, m)
	p.byNumber[number] = append(p.byNumber[number], m)
	return m
}

// test returns which test compiled a module, and whether that is settled: a module
// of a process under the plugin waits until its test has ended.
func (p *process) test(m *module) (test string, known bool) {
	if p.record == nil {
		return "", true
	}
	if test, known := p.record.of(m.number); known {
		return test, true
	}
	return p.record.running, p.record.finished
}

// during names the test of a module that is not whole.
func (p *process) during(m *module) string {
	if test, _ := p.test(m); test != "" {
		return " (during " + test + ")"
	}
	return ""
}

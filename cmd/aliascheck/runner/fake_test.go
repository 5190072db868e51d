package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// fakeAuditor takes a file as whole when it ends in "end", and as having findings
// when it holds the word "finding".
type fakeAuditor struct {
	mu         sync.Mutex
	audited    map[string]string // file: test
	order      []string
	incomplete map[string]string // base name: error
	attempts   int
	seen       chan string // file names as they are audited; nil: nobody waits
}

func newFakeAuditor() *fakeAuditor {
	return &fakeAuditor{audited: map[string]string{}, incomplete: map[string]string{}}
}

func (f *fakeAuditor) Audit(_ context.Context, path, test string) (bool, error) {
	text, err := os.ReadFile(path)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.attempts++
	if err != nil {
		return false, err
	}
	if !strings.HasSuffix(string(text), "end") {
		return false, errors.New("truncated")
	}
	name := filepath.Base(path)
	f.audited[name] = test
	f.order = append(f.order, name)
	if f.seen != nil {
		f.seen <- name
	}
	return strings.Contains(string(text), "finding"), nil
}

func (f *fakeAuditor) Incomplete(path string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.incomplete[filepath.Base(path)] = err.Error()
}

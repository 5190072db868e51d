package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress is one line on a terminal, when the work takes longer than a second.
type progress struct {
	mu      sync.Mutex
	w       io.Writer // nil: nobody looks
	start   time.Time
	last    time.Time
	modules int
	drawn   bool
}

func newProgress(w io.Writer, quiet bool) *progress {
	p := &progress{start: time.Now()}
	if !quiet && canDraw(w) {
		p.w = w
	}
	return p
}

// step counts a module, and draws the line ten times a second at most.
func (p *progress) step() {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.modules++
	now := time.Now()
	if now.Sub(p.start) < time.Second || now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last, p.drawn = now, true
	fmt.Fprintf(p.w, "\r\x1b[K%d modules, %.0f s", p.modules, now.Sub(p.start).Seconds())
}

// clear takes the line away.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

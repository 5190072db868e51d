package audit

import (
	"fmt"
	"io"
	"sync"
	"time"

	"aliascheck/cmd/aliascheck/cli"
)

// Progress is one line on a terminal, when the work takes longer than a second.
type Progress struct {
	mu      sync.Mutex
	w       io.Writer // nil: nobody looks
	Start   time.Time
	last    time.Time
	modules int
	drawn   bool
}

// NewProgress draws on w, where that is a terminal and nobody wants it quiet.
func NewProgress(w io.Writer, quiet bool) *Progress {
	p := &Progress{Start: time.Now()}
	if !quiet && cli.CanDraw(w) {
		p.w = w
	}
	return p
}

// Step counts a module, and draws the line ten times a second at most.
func (p *Progress) Step() {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.modules++
	now := time.Now()
	if now.Sub(p.Start) < time.Second || now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last, p.drawn = now, true
	fmt.Fprintf(p.w, "\r\x1b[K%d modules, %.0f s", p.modules, now.Sub(p.Start).Seconds())
}

// Clear takes the line away.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

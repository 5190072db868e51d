package hlo

import "errors"

// Limits bounds what a dump may cost. Zero means the default.
type Limits struct {
	// FileBytes is the most a module may hold in memory, huge literals aside
	// (which are never read): default 512 MiB.
	FileBytes int64
	// Depth is the most that messages, tuples and calls may nest: default 100.
	Depth int
	// LiteralBytes is the size over which a literal is skipped on disk instead of
	// read: default 1 MiB.
	LiteralBytes int64
	// ArchiveBytes is the most an archive may inflate to: default 8 GiB.
	ArchiveBytes int64
	// ArchiveMembers is the most members an archive may have: default 1,000,000.
	ArchiveMembers int
}

// Reader reads modules one after the other, in the same memory. Use one per worker.
type Reader struct {
	b builder
}

// NewReader returns a reader that keeps to the limits.
func NewReader(limits Limits) *Reader { return &Reader{} }

// Read reads one module. The module is valid until the next Read.
func (r *Reader) Read(src Source) (*Module, error) { return nil, errors.New("not yet") }

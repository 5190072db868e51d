package hlo

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// Reader reads modules one after the other, in the same memory. Use one per worker.
type Reader struct {
	limits Limits
	buf    []byte // of the file being read
	b      builder
}

// NewReader returns a reader that keeps to the limits.
func NewReader(limits Limits) *Reader {
	return &Reader{limits: limits.orDefault()}
}

// Read reads one module. The module and everything in it is valid until the next Read.
// Errors name the file and the place in it.
func (r *Reader) Read(src Source) (*Module, error) {
	r.b.reset()
	r.b.limits = r.limits
	r.b.m.Path = src.Path
	if err := r.load(src.Path); err != nil {
		return nil, fmt.Errorf("%s: %w", src.Path, err)
	}
	if err := r.b.readProto(r.buf); err != nil {
		return nil, err
	}
	return &r.b.m, nil
}

// load reads a whole file into the buffer.
func (r *Reader) load(path string) error {
	// A pipe that took the file's place must not block.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errNotRegular
	case info.Size() > r.limits.FileBytes:
		return fmt.Errorf("%d bytes, over the limit of %d", info.Size(), r.limits.FileBytes)
	}
	size := int(info.Size())
	r.buf = resize(r.buf, size+1) // one more, to see the end
	n, err := io.ReadFull(f, r.buf)
	r.buf = r.buf[:n]
	switch {
	case err == nil:
		return errGrew
	case err != io.EOF && err != io.ErrUnexpectedEOF:
		return err
	case n < size:
		return errShrank
	}
	return nil
}

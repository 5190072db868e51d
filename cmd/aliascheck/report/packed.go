package report

import "compress/gzip"

// packedSize knows how many bytes a text has once gzip has compressed it.
type packedSize struct {
	zip     *gzip.Writer
	written int64
	pending int
}

// flushEvery bounds how much the compressor may hold back, in bytes of its input.
const flushEvery = 1 << 20

func newPackedSize() *packedSize {
	p := &packedSize{}
	// BestSpeed cannot be an invalid level, which is the only error.
	p.zip, _ = gzip.NewWriterLevel(countingWriter{&p.written}, gzip.BestSpeed)
	return p
}

func (p *packedSize) add(b []byte) {
	p.zip.Write(b) // a countingWriter does not fail
	if p.pending += len(b); p.pending > flushEvery {
		p.pending = 0
		p.zip.Flush()
	}
}

// bytes is the compressed size up to the last flush.
func (p *packedSize) bytes() int64 { return p.written }

type countingWriter struct{ n *int64 }

func (c countingWriter) Write(b []byte) (int, error) {
	*c.n += int64(len(b))
	return len(b), nil
}

package hlo

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/maphash"
	"io"

	"aliascheck/hlo/transcode"
)

// Reader reads modules one after the other, in the same memory. Use one per worker.
type Reader struct {
	limits Limits
	loader loader
	pair   member // the texts of the pair being read
	text   transcode.Transcoder
	flow   flow
	b      builder
}

// keptBytes is the most bytes of a file for which the memory is kept for the next: one
// giant among small modules does not make a worker a giant for ever.
const keptBytes = 16 << 20

// NewReader returns a reader that keeps to the limits.
func NewReader(limits Limits) *Reader {
	r := &Reader{limits: limits.orDefault()}
	r.loader.limits = r.limits
	r.text.Element = func(name []byte) (int32, bool) {
		t, ok := ParseElementType(string(name))
		return int32(t), ok
	}
	r.b.seed = maphash.MakeSeed()
	return r
}

// Read reads one module. The module and everything in it is valid until the next Read.
// Errors name the file and the place in it.
func (r *Reader) Read(src Source) (*Module, error) {
	if cap(r.loader.wire) > keptBytes {
		*r = *NewReader(r.limits)
	}
	r.b.limits, r.b.fromText = r.limits, src.Text
	r.b.reset()
	r.b.m.Path, r.b.m.file = src.Path, ""
	r.b.m.Companions = src.companions(r.limits.Entries)
	switch {
	case src.Text:
		return r.readPair(src)
	case src.member != nil:
		return r.build(src.member.image, r.b.placeInProto)
	}
	if err := r.loadFile(src.Path); err != nil {
		return nil, fmt.Errorf("%s: %w", src.Path, err)
	}
	return r.build(r.loader.image, r.b.placeInProto)
}

// build makes the module of what was loaded. place renders a place in it for errors.
func (r *Reader) build(im image, place func(at int32) string) (*Module, error) {
	b := &r.b
	b.wire, b.m.holes, b.place = im.wire, im.holes, place
	err := b.decodeAndLink()
	if err != nil || b.lostCaller() {
		// What is missing may stand in a computation that seemed not to matter.
		b.reset()
		b.m.holes, b.everything = im.holes, true
		err = b.decodeAndLink()
	}
	if err != nil {
		return nil, err
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	return &b.m, nil
}

// decodeAndLink decodes b.wire and links what is in it.
func (b *builder) decodeAndLink() error {
	if err := b.decodeProto(); err != nil {
		return err
	}
	return b.link()
}

// readPair reads a text pair.
func (r *Reader) readPair(src Source) (*Module, error) {
	pair := src.member
	if pair == nil {
		pair = &r.pair
		var err error
		if pair.text, err = r.readText(pair.text, src.Path); err != nil {
			return nil, fmt.Errorf("%s: %w", src.Path, err)
		}
		if pair.assignment, err = r.readText(pair.assignment, src.Assignment); err != nil {
			return nil, fmt.Errorf("%s: %w", src.Assignment, err)
		}
		if src.Values != "" {
			if pair.values, err = r.readText(pair.values, src.Values); err != nil {
				return nil, fmt.Errorf("%s: %w", src.Values, err)
			}
		}
	}
	files := transcode.Pair{
		Path: src.Path, AssignmentPath: src.Assignment, ValuesPath: src.Values,
		Text: pair.text, Assignment: pair.assignment, Values: pair.values,
	}
	wire, err := r.text.Transcode(files, r.limits.ofText())
	if err != nil {
		return nil, err
	}
	im, place := image{wire: wire}, func(at int32) string { return r.text.Place(files, at) }
	if !r.text.Listed() {
		if err := r.checkWhole(im, place, files); err != nil {
			return nil, err
		}
	}
	return r.build(im, place)
}

// checkWhole fails where a text pair without a list of its values lacks some. Unlike the
// model, it has all computations decoded: the last values can be any one's.
func (r *Reader) checkWhole(im image, place func(at int32) string, files transcode.Pair) error {
	b := &r.b
	b.wire, b.place, b.everything = im.wire, place, true
	err := b.decodeAndLink()
	if err == nil {
		err = b.check()
	}
	if err == nil {
		err = r.flow.whole(b, files)
	}
	b.reset()
	return err
}

// readText reads a file of text into the memory of buf.
func (r *Reader) readText(buf []byte, path string) ([]byte, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return buf, err
	}
	defer f.Close()
	if size > r.limits.FileBytes {
		return buf, fmt.Errorf("%d bytes, over the limit of %d", size, r.limits.FileBytes)
	}
	return readWhole(buf, f, size)
}

// readWhole reads a file of size bytes into the memory of buf.
func readWhole(buf []byte, f io.Reader, size int64) ([]byte, error) {
	buf = resize(buf, int(size)+1) // one more, to see that it did not grow
	// Nearly every file system gives all that a file has at once.
	for n := 0; n != int(size); {
		got, err := f.Read(buf[n:])
		n += got
		switch {
		case n > int(size):
			return buf, errGrew
		case err == io.EOF && n < int(size):
			return buf, errShrank
		case err != nil && err != io.EOF:
			return buf, err
		}
	}
	return buf[:size], nil
}

// loadFile reads a file: small ones in one piece, big ones without their huge
// literals, compressed ones (xla_dump_compress_protos) inflated.
func (r *Reader) loadFile(path string) error {
	l := &r.loader
	f, size, err := openPlain(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if size > min(wholeBytes, r.limits.FileBytes) {
		return r.loadBig(path)
	}
	l.holes = l.holes[:0]
	if l.wire, err = readWhole(l.wire, f, size); err == nil && isGzip(l.wire) {
		return l.loadStream(bytes.NewReader(bytes.Clone(l.wire)))
	}
	return err
}

// loadBig reads what can hold huge literals.
func (r *Reader) loadBig(path string) error {
	f, size, err := openRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	magic := make([]byte, 2)
	if _, err := f.ReadAt(magic, 0); err == nil && isGzip(magic) {
		return r.loader.loadStream(f)
	}
	r.b.m.file = path
	r.loader.in = f
	r.loader.skip = func(n int64) error { _, err := f.Seek(n, io.SeekCurrent); return err }
	return r.loader.load(size)
}

// isGzip tells compressed data from an HloProto, which begins with the tag of field 1.
func isGzip(data []byte) bool { return len(data) >= 2 && data[0] == 0x1f && data[1] == 0x8b }

// loadStream loads an HloProto from what cannot be sought, inflating it where it is
// compressed: no more than ArchiveBytes.
func (l *loader) loadStream(in io.Reader) error {
	buffered := bufio.NewReaderSize(in, chunk)
	in = buffered
	if magic, err := buffered.Peek(2); err == nil && isGzip(magic) {
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return err
		}
		in = z
	}
	l.in = &bounded{in: in, left: l.limits.ArchiveBytes}
	l.skip = func(n int64) error {
		_, err := io.CopyN(io.Discard, l.in, n)
		return err
	}
	return l.load(-1)
}

// bounded is a reader that fails when more than left bytes come out of it.
type bounded struct {
	in   io.Reader
	left int64
}

// Read reads from in.
func (r *bounded) Read(p []byte) (int, error) {
	if r.left < 0 {
		return 0, errInflates
	}
	n, err := r.in.Read(p)
	r.left -= int64(n)
	return n, err
}

package hlo

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// image is a file as the decoder sees it: all of it but the contents of huge literals.
type image struct {
	wire  []byte
	holes []hole
}

const (
	chunk = 64 << 10 // bytes that loader reads ahead
	// wholeBytes is the size in bytes up to which a file is read in one piece, huge
	// literals and all.
	wholeBytes = 4 << 20
)

// loader reads an HloProto from a stream and leaves the contents of huge literals
// out. Where it did, it writes the lengths of the enclosing messages anew, in as many
// bytes as they had (a varint may be padded), so that what is left is an HloProto.
type loader struct {
	image
	in      io.Reader
	skip    func(n int64) error // passes over n bytes of in
	limits  Limits
	pos     int        // what has been walked, in wire
	removed int64      // bytes left out so far
	levels  [3]lengths // of the messages around pos that a literal can stand in
}

// lengths is where a message's length stands in wire.
type lengths struct {
	at, width int
	value     uint64
}

// load reads in up to its end; size is what it should hold in bytes, -1 if unknown.
func (l *loader) load(size int64) error {
	l.wire, l.holes = l.wire[:0], l.holes[:0]
	l.pos, l.removed = 0, 0
	if cap(l.wire) == 0 {
		// What is not written to costs nothing, and to grow costs a copy each time.
		l.wire = make([]byte, 0, wholeBytes)
	}
	end := size
	if size < 0 {
		end = math.MaxInt64
	}
	if err := l.message(0, end); err != nil {
		if err == io.ErrUnexpectedEOF && size >= 0 {
			err = errShrank
		}
		return fmt.Errorf("%s at byte %d: %w", l.levelName(), l.offset(), err)
	}
	if err := l.fill(l.pos + 1); err != io.ErrUnexpectedEOF {
		if err == nil {
			err = errGrew
		}
		return err
	}
	return nil
}

// offset is how far the walk has come, in bytes of the file.
func (l *loader) offset() int64 { return int64(l.pos) + l.removed }

// levelName is the message that the walk is in.
func (l *loader) levelName() string {
	names := [...]string{"HloProto", "HloProto.hlo_module", "HloProto.hlo_module.computations",
		"HloProto.hlo_module.computations.instructions"}
	depth := 0
	for depth < len(l.levels) && l.levels[depth].width > 0 {
		depth++
	}
	return names[depth]
}

// message walks the fields of a message that ends at byte end of the file: HloProto
// at depth 0, then module, computation, instruction.
func (l *loader) message(depth int, end int64) error {
	way := [...]uint64{1<<3 | wireBytes, 3<<3 | wireBytes, 2<<3 | wireBytes, 8<<3 | wireBytes}
	for l.offset() < end {
		if depth == 0 && end == math.MaxInt64 && l.fill(l.pos+1) == io.ErrUnexpectedEOF {
			return nil // the length was not known
		}
		tag, err := l.varint()
		if err != nil {
			return err
		}
		if tag>>3 == 0 {
			return readError("field number is out of range")
		}
		if tag&7 != wireBytes {
			if err := l.scalar(tag); err != nil {
				return err
			}
			continue
		}
		at := l.pos
		n, err := l.varint()
		switch {
		case err != nil:
			return err
		case l.offset() > end || n > uint64(end-l.offset()):
			return errPassesEnd
		case n <= uint64(l.limits.LiteralBytes) || tag != way[depth]:
			err = l.pass(int64(n))
		case depth == len(l.levels):
			err = l.leaveOut(lengths{at, l.pos - at, n})
		default:
			l.levels[depth] = lengths{at, l.pos - at, n}
			err = l.message(depth+1, l.offset()+int64(n))
		}
		if err != nil {
			return err
		}
		if depth < len(l.levels) {
			l.levels[depth] = lengths{}
		}
	}
	if l.offset() > end {
		return errPassesEnd
	}
	return nil
}

// scalar passes over a field that is no message.
func (l *loader) scalar(tag uint64) error {
	switch tag & 7 {
	case wireVarint:
		_, err := l.varint()
		return err
	case wireFixed64:
		return l.pass(8)
	case wireFixed32:
		return l.pass(4)
	}
	return readError("wire type is none that XLA writes")
}

// varint reads a varint.
func (l *loader) varint() (uint64, error) {
	for n := 1; n <= 10; n++ {
		if err := l.fill(l.pos + n); err != nil {
			return 0, err
		}
		if l.wire[l.pos+n-1] < 0x80 {
			v, width := uvarint(l.wire[l.pos : l.pos+n])
			if width == 0 {
				break
			}
			l.pos += n
			return v, nil
		}
	}
	return 0, readError("varint is too long")
}

// pass keeps n bytes.
func (l *loader) pass(n int64) error {
	if n > l.limits.FileBytes-int64(l.pos) {
		return fmt.Errorf("more than %d bytes, huge literals aside", l.limits.FileBytes)
	}
	if err := l.fill(l.pos + int(n)); err != nil {
		return err
	}
	l.pos += int(n)
	return nil
}

// leaveOut passes over the contents of a literal and shortens all around it.
func (l *loader) leaveOut(literal lengths) error {
	n := int64(literal.value)
	ahead := int64(len(l.wire) - l.pos)
	if ahead > n {
		ahead = n
		l.wire = slices.Delete(l.wire, l.pos, l.pos+int(n))
	} else {
		l.wire = l.wire[:l.pos]
	}
	if err := l.skip(n - ahead); err != nil {
		return err
	}
	l.holes = append(l.holes, hole{int32(l.pos), l.offset(), n})
	l.removed += n
	literal.shorten(l.wire, uint64(n))
	for i := range l.levels {
		l.levels[i].shorten(l.wire, uint64(n))
	}
	return nil
}

// shorten takes n off a length, in place.
func (x *lengths) shorten(wire []byte, n uint64) {
	x.value -= n
	for i, v := 0, x.value; i < x.width; i, v = i+1, v>>7 {
		wire[x.at+i] = byte(v)&0x7f | 0x80
	}
	wire[x.at+x.width-1] &= 0x7f
}

// fill reads until wire has n bytes: memory grows with what arrives, not with n.
func (l *loader) fill(n int) error {
	for len(l.wire) < n {
		l.wire = slices.Grow(l.wire, chunk)
		room := l.wire[len(l.wire):cap(l.wire)]
		if most := max(chunk, n-len(l.wire)); len(room) > most {
			room = room[:most]
		}
		got, err := l.in.Read(room)
		l.wire = l.wire[:len(l.wire)+got]
		if err == io.EOF && len(l.wire) < n {
			return io.ErrUnexpectedEOF
		}
		if err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}

package transcode

import (
	"bytes"
	"fmt"
	"strconv"
)

// scanner walks a text. The first thing that does not fit is remembered with its
// place, and ends the walk at the text's end, so that parsers need no error of their
// own; a parser that knows where to go on clears it (see resume).
type scanner struct {
	text    []byte
	pos     int
	problem string // empty: none
	at      int    // offset of the problem in text
}

// failed remembers the first problem.
func (s *scanner) failed(at int, format string, args ...any) {
	if s.problem == "" {
		s.problem, s.at = fmt.Sprintf(format, args...), at
	}
	s.pos = len(s.text)
}

// resume forgets the problem and goes on after the line where it stands.
func (s *scanner) resume() {
	s.problem = ""
	s.pos = len(s.text)
	if n := bytes.IndexByte(s.text[s.at:], '\n'); n >= 0 {
		s.pos = s.at + n + 1
	}
}

// space passes over white space and comments, of both kinds that XLA prints.
func (s *scanner) space() {
	for s.pos < len(s.text) {
		rest := s.text[s.pos:]
		switch {
		case rest[0] == ' ' || rest[0] == '\n' || rest[0] == '\t' || rest[0] == '\r':
			s.pos++
		case len(rest) > 1 && rest[0] == '/' && rest[1] == '*':
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				s.failed(s.pos, "comment does not end")
				return
			}
			s.pos += n + 4
		case len(rest) > 1 && rest[0] == '/' && rest[1] == '/':
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			s.pos += n
		default:
			return
		}
	}
}

// peek returns the next byte after white space, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// accept passes over a byte if it comes next.
func (s *scanner) accept(c byte) bool {
	if s.peek() != c || s.pos >= len(s.text) {
		return false
	}
	s.pos++
	return true
}

// expect passes over a byte that must come next.
func (s *scanner) expect(c byte) {
	if !s.accept(c) {
		s.failed(s.pos, "%q expected", c)
	}
}

// acceptText passes over a text if it comes next.
func (s *scanner) acceptText(t string) bool {
	s.space()
	if !bytes.HasPrefix(s.text[s.pos:], []byte(t)) {
		return false
	}
	s.pos += len(t)
	return true
}

// word reads up to white space or one of the bytes that end names: ( ) { } [ ] , = # < > : | "
func (s *scanner) word() []byte {
	s.space()
	start := s.pos
	for s.pos < len(s.text) && !endsWord(s.text[s.pos]) {
		s.pos++
	}
	if start == s.pos {
		s.failed(start, "name expected")
	}
	return s.text[start:s.pos]
}

func endsWord(c byte) bool {
	switch c {
	case ' ', '\n', '\t', '\r', '(', ')', '{', '}', '[', ']', ',', '=', '#', '<', '>', ':', '|', '"':
		return true
	}
	return false
}

// name reads the name of a computation or instruction, with or without its %.
func (s *scanner) name() []byte {
	s.accept('%')
	return s.word()
}

// number reads a decimal number.
func (s *scanner) number() int64 {
	s.space()
	start := s.pos
	if s.pos < len(s.text) && s.text[s.pos] == '-' {
		s.pos++
	}
	for s.pos < len(s.text) && s.text[s.pos] >= '0' && s.text[s.pos] <= '9' {
		s.pos++
	}
	v, err := strconv.ParseInt(string(s.text[start:s.pos]), 10, 64)
	if err != nil {
		s.failed(start, "number of 64 bits expected")
	}
	return v
}

// int32 reads a number that must fit 32 bits.
func (s *scanner) int32() int32 {
	at := s.pos
	v := s.number()
	if v != int64(int32(v)) {
		s.failed(at, "number does not fit 32 bits")
		return 0
	}
	return int32(v)
}

// index appends a shape index in braces, {1,0}, to dst.
func (s *scanner) index(dst []int64) []int64 {
	s.expect('{')
	for !s.accept('}') && s.problem == "" {
		dst = append(dst, s.number())
		if s.peek() != '}' {
			s.expect(',')
		}
	}
	return dst
}

// quoted passes over a string in quotation marks and returns what is between them,
// escapes and all.
func (s *scanner) quoted() []byte {
	start := s.pos
	s.expect('"')
	from := s.pos
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case '"':
			s.pos++
			return s.text[from : s.pos-1]
		case '\\':
			s.pos++
		}
		s.pos++
	}
	s.failed(start, "string does not end")
	return nil
}

// enclosed passes over everything up to the bracket that closes the one that comes
// next, strings and brackets of the same kind included, and returns all of it.
func (s *scanner) enclosed() []byte {
	open := s.peek()
	start := s.pos
	closing := byte(')')
	switch open {
	case '{':
		closing = '}'
	case '[':
		closing = ']'
	}
	for depth := 0; s.pos < len(s.text); {
		switch s.text[s.pos] {
		case '"':
			s.quoted()
			continue
		case open:
			depth++
		case closing:
			depth--
		}
		s.pos++
		if depth == 0 {
			return s.text[start:s.pos]
		}
	}
	s.failed(start, "%q is not closed", open)
	return nil
}

// value passes over an attribute's value: a string, something in brackets, or
// anything up to a comma or white space.
func (s *scanner) value() []byte {
	s.space()
	start := s.pos
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case '"':
			s.quoted()
		case '(', '{', '[':
			s.enclosed()
		case ',', ')', '}', ' ', '\n', '\t', '\r':
			return s.text[start:s.pos]
		default:
			s.pos++
		}
	}
	return s.text[start:s.pos]
}

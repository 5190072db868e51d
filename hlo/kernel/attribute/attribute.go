// Package attribute reads string attributes of MLIR attribute dictionaries, as they stand
// in the backend_config of custom calls (mlir.llvm.org/docs/LangRef, "Dictionary
// Attribute"). Errors name the byte of the backend_config.
package attribute

import (
	"bytes"
	"fmt"
	"slices"
)

// Begin unescapes the first bytes of a string into out, as many as it has room for,
// where the dictionary begins with before, which ends in the string's opening quote.
func Begin(config []byte, before string, out []byte) ([]byte, bool) {
	if !bytes.HasPrefix(config, []byte(before)) {
		return nil, false
	}
	s := scanner{text: config, pos: len(before)}
	out, err := s.unquote(out)
	return out, err == nil
}

// String finds a string attribute of an MLIR attribute dictionary and appends its
// bytes to out. Other attributes, nested ones too, are stepped over: an equal key
// inside them is not the one.
func String(config []byte, name string, out []byte) ([]byte, error) {
	s := scanner{text: config}
	s.space()
	if !s.accept('{') {
		return nil, fmt.Errorf("backend_config at byte %d: no attribute dictionary", s.pos)
	}
	found := false
	for {
		s.space()
		if s.accept('}') {
			break
		}
		key, err := s.key()
		if err != nil {
			return nil, err
		}
		s.space()
		if s.accept('=') {
			s.space()
			if key == name && s.peek() == '"' {
				if found {
					return nil, fmt.Errorf("backend_config at byte %d: a second attribute %q", s.pos, name)
				}
				found = true
				if out, err = s.quoted(out); err != nil {
					return nil, err
				}
			}
			if err := s.skipValue(); err != nil {
				return nil, err
			}
		}
		s.accept(',')
	}
	s.space()
	if s.pos != len(config) {
		return nil, fmt.Errorf("backend_config at byte %d: text after the dictionary", s.pos)
	}
	if !found {
		return nil, fmt.Errorf("backend_config: no string attribute %q in the dictionary", name)
	}
	return out, nil
}

// scanner reads MLIR attribute text. It never reads past text.
type scanner struct {
	text []byte
	pos  int
}

func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *scanner) accept(c byte) bool {
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) space() {
	for s.pos < len(s.text) && (s.text[s.pos] == ' ' || s.text[s.pos] == '\t' || s.text[s.pos] == '\n' || s.text[s.pos] == '\r') {
		s.pos++
	}
}

// key reads an attribute's name: a bare identifier or a quoted string.
func (s *scanner) key() (string, error) {
	if s.peek() == '"' {
		name, err := s.quoted(nil)
		return string(name), err
	}
	start := s.pos
	for s.pos < len(s.text) && isKeyByte(s.text[s.pos]) {
		s.pos++
	}
	if s.pos == start {
		return "", fmt.Errorf("backend_config at byte %d: an attribute's name was expected", s.pos)
	}
	return string(s.text[start:s.pos]), nil
}

func isKeyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '$'
}

// quoted reads a string that begins here, and appends what it stands for to out.
func (s *scanner) quoted(out []byte) ([]byte, error) {
	start, size := s.pos, closingQuote(s.text[s.pos:])
	if size < 0 {
		size = len(s.text) - start // for what is wrong before
	}
	s.pos++
	out, err := s.unquote(slices.Grow(out, size))
	if err == nil && s.peek() != '"' {
		return nil, fmt.Errorf("backend_config at byte %d: a string that does not end", start)
	}
	s.pos++
	return out, err
}

// unquote appends what a string stands for to out, up to its closing quote, while out
// has room. Escapes are \\, \", \n, \t and two hex digits. Two bytes of three are
// escapes in a compressed call, in no order that a processor could guess: so hex digits
// are looked up before it is known whether there are any.
func (s *scanner) unquote(out []byte) ([]byte, error) {
	text, at := s.text, s.pos
	n := len(out)
	buf := out[:cap(out)]
	for at < len(text) && n < len(buf) {
		c, size := text[at], 1
		if at+2 < len(text) {
			hi, lo := hexDigits[text[at+1]], hexDigits[text[at+2]]
			if c == '\\' && hi|lo < 16 {
				buf[n] = hi<<4 | lo
				n, at = n+1, at+3
				continue
			}
		}
		switch c {
		case '"':
			s.pos = at
			return buf[:n], nil
		case '\\':
			if c, size = unescape(text[at:]); size == 0 {
				return nil, fmt.Errorf("backend_config at byte %d: a bad escape in a string", at)
			}
		}
		buf[n] = c
		n, at = n+1, at+size
	}
	s.pos = at
	return buf[:n], nil
}

// hexDigits maps a byte to the hex digit that it is, or to 255.
const hexDigits = "" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\xff\xff\xff\xff\xff\xff" +
	"\xff\x0a\x0b\x0c\x0d\x0e\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\x0a\x0b\x0c\x0d\x0e\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"

// unescape reads an escape that is not of two hex digits, and gives its byte and
// its length, 0 where it is none.
func unescape(text []byte) (byte, int) {
	if len(text) < 2 {
		return 0, 0
	}
	switch text[1] {
	case '\\', '"':
		return text[1], 2
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	}
	return 0, 0
}

// skipValue steps over an attribute's value, up to the comma or brace that ends it
// at this depth. Brackets are counted, not matched by kind: depth needs no stack,
// and a dictionary that MLIR would refuse gives at worst no opaque.
func (s *scanner) skipValue() error {
	depth := 0
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; c {
		case '"':
			end := closingQuote(s.text[s.pos:])
			if end < 0 {
				return fmt.Errorf("backend_config at byte %d: a string that does not end", s.pos)
			}
			s.pos += end
		case '{', '[', '(', '<':
			depth++
		case '>':
			if s.pos > 0 && s.text[s.pos-1] == '-' { // "->" of a function type
				break
			}
			depth--
		case ']', ')':
			depth--
		case '}':
			if depth == 0 {
				return nil
			}
			depth--
		case ',':
			if depth == 0 {
				return nil
			}
		}
		s.pos++
	}
	return fmt.Errorf("backend_config at byte %d: a dictionary that does not end", s.pos)
}

// closingQuote gives the place of the quote that ends the string text begins with, or
// -1: the first behind an even number of backslashes.
func closingQuote(text []byte) int {
	for end := 1; ; end++ {
		n := bytes.IndexByte(text[end:], '"')
		if n < 0 {
			return -1
		}
		end += n
		inside := bytes.TrimRight(text[1:end], `\\`)
		if (end-1-len(inside))%2 == 0 {
			return end
		}
	}
}

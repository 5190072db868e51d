package syntax

import "fmt"

type tokenKind uint8

const (
	tokEOF tokenKind = iota
	tokIdent
	tokNumber
	tokString
	tokPunct
)

type token struct {
	kind tokenKind
	text string
	at   Place
}

// lexer splits a PTX text into tokens (PTX ISA, section "Syntax").
type lexer struct {
	src  string
	pos  int
	line int32
	bol  int // start of the line
}

func isIdentStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '%' || c == '.'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isIdent(c byte) bool { return isIdentStart(c) && c != '%' || isDigit(c) }

func (l *lexer) skipSpace() error {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '\n':
			l.newline()
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.pos++
		case c == '/' && l.pos+1 < len(l.src) && l.src[l.pos+1] == '/':
			l.skipLine()
		case c == '#':
			l.skipLine()
		case c == '/' && l.pos+1 < len(l.src) && l.src[l.pos+1] == '*':
			if err := l.skipComment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) newline() {
	l.pos++
	l.line++
	l.bol = l.pos
}

func (l *lexer) skipLine() {
	for l.pos < len(l.src) && l.src[l.pos] != '\n' {
		l.pos++
	}
}

func (l *lexer) skipComment() error {
	at := l.place()
	l.pos += 2
	for l.pos+1 < len(l.src) {
		if l.src[l.pos] == '*' && l.src[l.pos+1] == '/' {
			l.pos += 2
			return nil
		}
		if l.src[l.pos] == '\n' {
			l.newline()
		} else {
			l.pos++
		}
	}
	l.pos = len(l.src)
	return &syntaxError{at, "comment without an end"}
}

func (l *lexer) place() Place { return Place{l.line, int32(l.pos-l.bol) + 1} }

type syntaxError struct {
	at  Place
	msg string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.at.Line, e.at.Column, e.msg) }

// next returns the next token. "::" belongs to an identifier, a single ":" does not.
func (l *lexer) next() (token, error) {
	if err := l.skipSpace(); err != nil {
		return token{}, err
	}
	at, start := l.place(), l.pos
	if l.pos >= len(l.src) {
		return token{kind: tokEOF, at: at}, nil
	}
	c := l.src[l.pos]
	switch {
	case isIdentStart(c):
		l.pos++
		l.ident()
		return token{tokIdent, l.src[start:l.pos], at}, nil
	case isDigit(c):
		l.number()
		return token{tokNumber, l.src[start:l.pos], at}, nil
	case c == '"':
		return l.str(at)
	}
	l.pos++
	if (c == '<' || c == '>') && l.pos < len(l.src) && l.src[l.pos] == c {
		l.pos++
	}
	return token{tokPunct, l.src[start:l.pos], at}, nil
}

func (l *lexer) ident() {
	for l.pos < len(l.src) {
		if isIdent(l.src[l.pos]) {
			l.pos++
			continue
		}
		if l.src[l.pos] == ':' && l.pos+2 < len(l.src) && l.src[l.pos+1] == ':' && isIdent(l.src[l.pos+2]) {
			l.pos += 2
			continue
		}
		return
	}
}

func (l *lexer) number() {
	start := l.pos
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		exp := (c == '+' || c == '-') && l.pos > start && (l.src[l.pos-1] == 'e' || l.src[l.pos-1] == 'E') &&
			!(l.src[start] == '0' && l.pos > start+1 && !isDigit(l.src[start+1]) && l.src[start+1] != '.')
		if !isDigit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '.' && !exp {
			return
		}
		l.pos++
	}
}

func (l *lexer) str(at Place) (token, error) {
	l.pos++
	start := l.pos
	for l.pos < len(l.src) && l.src[l.pos] != '"' && l.src[l.pos] != '\n' {
		if l.src[l.pos] == '\\' && l.pos+1 < len(l.src) && l.src[l.pos+1] != '\n' {
			l.pos++
		}
		l.pos++
	}
	if l.pos >= len(l.src) || l.src[l.pos] != '"' {
		return token{}, &syntaxError{at, "string without an end"}
	}
	l.pos++
	return token{tokString, l.src[start : l.pos-1], at}, nil
}

package syntax

import (
	"errors"
	"fmt"
	"strconv"
)

// Limits of a text. They are far above what compilers write.
const (
	maxText         = 64 << 20 // bytes
	MaxInstructions = 1 << 20  // of a module
	maxRegisters    = 1 << 17  // used ones, of a function
	maxOperands     = 1 << 10  // of one instruction, nested ones counted
	maxNesting      = 64
	maxErrors       = 10
	maxInit         = 64 << 20 // bytes of initialized variables
	MaxVariable     = 1 << 32  // bytes
	maxParams       = 1 << 10
)

type parser struct {
	lex     lexer
	tok     token
	mod     *Module
	scope   *scope // innermost
	funcs   map[string]*Function
	fn      *Function
	loc     Location
	errs    []error
	pending []pendingOp // names to resolve at the function's end
	calls   []*Operand  // names to resolve at the module's end
	count   int         // instructions
	ops     int         // operands of the current instruction
	initLen int64
	failed  bool // a lexical error: stop
}

// Parse reads a PTX text (PTX ISA, "Source Format" and "Directives"). The
// error joins up to ten messages of the form name:line:column: what.
func Parse(name string, text []byte) (*Module, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%s: a text of %d bytes is too long", name, len(text))
	}
	p := &parser{lex: lexer{src: string(text), line: 1}, funcs: map[string]*Function{}, scope: newScope(nil)}
	p.mod = &Module{Name: name, Files: map[int]string{}}
	p.advance()
	for p.tok.kind != tokEOF && len(p.errs) < maxErrors && !p.failed {
		p.try(p.topLevel)
	}
	p.finish()
	if len(p.errs) > 0 {
		for i, err := range p.errs {
			p.errs[i] = fmt.Errorf("%s:%w", name, err)
		}
		return nil, errors.Join(p.errs...)
	}
	return p.mod, nil
}

func (p *parser) advance() {
	if p.failed {
		return
	}
	t, err := p.lex.next()
	if err != nil {
		p.errs = append(p.errs, err)
		p.failed = true
		t = token{kind: tokEOF, at: p.lex.place()}
	}
	p.tok = t
}

// try runs one parsing step; a syntax error in it skips to the end of the statement.
func (p *parser) try(step func() error) {
	err := step()
	if err == nil {
		return
	}
	if len(p.errs) < maxErrors {
		p.errs = append(p.errs, err)
	}
	for p.tok.kind != tokEOF && !p.is(";") && !p.is("}") {
		p.advance()
	}
	if p.is(";") || p.fn == nil {
		p.advance()
	}
}

func (p *parser) errorf(format string, args ...any) error {
	return &syntaxError{p.tok.at, fmt.Sprintf(format, args...)}
}

func (p *parser) is(text string) bool { return p.tok.kind == tokPunct && p.tok.text == text }

func (p *parser) isIdent(text string) bool { return p.tok.kind == tokIdent && p.tok.text == text }

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(text string) error {
	if !p.accept(text) {
		return p.errorf("%q expected, found %q", text, Clip(p.tok.text))
	}
	return nil
}

func Clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

func (p *parser) ident(what string) (string, error) {
	if p.tok.kind != tokIdent {
		return "", p.errorf("%s expected, found %q", what, Clip(p.tok.text))
	}
	s := p.tok.text
	p.advance()
	return s, nil
}

func (p *parser) integer(what string) (int64, error) {
	op, err := p.expression(0)
	if err != nil {
		return 0, err
	}
	if op.Kind != KindConstant || op.Float {
		return 0, p.errorf("%s: a number expected", what)
	}
	return int64(op.Bits), nil
}

// topLevel reads one directive of the module.
func (p *parser) topLevel() error {
	if p.accept(";") {
		return nil
	}
	if p.tok.kind != tokIdent {
		return p.errorf("a directive expected, found %q", Clip(p.tok.text))
	}
	switch p.tok.text {
	case ".version", ".target", ".address_size":
		return p.header()
	case ".file":
		return p.file()
	case ".loc":
		return p.location()
	case ".section":
		return p.section()
	case ".pragma":
		return p.skipStatement()
	case ".alias":
		return p.errorf(".alias is not supported")
	}
	return p.declaration()
}

func (p *parser) header() error {
	which := p.tok.text
	line := p.tok.at.Line
	p.advance()
	text := ""
	for p.tok.kind != tokEOF && p.tok.at.Line == line {
		text += p.tok.text
		p.advance()
	}
	switch which {
	case ".version":
		p.mod.Version = text
	case ".target":
		p.mod.Target = text
	default:
		if text != "64" {
			return p.errorf("address size %s is not supported", Clip(text))
		}
	}
	return nil
}

func (p *parser) file() error {
	p.advance()
	n, err := p.integer(".file")
	if err != nil {
		return err
	}
	if p.tok.kind != tokString {
		return p.errorf("a file name expected")
	}
	p.mod.Files[int(n)] = p.tok.text
	p.advance()
	for p.accept(",") { // timestamp, size
		if _, err := p.integer(".file"); err != nil {
			return err
		}
	}
	return nil
}

// location reads .loc FILE LINE COLUMN [, function_name LABEL [+ N], inlined_at FILE LINE COLUMN].
func (p *parser) location() error {
	p.advance()
	var n [3]int64
	for i := range n {
		if p.tok.kind != tokNumber {
			return p.errorf(".loc: a number expected")
		}
		v, err := strconv.ParseInt(p.tok.text, 0, 32)
		if err != nil {
			return p.errorf(".loc: %q is no number", Clip(p.tok.text))
		}
		n[i] = v
		p.advance()
	}
	p.loc = Location{int32(n[0]), int32(n[1])}
	line := p.tok.at.Line
	for p.is(",") && p.tok.at.Line == line {
		for p.advance(); p.tok.kind != tokEOF && p.tok.at.Line == line && !p.is(","); {
			p.advance()
		}
	}
	return nil
}

// section skips .section NAME { ... }: debug information.
func (p *parser) section() error {
	for p.tok.kind != tokEOF && !p.is("{") {
		p.advance()
	}
	for p.tok.kind != tokEOF && !p.is("}") {
		p.advance()
	}
	return p.expect("}")
}

func (p *parser) skipStatement() error {
	for p.tok.kind != tokEOF && !p.is(";") {
		p.advance()
	}
	return p.expect(";")
}

// finish resolves what needs the whole module.
func (p *parser) finish() {
	for _, c := range p.calls {
		if f := p.funcs[c.Name]; f != nil {
			c.Kind, c.Function = KindFunction, f
		} else if c.Kind == KindName {
			p.errs = append(p.errs, &syntaxError{c.At, fmt.Sprintf("%s is not declared", Clip(c.Name))})
		}
	}
	if len(p.errs) > maxErrors {
		p.errs = p.errs[:maxErrors]
	}
	for _, e := range p.mod.Entries {
		e.Module = p.mod
	}
}

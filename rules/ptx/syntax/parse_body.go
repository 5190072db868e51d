package syntax

import (
	"fmt"
	"slices"
	"strings"
)

type pendingOp struct {
	op    *Operand
	scope *scope
}

// block reads { statements }.
func (p *parser) block(depth int) error {
	if depth > maxNesting {
		return p.errorf("braces are nested too deep")
	}
	if err := p.expect("{"); err != nil {
		return err
	}
	if depth > 0 {
		p.scope = newScope(p.scope)
		defer func(s *scope) { p.scope = s }(p.scope.parent)
	}
	for !p.is("}") {
		if p.tok.kind == tokEOF || p.failed || len(p.errs) >= maxErrors {
			return p.errorf("a closing brace is missing")
		}
		if p.is("{") {
			if err := p.block(depth + 1); err != nil {
				return err
			}
			continue
		}
		p.try(p.statement)
	}
	p.advance()
	return nil
}

func (p *parser) statement() error {
	if p.accept(";") {
		return nil
	}
	if p.tok.kind == tokIdent {
		switch p.tok.text {
		case ".reg":
			return p.registers()
		case ".local", ".shared", ".param", ".const", ".global":
			return p.variables(false)
		case ".loc":
			return p.location()
		case ".pragma":
			return p.skipStatement()
		case ".file":
			return p.file()
		}
	}
	return p.instruction()
}

// resolve links labels, tables and variables once the body is read.
func (p *parser) resolve() {
	tables := map[string]*Instruction{}
	for i := range p.fn.Body {
		if in := &p.fn.Body[i]; in.Name == ".branchtargets" {
			tables[in.Words[1]] = in
		}
	}
	for _, w := range p.pending {
		op := w.op
		if i, ok := w.scope.label(op.Name); ok {
			op.Kind, op.Bits = KindLabel, uint64(i)
		} else if v := w.scope.variable(op.Name); v != nil {
			op.Kind, op.Variable = KindSymbol, v
		} else if t := tables[op.Name]; t != nil {
			op.Kind, op.Sub = KindList, t.Operands
		} else {
			p.calls = append(p.calls, op)
		}
	}
	p.pending = nil
}

// instruction reads "[label:] [@[!]p] name operands;".
func (p *parser) instruction() error {
	if p.tok.kind == tokIdent && p.labelFollows() {
		return p.label()
	}
	in := Instruction{At: p.tok.at, Source: p.loc, Guard: -1}
	if p.accept("@") {
		in.Negated = p.accept("!")
		name, err := p.ident("a predicate")
		if err != nil {
			return err
		}
		if in.Guard, err = p.register(name); err != nil {
			return err
		}
		if in.Guard < 0 || p.fn.Registers[in.Guard].Bits != 1 {
			return p.errorf("%s is no predicate", Clip(name))
		}
	}
	in.At = p.tok.at
	name, err := p.ident("an instruction")
	if err != nil {
		return err
	}
	if name[0] == '.' || name[0] == '%' {
		return &syntaxError{in.At, fmt.Sprintf("%q is no instruction", Clip(name))}
	}
	in.Name, in.Words = name, strings.Split(name, ".")
	if slices.Contains(in.Words, "") {
		return &syntaxError{in.At, fmt.Sprintf("%q is no instruction", Clip(name))}
	}
	if p.count++; p.count > MaxInstructions {
		return p.errorf("too many instructions")
	}
	p.ops = 0
	for !p.is(";") {
		op, err := p.operand(0)
		if err != nil {
			return err
		}
		in.Operands = append(in.Operands, op)
		if !p.accept(",") {
			break
		}
	}
	if err := p.expect(";"); err != nil {
		return err
	}
	p.fn.Body = append(p.fn.Body, in)
	p.collect(p.fn.Body[len(p.fn.Body)-1].Operands)
	return nil
}

// collect notes the names in operands, which are resolved at the body's end.
func (p *parser) collect(ops []Operand) {
	for i := range ops {
		if ops[i].Kind == KindName {
			p.pending = append(p.pending, pendingOp{&ops[i], p.scope})
		}
		p.collect(ops[i].Sub)
	}
}

func (p *parser) labelFollows() bool {
	l := p.lex
	t, err := l.next()
	return err == nil && t.kind == tokPunct && t.text == ":"
}

func (p *parser) label() error {
	name := p.tok.text
	if _, ok := p.scope.labels[name]; ok {
		return p.errorf("label %s stands twice", Clip(name))
	}
	p.advance()
	p.advance()
	p.scope.labels[name] = len(p.fn.Body)
	if p.isIdent(".branchtargets") {
		return p.branchTargets(name)
	}
	if p.isIdent(".callprototype") || p.isIdent(".calltargets") {
		return p.skipStatement()
	}
	return nil
}

// branchTargets reads a table of brx.idx. Its labels are resolved with the others.
func (p *parser) branchTargets(name string) error {
	p.advance()
	delete(p.scope.labels, name)
	table := Instruction{At: p.tok.at, Guard: -1, Name: ".branchtargets", Words: []string{".branchtargets", name}}
	for !p.is(";") {
		op, err := p.operand(0)
		if err != nil {
			return err
		}
		table.Operands = append(table.Operands, op)
		if !p.accept(",") {
			break
		}
	}
	p.fn.Body = append(p.fn.Body, table)
	p.collect(p.fn.Body[len(p.fn.Body)-1].Operands)
	return p.expect(";")
}

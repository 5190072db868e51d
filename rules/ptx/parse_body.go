package ptx

import (
	"fmt"
	"slices"
	"strings"
)

type pendingOp struct {
	op    *operand
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
	tables := map[string]*instr{}
	for i := range p.fn.body {
		if in := &p.fn.body[i]; in.name == ".branchtargets" {
			tables[in.parts[1]] = in
		}
	}
	for _, w := range p.pending {
		op := w.op
		if i, ok := w.scope.label(op.name); ok {
			op.kind, op.imm = opLabel, uint64(i)
		} else if v := w.scope.variable(op.name); v != nil {
			op.kind, op.sym = opSymbol, v
		} else if t := tables[op.name]; t != nil {
			op.kind, op.sub = opList, t.ops
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
	in := instr{at: p.tok.at, loc: p.loc, guard: -1}
	if p.accept("@") {
		in.not = p.accept("!")
		name, err := p.ident("a predicate")
		if err != nil {
			return err
		}
		if in.guard, err = p.register(name); err != nil {
			return err
		}
		if in.guard < 0 || p.fn.regs[in.guard].bits != 1 {
			return p.errorf("%s is no predicate", clip(name))
		}
	}
	in.at = p.tok.at
	name, err := p.ident("an instruction")
	if err != nil {
		return err
	}
	if name[0] == '.' || name[0] == '%' {
		return &syntaxError{in.at, fmt.Sprintf("%q is no instruction", clip(name))}
	}
	in.name, in.parts = name, strings.Split(name, ".")
	if slices.Contains(in.parts, "") {
		return &syntaxError{in.at, fmt.Sprintf("%q is no instruction", clip(name))}
	}
	if p.count++; p.count > maxInstructions {
		return p.errorf("too many instructions")
	}
	p.ops = 0
	for !p.is(";") {
		op, err := p.operand(0)
		if err != nil {
			return err
		}
		in.ops = append(in.ops, op)
		if !p.accept(",") {
			break
		}
	}
	if err := p.expect(";"); err != nil {
		return err
	}
	p.fn.body = append(p.fn.body, in)
	p.collect(p.fn.body[len(p.fn.body)-1].ops)
	return nil
}

// collect notes the names in operands, which are resolved at the body's end.
func (p *parser) collect(ops []operand) {
	for i := range ops {
		if ops[i].kind == opName {
			p.pending = append(p.pending, pendingOp{&ops[i], p.scope})
		}
		p.collect(ops[i].sub)
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
		return p.errorf("label %s stands twice", clip(name))
	}
	p.advance()
	p.advance()
	p.scope.labels[name] = len(p.fn.body)
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
	table := instr{at: p.tok.at, guard: -1, name: ".branchtargets", parts: []string{".branchtargets", name}}
	for !p.is(";") {
		op, err := p.operand(0)
		if err != nil {
			return err
		}
		table.ops = append(table.ops, op)
		if !p.accept(",") {
			break
		}
	}
	p.fn.body = append(p.fn.body, table)
	p.collect(p.fn.body[len(p.fn.body)-1].ops)
	return p.expect(";")
}

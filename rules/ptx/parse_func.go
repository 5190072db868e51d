package ptx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

type pendingOp struct {
	op    *operand
	scope *scope
}

// function reads .entry or .func, its parameters, its performance directives and its body.
func (p *parser) function(extern bool) error {
	f := &function{entry: p.tok.text == ".entry", at: p.tok.at, decl: true}
	p.advance()
	outer := p.scope
	p.scope, p.fn = newScope(outer), f
	defer func() { p.scope, p.fn = outer, nil }()
	var err error
	if p.is("(") {
		if f.rets, err = p.parameters(); err != nil {
			return err
		}
	}
	if f.name, err = p.ident("a name"); err != nil {
		return err
	}
	if p.is("(") {
		if f.params, err = p.parameters(); err != nil {
			return err
		}
	}
	if err := p.directives(f); err != nil {
		return err
	}
	if p.accept(";") {
		if p.funcs[f.name] == nil {
			p.funcs[f.name] = f
		}
		return nil
	}
	if old := p.funcs[f.name]; old != nil && !old.decl {
		return p.errorf("%s is defined twice", clip(f.name))
	}
	f.decl = false
	p.loc = location{}
	if err := p.block(0); err != nil {
		return err
	}
	p.resolve()
	if old := p.funcs[f.name]; old != nil {
		*old = *f // calls already point at the declaration
		f = old
	}
	p.funcs[f.name] = f
	if f.entry {
		p.mod.Entries = append(p.mod.Entries, entryOf(f))
	}
	return nil
}

func entryOf(f *function) *Entry {
	e := &Entry{Name: f.name, Line: int(f.at.line), ReqThreads: f.reqThreads, MaxThreads: f.maxThreads, ReqCluster: f.reqCluster, fn: f}
	for _, v := range f.params {
		e.Params = append(e.Params, Param{Name: v.name, Type: v.typ, Size: int(v.size), Align: int(v.align),
			Pointer: v.ptr || v.size == 8 && (v.typ == "u64" || v.typ == "b64")})
	}
	return e
}

func (p *parser) parameters() ([]*variable, error) {
	var out []*variable
	p.advance()
	for !p.is(")") {
		if !p.isIdent(".param") && !p.isIdent(".reg") {
			return nil, p.errorf("a parameter expected, found %q", clip(p.tok.text))
		}
		reg := p.isIdent(".reg")
		p.advance()
		v, err := p.variableType("param")
		if err != nil {
			return nil, err
		}
		if err := p.declarator(&v); err != nil {
			return nil, err
		}
		if reg {
			return nil, p.errorf("register parameters are not supported")
		}
		v.index = len(out)
		if len(out) >= maxParams {
			return nil, p.errorf("too many parameters")
		}
		p.scope.vars[v.name] = &v
		out = append(out, &v)
		if !p.accept(",") {
			break
		}
	}
	return out, p.expect(")")
}

// directives reads what stands between the parameters and the body.
func (p *parser) directives(f *function) error {
	for p.tok.kind == tokIdent {
		word := p.tok.text
		p.advance()
		switch word {
		case ".reqntid", ".maxntid", ".reqnctapercluster":
			dims := [3]uint32{1, 1, 1}
			for i := 0; ; i++ {
				n, err := p.integer(word)
				if err != nil {
					return err
				}
				if i > 2 || n < 0 || n > 1<<31-1 {
					return p.errorf("bad %s", word)
				}
				dims[i] = uint32(n)
				if !p.accept(",") {
					break
				}
			}
			switch word {
			case ".reqntid":
				f.reqThreads = dims
			case ".maxntid":
				f.maxThreads = dims
			default:
				f.reqCluster = dims
			}
		case ".explicitcluster", ".noreturn", ".blocksareclusters":
		case ".minnctapersm", ".maxnreg", ".maxnctapersm", ".maxclusterrank", ".abi_preserve", ".abi_preserve_control":
			if _, err := p.integer(word); err != nil {
				return err
			}
		case ".pragma":
			if err := p.skipStatement(); err != nil {
				return err
			}
		default:
			return p.errorf("unknown directive %q", clip(word))
		}
	}
	return nil
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

// registers reads ".reg .type a, b, %r<11>;".
func (p *parser) registers() error {
	p.advance()
	typ, err := p.ident("a type")
	if err != nil {
		return err
	}
	typ = strings.TrimPrefix(typ, ".")
	bits := typeBits(typ)
	if bits == 0 {
		return p.errorf("registers of type .%s are not supported", clip(typ))
	}
	for {
		name, err := p.ident("a register")
		if err != nil {
			return err
		}
		r := regRange{typ, uint8(bits), -1}
		if p.accept("<") {
			if r.count, err = p.integer("a count"); err != nil {
				return err
			}
			if err := p.expect(">"); err != nil {
				return err
			}
		}
		p.scope.ranges[name] = r
		delete(p.scope.regs, name)
		if !p.accept(",") {
			return p.expect(";")
		}
	}
}

// register finds a register by name, -1 when there is none.
func (p *parser) register(name string) (int32, error) {
	digits := len(name)
	for digits > 0 && isDigit(name[digits-1]) {
		digits--
	}
	for s := p.scope; s != nil; s = s.parent {
		if r, ok := s.regs[name]; ok {
			return r, nil
		}
		decl, ok := s.ranges[name]
		if ok = ok && decl.count < 0; !ok && digits < len(name) {
			if decl, ok = s.ranges[name[:digits]]; ok {
				n, err := strconv.ParseInt(name[digits:], 10, 64)
				ok = err == nil && n < decl.count
			}
		}
		if !ok {
			continue
		}
		if len(p.fn.regs) >= maxRegisters {
			return -1, p.errorf("too many registers")
		}
		i := int32(len(p.fn.regs))
		p.fn.regs = append(p.fn.regs, register{name, decl.typ, decl.bits})
		s.regs[name] = i
		return i, nil
	}
	return -1, nil
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

package syntax

import (
	"strconv"
	"strings"
)

// function reads .entry or .func, its parameters, its performance directives and its body.
func (p *parser) function(extern bool) error {
	f := &Function{entry: p.tok.text == ".entry", At: p.tok.at, Declared: true}
	p.advance()
	outer := p.scope
	p.scope, p.fn = newScope(outer), f
	defer func() { p.scope, p.fn = outer, nil }()
	var err error
	if p.is("(") {
		if f.Results, err = p.parameters(); err != nil {
			return err
		}
	}
	if f.Name, err = p.ident("a name"); err != nil {
		return err
	}
	if p.is("(") {
		if f.Params, err = p.parameters(); err != nil {
			return err
		}
	}
	if err := p.directives(f); err != nil {
		return err
	}
	if p.accept(";") {
		if p.funcs[f.Name] == nil {
			p.funcs[f.Name] = f
		}
		return nil
	}
	if old := p.funcs[f.Name]; old != nil && !old.Declared {
		return p.errorf("%s is defined twice", Clip(f.Name))
	}
	f.Declared = false
	p.loc = Location{}
	if err := p.block(0); err != nil {
		return err
	}
	p.resolve()
	if old := p.funcs[f.Name]; old != nil {
		*old = *f // calls already point at the declaration
		f = old
	}
	p.funcs[f.Name] = f
	if f.entry {
		p.mod.Entries = append(p.mod.Entries, entryOf(f))
	}
	return nil
}

func entryOf(f *Function) *Entry {
	e := &Entry{Name: f.Name, Line: int(f.At.Line), ReqThreads: f.reqThreads, MaxThreads: f.maxThreads, ReqCluster: f.reqCluster, Function: f}
	for _, v := range f.Params {
		e.Params = append(e.Params, Param{Name: v.Name, Type: v.Type, Size: int(v.Size), Align: int(v.Align),
			Pointer: v.ptr || v.Size == 8 && (v.Type == "u64" || v.Type == "b64")})
	}
	return e
}

func (p *parser) parameters() ([]*Variable, error) {
	var out []*Variable
	p.advance()
	for !p.is(")") {
		if !p.isIdent(".param") && !p.isIdent(".reg") {
			return nil, p.errorf("a parameter expected, found %q", Clip(p.tok.text))
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
		v.Index = len(out)
		if len(out) >= maxParams {
			return nil, p.errorf("too many parameters")
		}
		p.scope.vars[v.Name] = &v
		out = append(out, &v)
		if !p.accept(",") {
			break
		}
	}
	return out, p.expect(")")
}

// directives reads what stands between the parameters and the body.
func (p *parser) directives(f *Function) error {
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
			return p.errorf("unknown directive %q", Clip(word))
		}
	}
	return nil
}

// registers reads ".reg .type a, b, %r<11>;".
func (p *parser) registers() error {
	p.advance()
	typ, err := p.ident("a type")
	if err != nil {
		return err
	}
	typ = strings.TrimPrefix(typ, ".")
	bits := TypeBits(typ)
	if bits == 0 {
		return p.errorf("registers of type .%s are not supported", Clip(typ))
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
		if len(p.fn.Registers) >= maxRegisters {
			return -1, p.errorf("too many registers")
		}
		i := int32(len(p.fn.Registers))
		p.fn.Registers = append(p.fn.Registers, Register{name, decl.typ, decl.bits})
		s.regs[name] = i
		return i, nil
	}
	return -1, nil
}

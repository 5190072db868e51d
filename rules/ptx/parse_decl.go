package ptx

import (
	"encoding/binary"
	"strings"
)

// declaration reads a variable, a .func or an .entry, linkage first.
func (p *parser) declaration() error {
	extern := false
	for {
		switch {
		case p.isIdent(".extern"):
			extern = true
			p.advance()
		case p.isIdent(".visible"), p.isIdent(".weak"), p.isIdent(".common"):
			p.advance()
		case p.isIdent(".entry"), p.isIdent(".func"):
			return p.function(extern)
		case p.isIdent(".global"), p.isIdent(".const"), p.isIdent(".shared"), p.isIdent(".tex"):
			return p.variables(extern)
		default:
			return p.errorf("unknown directive %q", clip(p.tok.text))
		}
	}
}

// variables reads ".space [.align N] [.vK] .type name[dims] [= init], ...;".
func (p *parser) variables(extern bool) error {
	space := strings.TrimPrefix(p.tok.text, ".")
	p.advance()
	base, err := p.variableType(space)
	if err != nil {
		return err
	}
	for {
		v := base
		v.extern = extern
		if err := p.declarator(&v); err != nil {
			return err
		}
		if err := p.declare(&v); err != nil {
			return err
		}
		if p.accept(",") {
			continue
		}
		return p.expect(";")
	}
}

func (p *parser) declare(v *variable) error {
	if p.scope.vars[v.name] != nil && !v.extern && !p.scope.vars[v.name].extern {
		return p.errorf("%s is declared twice", clip(v.name))
	}
	p.scope.vars[v.name] = v
	switch {
	case v.space == "shared" && p.fn != nil:
		p.fn.shared = append(p.fn.shared, v)
	case v.space == "shared":
		p.mod.shared = append(p.mod.shared, v)
	case v.space == "local" || v.space == "param":
		if p.fn == nil {
			return p.errorf(".%s outside of a function", v.space)
		}
		p.fn.locals = append(p.fn.locals, v)
	default:
		p.mod.globals = append(p.mod.globals, v)
	}
	return nil
}

// variableType reads attributes, alignment, vector and type.
func (p *parser) variableType(space string) (variable, error) {
	v := variable{space: space, align: 1, at: p.tok.at}
	vec, aligned := int64(1), false
	for p.tok.kind == tokIdent && strings.HasPrefix(p.tok.text, ".") {
		word := p.tok.text[1:]
		p.advance()
		switch word {
		case "align":
			n, err := p.integer(".align")
			if err != nil {
				return v, err
			}
			if n < 1 || n > 1<<20 || n&(n-1) != 0 {
				return v, p.errorf("bad alignment")
			}
			v.align, aligned = n, true
		case "ptr":
			v.ptr = true
			aligned = true
		case "global", "shared", "const", "local":
		case "v2":
			vec = 2
		case "v4":
			vec = 4
		case "attribute", "managed", "unified":
			if p.accept("(") {
				for p.tok.kind != tokEOF && !p.accept(")") {
					p.advance()
				}
			}
		default:
			bits := typeBits(word)
			if bits < 8 {
				return v, p.errorf("unknown type .%s", clip(word))
			}
			v.typ = word
			v.size = int64(bits/8) * vec
			if !aligned {
				v.align = v.size
			}
		}
	}
	if v.size == 0 {
		return v, p.errorf("a type expected")
	}
	return v, nil
}

// declarator reads name, array dimensions and the initializer.
func (p *parser) declarator(v *variable) error {
	name, err := p.ident("a name")
	if err != nil {
		return err
	}
	v.name = name
	elem := v.size
	for p.accept("[") {
		if p.accept("]") {
			v.size = 0
			continue
		}
		n, err := p.integer("an array size")
		if err != nil {
			return err
		}
		if n < 0 || n > maxVariable || v.size > 0 && n > maxVariable/v.size {
			return p.errorf("%s is too large", clip(name))
		}
		v.size *= n
		if err := p.expect("]"); err != nil {
			return err
		}
	}
	if p.accept("=") {
		return p.initializer(v, int(elem))
	}
	return nil
}

func (p *parser) initializer(v *variable, elem int) error {
	if err := p.initValue(v, elem, 0); err != nil {
		return err
	}
	if v.size == 0 {
		v.size = int64(len(v.init))
	}
	if int64(len(v.init)) > v.size {
		return p.errorf("too many initializers for %s", clip(v.name))
	}
	return nil
}

func (p *parser) initValue(v *variable, elem, depth int) error {
	if depth > maxNesting {
		return p.errorf("initializers are nested too deep")
	}
	if p.accept("{") {
		for !p.is("}") {
			if err := p.initValue(v, elem, depth+1); err != nil {
				return err
			}
			if !p.accept(",") {
				break
			}
		}
		return p.expect("}")
	}
	if p.initLen += int64(elem); p.initLen > maxInit {
		return p.errorf("too much initialized data")
	}
	at := len(v.init)
	v.init = append(v.init, make([]byte, elem)...)
	generic := false
	if p.isIdent("generic") {
		generic = true
		p.advance()
		if err := p.expect("("); err != nil {
			return err
		}
	}
	if p.tok.kind == tokIdent {
		f := fixup{at: int64(at), width: int64(elem), name: p.tok.text, generic: generic}
		p.advance()
		if generic {
			if err := p.expect(")"); err != nil {
				return err
			}
		}
		if p.is("+") || p.is("-") {
			n, err := p.integer("an offset")
			if err != nil {
				return err
			}
			f.add = n
		}
		v.fixups = append(v.fixups, f)
		return nil
	}
	op, err := p.expression(0)
	if err != nil {
		return err
	}
	if op.kind != opImm {
		return p.errorf("a constant expected")
	}
	var b [8]byte
	bits := op.imm
	if op.float {
		bits = floatBits(op.imm, v.typ)
	}
	binary.LittleEndian.PutUint64(b[:], bits)
	copy(v.init[at:], b[:min(elem, 8)])
	return nil
}

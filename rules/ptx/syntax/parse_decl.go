package syntax

import (
	"encoding/binary"
	"math"
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
			return p.errorf("unknown directive %q", Clip(p.tok.text))
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
		v.Extern = extern
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

func (p *parser) declare(v *Variable) error {
	if p.scope.vars[v.Name] != nil && !v.Extern && !p.scope.vars[v.Name].Extern {
		return p.errorf("%s is declared twice", Clip(v.Name))
	}
	p.scope.vars[v.Name] = v
	switch {
	case v.Space == "shared" && p.fn != nil:
		p.fn.Shared = append(p.fn.Shared, v)
	case v.Space == "shared":
		p.mod.Shared = append(p.mod.Shared, v)
	case v.Space == "local" || v.Space == "param":
		if p.fn == nil {
			return p.errorf(".%s outside of a function", v.Space)
		}
		p.fn.Locals = append(p.fn.Locals, v)
	default:
		p.mod.Globals = append(p.mod.Globals, v)
	}
	return nil
}

// variableType reads attributes, alignment, vector and type.
func (p *parser) variableType(space string) (Variable, error) {
	v := Variable{Space: space, Align: 1, At: p.tok.at}
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
			v.Align, aligned = n, true
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
			bits := TypeBits(word)
			if bits < 8 {
				return v, p.errorf("unknown type .%s", Clip(word))
			}
			v.Type = word
			v.Size = int64(bits/8) * vec
			if !aligned {
				v.Align = v.Size
			}
		}
	}
	if v.Size == 0 {
		return v, p.errorf("a type expected")
	}
	return v, nil
}

// declarator reads name, array dimensions and the initializer.
func (p *parser) declarator(v *Variable) error {
	name, err := p.ident("a name")
	if err != nil {
		return err
	}
	v.Name = name
	elem := v.Size
	for p.accept("[") {
		if p.accept("]") {
			v.Size = 0
			continue
		}
		n, err := p.integer("an array size")
		if err != nil {
			return err
		}
		if n < 0 || n > MaxVariable || v.Size > 0 && n > MaxVariable/v.Size {
			return p.errorf("%s is too large", Clip(name))
		}
		v.Size *= n
		if err := p.expect("]"); err != nil {
			return err
		}
	}
	if p.accept("=") {
		return p.initializer(v, int(elem))
	}
	return nil
}

func (p *parser) initializer(v *Variable, elem int) error {
	if err := p.initValue(v, elem, 0); err != nil {
		return err
	}
	if v.Size == 0 {
		v.Size = int64(len(v.Init))
	}
	if int64(len(v.Init)) > v.Size {
		return p.errorf("too many initializers for %s", Clip(v.Name))
	}
	return nil
}

func (p *parser) initValue(v *Variable, elem, depth int) error {
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
	at := len(v.Init)
	v.Init = append(v.Init, make([]byte, elem)...)
	generic := false
	if p.isIdent("generic") {
		generic = true
		p.advance()
		if err := p.expect("("); err != nil {
			return err
		}
	}
	if p.tok.kind == tokIdent {
		f := Fixup{At: int64(at), Width: int64(elem), Name: p.tok.text, Generic: generic}
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
			f.Add = n
		}
		v.Fixups = append(v.Fixups, f)
		return nil
	}
	op, err := p.expression(0)
	if err != nil {
		return err
	}
	if op.Kind != KindConstant {
		return p.errorf("a constant expected")
	}
	var b [8]byte
	bits := op.Bits
	if op.Float {
		switch TypeBits(v.Type) {
		case 32:
			bits = uint64(math.Float32bits(float32(math.Float64frombits(bits))))
		case 16: // PTX ISA, "Initializers": none for .f16
			return p.errorf("a fraction cannot initialize .%s", v.Type)
		}
	}
	binary.LittleEndian.PutUint64(b[:], bits)
	copy(v.Init[at:], b[:min(elem, 8)])
	return nil
}

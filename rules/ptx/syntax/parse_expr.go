package syntax

import (
	"math"
	"strconv"
	"strings"
)

// number turns a literal into bits. Float literals 0f and 0d keep their exact
// bits when they stand alone: 0f gives 32 bits, everything else 64.
func (p *parser) number() (Operand, error) {
	t, at := p.tok.text, p.tok.at
	p.advance()
	op := Operand{Kind: KindConstant, At: at}
	if len(t) > 2 && t[0] == '0' {
		switch t[1] {
		case 'f', 'F':
			n, err := strconv.ParseUint(t[2:], 16, 32)
			if err != nil || len(t) != 10 {
				return op, &syntaxError{at, "bad float " + Clip(t)}
			}
			op.Bits, op.Name = n, "f32"
			return op, nil
		case 'd', 'D':
			n, err := strconv.ParseUint(t[2:], 16, 64)
			if err != nil || len(t) != 18 {
				return op, &syntaxError{at, "bad double " + Clip(t)}
			}
			op.Bits, op.Name = n, "f64"
			return op, nil
		}
	}
	if n, err := strconv.ParseUint(strings.TrimRight(t, "uU"), 0, 64); err == nil {
		op.Bits = n
		return op, nil
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil || strings.ContainsAny(t, "xXpP") {
		return op, &syntaxError{at, "bad number " + Clip(t)}
	}
	op.Bits, op.Float = math.Float64bits(f), true
	return op, nil
}

// expression reads a constant expression, with the precedence of C.
func (p *parser) expression(depth int) (Operand, error) { return p.binary(0, depth) }

func precedence(op string) int {
	switch op {
	case "|":
		return 1
	case "^":
		return 2
	case "&":
		return 3
	case "<<", ">>":
		return 4
	case "+", "-":
		return 5
	case "*", "/", "%":
		return 6
	}
	return 0
}

func (p *parser) binary(level, depth int) (Operand, error) {
	left, err := p.unary(depth)
	if err != nil {
		return left, err
	}
	for p.tok.kind == tokPunct {
		prec := precedence(p.tok.text)
		if prec == 0 || prec <= level || left.Kind != KindConstant || left.Float {
			return left, nil
		}
		sign := p.tok.text
		p.advance()
		right, err := p.binary(prec, depth+1)
		if err != nil {
			return left, err
		}
		if right.Kind != KindConstant || right.Float {
			return left, p.errorf("a constant expected")
		}
		if left.Bits, err = p.fold(sign, left.Bits, right.Bits); err != nil {
			return left, err
		}
		left.Name = ""
	}
	return left, nil
}

func (p *parser) fold(sign string, a, b uint64) (uint64, error) {
	switch sign {
	case "|":
		return a | b, nil
	case "^":
		return a ^ b, nil
	case "&":
		return a & b, nil
	case "<<":
		return a << (b & 127), nil
	case ">>":
		return uint64(int64(a) >> min(b, 63)), nil
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	}
	if b == 0 {
		return 0, p.errorf("division by zero in a constant")
	}
	if sign == "/" {
		return a / b, nil
	}
	return a % b, nil
}

func (p *parser) unary(depth int) (Operand, error) {
	if depth > maxNesting {
		return Operand{}, p.errorf("an expression is nested too deep")
	}
	switch {
	case p.accept("-"):
		op, err := p.unary(depth + 1)
		if op.Kind == KindRegister || op.Kind == KindSpecial {
			op.Minus = !op.Minus
			return op, err
		}
		switch {
		case op.Float || op.Name == "f64":
			op.Bits ^= 1 << 63
		case op.Name == "f32":
			op.Bits ^= 1 << 31
		default:
			op.Bits = -op.Bits
		}
		return op, err
	case p.accept("+"):
		return p.unary(depth + 1)
	case p.accept("~"):
		op, err := p.unary(depth + 1)
		op.Bits = ^op.Bits
		return op, err
	case p.is("("):
		p.advance()
		if p.tok.kind == tokIdent && (p.tok.text == ".s64" || p.tok.text == ".u64") { // a cast
			p.advance()
			if err := p.expect(")"); err != nil {
				return Operand{}, err
			}
			return p.unary(depth + 1)
		}
		op, err := p.binary(0, depth+1)
		if err != nil {
			return op, err
		}
		return op, p.expect(")")
	case p.tok.kind == tokNumber:
		return p.number()
	case p.isIdent("WARP_SZ"):
		at := p.tok.at
		p.advance()
		return Operand{Kind: KindConstant, Bits: 32, At: at}, nil
	}
	return Operand{}, p.errorf("a constant expected, found %q", Clip(p.tok.text))
}

package ptx

import (
	"math"
	"strconv"
	"strings"
)

// floatBits gives the bits of a float constant (kept as float64 bits) in a type.
func floatBits(bits64 uint64, typ string) uint64 {
	f := math.Float64frombits(bits64)
	switch typ {
	case "f32", "tf32", "b32", "u32", "s32":
		return uint64(math.Float32bits(float32(f)))
	case "f16", "b16":
		return uint64(f64ToF16(f, roundNearest))
	case "bf16":
		return uint64(f64ToBF16(f, roundNearest))
	}
	return bits64
}

// number turns a literal into bits. Float literals 0f and 0d keep their exact
// bits when they stand alone: 0f gives 32 bits, everything else 64.
func (p *parser) number() (operand, error) {
	t, at := p.tok.text, p.tok.at
	p.advance()
	op := operand{kind: opImm, at: at}
	if len(t) > 2 && t[0] == '0' {
		switch t[1] {
		case 'f', 'F':
			n, err := strconv.ParseUint(t[2:], 16, 32)
			if err != nil || len(t) != 10 {
				return op, &syntaxError{at, "bad float " + clip(t)}
			}
			op.imm, op.name = n, "f32"
			return op, nil
		case 'd', 'D':
			n, err := strconv.ParseUint(t[2:], 16, 64)
			if err != nil || len(t) != 18 {
				return op, &syntaxError{at, "bad double " + clip(t)}
			}
			op.imm, op.name = n, "f64"
			return op, nil
		}
	}
	if n, err := strconv.ParseUint(strings.TrimRight(t, "uU"), 0, 64); err == nil {
		op.imm = n
		return op, nil
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil || strings.ContainsAny(t, "xXpP") {
		return op, &syntaxError{at, "bad number " + clip(t)}
	}
	op.imm, op.float = math.Float64bits(f), true
	return op, nil
}

// expression reads a constant expression, with the precedence of C.
func (p *parser) expression(depth int) (operand, error) { return p.binary(0, depth) }

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

func (p *parser) binary(level, depth int) (operand, error) {
	left, err := p.unary(depth)
	if err != nil {
		return left, err
	}
	for p.tok.kind == tokPunct {
		prec := precedence(p.tok.text)
		if prec == 0 || prec <= level || left.kind != opImm || left.float {
			return left, nil
		}
		sign := p.tok.text
		p.advance()
		right, err := p.binary(prec, depth+1)
		if err != nil {
			return left, err
		}
		if right.kind != opImm || right.float {
			return left, p.errorf("a constant expected")
		}
		if left.imm, err = p.fold(sign, left.imm, right.imm); err != nil {
			return left, err
		}
		left.name = ""
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

func (p *parser) unary(depth int) (operand, error) {
	if depth > maxNesting {
		return operand{}, p.errorf("an expression is nested too deep")
	}
	switch {
	case p.accept("-"):
		op, err := p.unary(depth + 1)
		if op.kind == opReg || op.kind == opSpecial {
			op.minus = !op.minus
			return op, err
		}
		switch {
		case op.float || op.name == "f64":
			op.imm ^= 1 << 63
		case op.name == "f32":
			op.imm ^= 1 << 31
		default:
			op.imm = -op.imm
		}
		return op, err
	case p.accept("+"):
		return p.unary(depth + 1)
	case p.accept("~"):
		op, err := p.unary(depth + 1)
		op.imm = ^op.imm
		return op, err
	case p.is("("):
		p.advance()
		if p.tok.kind == tokIdent && (p.tok.text == ".s64" || p.tok.text == ".u64") { // a cast
			p.advance()
			if err := p.expect(")"); err != nil {
				return operand{}, err
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
		return operand{kind: opImm, imm: 32, at: at}, nil
	}
	return operand{}, p.errorf("a constant expected, found %q", clip(p.tok.text))
}

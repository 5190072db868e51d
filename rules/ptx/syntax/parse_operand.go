package syntax

// operand reads one operand of an instruction (PTX ISA, "Instruction Operands").
func (p *parser) operand(depth int) (Operand, error) {
	if p.ops++; p.ops > maxOperands || depth > 4 {
		return Operand{}, p.errorf("too many operands")
	}
	at := p.tok.at
	switch {
	case p.is("["):
		return p.address(depth)
	case p.is("{"):
		return p.group("{", "}", KindVector, depth)
	case p.is("(") && depth == 0 && p.callList():
		return p.group("(", ")", KindList, depth)
	case p.accept("!"):
		op, err := p.operand(depth + 1)
		op.Not = !op.Not
		return op, err
	case p.tok.kind == tokIdent && p.tok.text != "WARP_SZ":
		return p.named(at)
	case p.is("-") && p.negatesName():
		p.advance()
		op, err := p.named(p.tok.at)
		op.Minus = true
		return op, err
	}
	return p.expression(0)
}

// callList tells "(a, b)" of a call from a constant expression in parentheses.
func (p *parser) callList() bool {
	l := p.lex
	t, err := l.next()
	return err == nil && (t.kind == tokIdent && t.text != ".s64" && t.text != ".u64" || t.kind == tokPunct && t.text == ")")
}

func (p *parser) negatesName() bool {
	l := p.lex
	t, err := l.next()
	return err == nil && t.kind == tokIdent
}

// named reads a register, a special register, "_", d|p, or a symbol.
func (p *parser) named(at Place) (Operand, error) {
	op, err := p.name(at)
	if err != nil || op.Kind == KindName {
		return op, err
	}
	if p.accept("|") {
		second, err := p.name(p.tok.at)
		if err != nil {
			return op, err
		}
		return Operand{Kind: KindPair, Sub: []Operand{op, second}, At: at}, nil
	}
	return op, nil
}

func (p *parser) name(at Place) (Operand, error) {
	name, err := p.ident("a name")
	if err != nil {
		return Operand{}, err
	}
	if name == "_" {
		return Operand{Kind: KindSink, At: at}, nil
	}
	r, err := p.register(name)
	if err != nil {
		return Operand{}, err
	}
	if r >= 0 {
		return Operand{Kind: KindRegister, Register: r, At: at}, nil
	}
	if name[0] == '%' {
		return Operand{Kind: KindSpecial, Name: name[1:], At: at}, nil
	}
	op := Operand{Kind: KindName, Name: name, At: at}
	if (p.is("+") || p.is("-")) && name[0] != '.' { // mov %r, symbol+8
		n, err := p.expression(0)
		if err != nil {
			return op, err
		}
		op.Bits = n.Bits
	}
	return op, nil
}

func (p *parser) group(open, end string, kind OperandKind, depth int) (Operand, error) {
	op := Operand{Kind: kind, At: p.tok.at}
	if err := p.expect(open); err != nil {
		return op, err
	}
	for !p.is(end) {
		sub, err := p.operand(depth + 1)
		if err != nil {
			return op, err
		}
		op.Sub = append(op.Sub, sub)
		if !p.accept(",") {
			break
		}
	}
	return op, p.expect(end)
}

// address reads "[base+offset]" and "[base, {coordinates}]". sub[0] is the base.
func (p *parser) address(depth int) (Operand, error) {
	op := Operand{Kind: KindAddress, At: p.tok.at}
	p.advance()
	base, err := p.operand(depth + 1)
	if err != nil {
		return op, err
	}
	if base.Kind == KindName {
		op.Bits, base.Bits = base.Bits, 0
	}
	op.Sub = append(op.Sub, base)
	if p.is("+") || p.is("-") {
		n, err := p.expression(0)
		if err != nil {
			return op, err
		}
		op.Bits += n.Bits
	}
	for p.accept(",") {
		sub, err := p.operand(depth + 1)
		if err != nil {
			return op, err
		}
		op.Sub = append(op.Sub, sub)
	}
	return op, p.expect("]")
}

package ptx

// operand reads one operand of an instruction (PTX ISA, "Instruction Operands").
func (p *parser) operand(depth int) (operand, error) {
	if p.ops++; p.ops > maxOperands || depth > 4 {
		return operand{}, p.errorf("too many operands")
	}
	at := p.tok.at
	switch {
	case p.is("["):
		return p.address(depth)
	case p.is("{"):
		return p.group("{", "}", opVector, depth)
	case p.is("(") && depth == 0 && p.callList():
		return p.group("(", ")", opList, depth)
	case p.accept("!"):
		op, err := p.operand(depth + 1)
		op.not = !op.not
		return op, err
	case p.tok.kind == tokIdent && p.tok.text != "WARP_SZ":
		return p.named(at)
	case p.is("-") && p.negatesName():
		p.advance()
		op, err := p.named(p.tok.at)
		op.minus = true
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
func (p *parser) named(at place) (operand, error) {
	op, err := p.name(at)
	if err != nil || op.kind == opName {
		return op, err
	}
	if p.accept("|") {
		second, err := p.name(p.tok.at)
		if err != nil {
			return op, err
		}
		return operand{kind: opPair, sub: []operand{op, second}, at: at}, nil
	}
	return op, nil
}

func (p *parser) name(at place) (operand, error) {
	name, err := p.ident("a name")
	if err != nil {
		return operand{}, err
	}
	if name == "_" {
		return operand{kind: opSink, at: at}, nil
	}
	r, err := p.register(name)
	if err != nil {
		return operand{}, err
	}
	if r >= 0 {
		return operand{kind: opReg, reg: r, at: at}, nil
	}
	if name[0] == '%' {
		return operand{kind: opSpecial, name: name[1:], at: at}, nil
	}
	op := operand{kind: opName, name: name, at: at}
	if (p.is("+") || p.is("-")) && name[0] != '.' { // mov %r, symbol+8
		n, err := p.expression(0)
		if err != nil {
			return op, err
		}
		op.imm = n.imm
	}
	return op, nil
}

func (p *parser) group(open, end string, kind operandKind, depth int) (operand, error) {
	op := operand{kind: kind, at: p.tok.at}
	if err := p.expect(open); err != nil {
		return op, err
	}
	for !p.is(end) {
		sub, err := p.operand(depth + 1)
		if err != nil {
			return op, err
		}
		op.sub = append(op.sub, sub)
		if !p.accept(",") {
			break
		}
	}
	return op, p.expect(end)
}

// address reads "[base+offset]" and "[base, {coordinates}]". sub[0] is the base.
func (p *parser) address(depth int) (operand, error) {
	op := operand{kind: opAddress, at: p.tok.at}
	p.advance()
	base, err := p.operand(depth + 1)
	if err != nil {
		return op, err
	}
	if base.kind == opName {
		op.imm, base.imm = base.imm, 0
	}
	op.sub = append(op.sub, base)
	if p.is("+") || p.is("-") {
		n, err := p.expression(0)
		if err != nil {
			return op, err
		}
		op.imm += n.imm
	}
	for p.accept(",") {
		sub, err := p.operand(depth + 1)
		if err != nil {
			return op, err
		}
		op.sub = append(op.sub, sub)
	}
	return op, p.expect("]")
}

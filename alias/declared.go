package alias

import (
	"fmt"
	"slices"

	"aliascheck/hlo"
)

// declare looks up the call's declared pairs among its leaves. An async-start
// carries the pairs of the call it wraps, in its own numbering.
func (a *Analyzer) declare(c *Call) {
	m := c.Module
	from := len(a.declared)
	for _, p := range m.Instructions[c.Instruction].Custom.Declared {
		a.declared = append(a.declared, lookUp(c, p))
	}
	start := &m.Instructions[c.Site]
	if start.Opcode == "async-start" && start.Custom != nil {
		for _, p := range start.Custom.Declared {
			d := lookUp(c, unwrap(c, p))
			if !slices.ContainsFunc(a.declared[from:], d.same) {
				a.declared = append(a.declared, d)
			}
		}
	}
	checkPairs(c, a.declared[from:])
}

func (d Declared) same(e Declared) bool {
	return d.Entry.Operand == e.Entry.Operand &&
		slices.Equal(d.Entry.Result, e.Entry.Result) &&
		slices.Equal(d.Entry.OperandIndex, e.Entry.OperandIndex)
}

// unwrap turns a pair of an async-start into one of the call it wraps: the
// start's result is a tuple (operands, results, context), and its operand k is
// parameter k of the wrapped computation.
func unwrap(c *Call, p hlo.DeclaredPair) hlo.DeclaredPair {
	if len(p.Result) > 0 && p.Result[0] == 1 {
		p.Result = p.Result[1:]
	}
	m := c.Module
	for n, o := range m.Instructions[c.Instruction].Operands {
		in := &m.Instructions[o]
		if in.Opcode == "parameter" && int64(in.Parameter) == p.Operand {
			p.Operand = int64(n)
			break
		}
	}
	return p
}

func lookUp(c *Call, p hlo.DeclaredPair) Declared {
	d := Declared{Entry: p, Operand: -1, Result: -1}
	for n := range c.Results {
		if slices.Equal(c.Results[n].Index, p.Result) {
			d.Result = int32(n)
		}
	}
	for n := range c.Operands {
		if l := &c.Operands[n]; int64(l.Operand) == p.Operand && slices.Equal(l.Index, p.OperandIndex) {
			d.Operand = int32(n)
		}
	}
	return d
}

// checkPairs says what is wrong with each entry: no such leaf, unequal sizes, or
// a result that an earlier entry gave to another operand.
func checkPairs(c *Call, pairs []Declared) {
	for n := range pairs {
		d := &pairs[n]
		switch {
		case d.Result < 0:
			d.Problem = fmt.Sprintf("the call has no result leaf %v", Index(d.Entry.Result))
		case d.Operand < 0:
			d.Problem = fmt.Sprintf("the call has no operand %d leaf %v", d.Entry.Operand, Index(d.Entry.OperandIndex))
		case c.Results[d.Result].Bytes != c.Operands[d.Operand].Bytes:
			d.Problem = fmt.Sprintf("the operand has %d bytes and the result %d",
				c.Operands[d.Operand].Bytes, c.Results[d.Result].Bytes)
		default:
			for _, e := range pairs[:n] {
				if e.Result == d.Result && e.Operand != d.Operand {
					d.Problem = fmt.Sprintf("operand %d claims the same result", e.Entry.Operand)
				}
			}
		}
	}
}

// Index prints a shape index as XLA does: {}, {0}, {1,2}.
type Index hlo.ShapeIndex

func (x Index) String() string {
	b := []byte{'{'}
	for n, i := range x {
		if n > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%d", i)
	}
	return string(append(b, '}'))
}

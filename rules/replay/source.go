package replay

import (
	"strings"

	"aliascheck/alias"
)

// OperandLookup gives an operand leaf's contents, little endian and dense, with where
// they come from; nil data where it has none.
type OperandLookup func(c *alias.Call, operand int) (data []byte, r Recipe)

// OperandSource finds the real contents of operands: what the first of Lookups
// has, else the literals of constants in the dump. The zero OperandSource knows
// the literals.
type OperandSource struct {
	Lookups []OperandLookup // FromFiles, then Snapshots.Lookup
}

// Bounds of the contents that are decoded from a dump, in bytes: weights seldom
// decide an address, so floating-point constants are taken only where it is cheap.
const (
	maxLiteral      = 256 << 20
	maxFloatLiteral = 1 << 20
)

// contents gives operand leaf n's bytes, or nil. Contents of another size than
// the buffer's are not its contents.
func (s OperandSource) contents(c *alias.Call, n int, size int64) ([]byte, Recipe) {
	for _, lookup := range s.Lookups {
		if data, r := lookup(c, n); data != nil && int64(len(data)) == size {
			return data, r
		}
	}
	return literalOf(c, &c.Operands[n], size)
}

// literalOf gives the contents of a leaf that is a constant of the module. The
// elements of a constant's literal stand in its array's own order.
func literalOf(c *alias.Call, l *alias.Leaf, size int64) ([]byte, Recipe) {
	if l.Value < 0 || size > maxLiteral || size > maxFloatLiteral && !IsInteger(l.Element) {
		return nil, Recipe{}
	}
	at := c.Module.Values[l.Value].Instruction
	in := &c.Module.Instructions[at]
	if in.Opcode != "constant" || len(c.Module.Values[l.Value].Index) != 0 {
		return nil, Recipe{}
	}
	literal, ok := c.Module.Literal(at)
	if !ok {
		return nil, Recipe{}
	}
	data, err := decodeLiteral(literal, l.Element, size)
	if err != nil {
		return nil, Recipe{}
	}
	return data, Recipe{Kind: LiteralInput, Source: strings.Clone(in.Name)}
}

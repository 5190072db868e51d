package rules

import (
	"aliascheck/alias"
)

// OperandSource finds the real contents of operands: literals of constants in the
// dump, snapshots, files that the user names. The zero OperandSource knows the
// dump's literals only.
type OperandSource struct {
	// Lookup gives an operand leaf's contents from elsewhere, little endian and
	// dense, and says where they come from. nil: there is nothing else.
	Lookup func(c *alias.Call, operand int) (data []byte, recipe Recipe, ok bool)
}

// contents gives operand leaf n's bytes, or nil. Contents of another size than
// the buffer's are not its contents.
func (s OperandSource) contents(c *alias.Call, n int, size int64) ([]byte, Recipe) {
	if s.Lookup != nil {
		if data, recipe, ok := s.Lookup(c, n); ok && int64(len(data)) == size {
			return data, recipe
		}
	}
	return nil, Recipe{}
}

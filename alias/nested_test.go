package alias_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"aliascheck/alias"
	"aliascheck/hlo"
)

// TestTuplesThatHideTuples: sixty tuples, each of the one before twice, whose shapes say
// that they hold arrays. Nobody follows two to the power of sixty arrays.
func TestTuplesThatHideTuples(t *testing.T) {
	const deep = 60
	array := packed(num(nil, 2, int64(hlo.F32)), 3, 4)
	pair := msg(msg(num(nil, 2, int64(hlo.TupleType)), 4, array), 4, array)
	instruction := func(id int64, opcode string, shape []byte, operands ...int64) []byte {
		return packed(num(msg(str(str(nil, 1, opcode), 2, opcode), 3, shape), 35, id), 36, operands...)
	}
	comp := msg(str(nil, 1, "main"), 2, instruction(1, "parameter", array))
	order := []int64{1}
	for n := int64(2); n < deep; n++ {
		comp, order = msg(comp, 2, instruction(n, "tuple", pair, n-1, n-1)), append(order, n)
	}
	call := str(instruction(deep, "custom-call", array, deep-1), 28, "target")
	comp = num(num(msg(comp, 2, call), 5, 1), 6, deep)
	order = append(order, deep)
	module := num(msg(str(nil, 1, "m"), 3, comp), 6, 1)
	module = msg(module, 7, msg(nil, 1, msg(num(nil, 1, 1), 2, packed(nil, 1, order...))))
	var assignment []byte
	for n, id := range []int64{1, deep} {
		assignment = msg(assignment, 1, msg(num(num(nil, 1, int64(n)), 2, 16), 3, num(nil, 4, id)))
		assignment = msg(assignment, 3, msg(num(num(nil, 1, int64(n)), 2, 16), 9, num(num(nil, 1, int64(n)), 3, 16)))
	}
	path := filepath.Join(t.TempDir(), "m.hlo.pb")
	require.NoError(t, os.WriteFile(path, msg(msg(nil, 1, module), 3, assignment), 0o600))
	m, err := hlo.NewReader(hlo.Limits{}).Read(hlo.Source{Path: path})
	require.NoError(t, err)

	var a alias.Analyzer
	require.Len(t, a.Calls(m), 1)
	v, ok := m.ValueAt(0, nil)
	require.True(t, ok)
	assert.False(t, a.IsRead(v), "what the shapes hide is not an operand")
}

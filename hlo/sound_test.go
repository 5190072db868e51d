package hlo

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireSound holds a model that the reader accepted to what other packages take for
// granted, without the reader's own code, and calls every accessor.
func requireSound(t testing.TB, m *Module) {
	t.Helper()
	comps, insts := int32(len(m.Computations)), int32(len(m.Instructions))
	in := func(what string, i, from, to int32) {
		require.True(t, i >= from && i < to, "%s %d is not in [%d, %d)", what, i, from, to)
	}
	in("entry", m.Entry, 0, comps)
	require.True(t, m.Computations[m.Entry].Decoded)
	end := int32(0) // callers stand before what they call
	for i, c := range slices.Backward(m.Computations) {
		require.Equal(t, end, c.First)
		require.GreaterOrEqual(t, c.End, c.First)
		end = c.End
		require.Equal(t, c.Decoded, c.Root >= 0)
		if c.Decoded {
			in("root", c.Root, c.First, c.End)
		}
		for place, k := range c.Schedule {
			in("scheduled instruction", k, c.First, c.End)
			require.EqualValues(t, place, m.Instructions[k].Position)
		}
		require.True(t, c.Schedule == nil || int32(len(c.Schedule)) == c.End-c.First)
		for _, k := range c.Callers {
			in("caller", k, 0, insts)
			require.Contains(t, m.Instructions[k].Called, int32(i))
			require.Greater(t, m.Instructions[k].Computation, int32(i))
		}
		for n, k := range c.Parameters {
			in("parameter", k, c.First, c.End)
			require.EqualValues(t, n, m.Instructions[k].Parameter)
		}
	}
	require.Equal(t, insts, end)
	values := int32(0)
	for i := range m.Instructions {
		requireSoundInstruction(t, m, int32(i))
		x := &m.Instructions[i]
		if x.EndValue > x.FirstValue {
			require.Equal(t, values, x.FirstValue)
			values = x.EndValue
		}
	}
	require.Len(t, m.Values, int(values))
	requireSoundBuffers(t, m)
}

func requireSoundInstruction(t testing.TB, m *Module, i int32) {
	x := &m.Instructions[i]
	c := &m.Computations[x.Computation]
	for _, k := range slices.Concat(x.Operands, x.Control) {
		require.True(t, k >= c.First && k < i, "operand %d of %d", k, i)
	}
	for _, k := range x.Called {
		require.True(t, k >= 0 && k < x.Computation)
	}
	leaves := m.Leaves(i)
	require.Equal(t, leaves, m.Leaves(i))
	for _, leaf := range leaves {
		require.GreaterOrEqual(t, leaf.Bytes, int64(0))
		if v, ok := m.ValueAt(i, leaf.Index); ok {
			require.Equal(t, i, m.Values[v].Instruction)
			require.True(t, slices.Equal(leaf.Index, m.Values[v].Index))
		}
	}
	if x.Opcode == "get-tuple-element" {
		require.GreaterOrEqual(t, x.TupleIndex, int32(0))
	}
	require.LessOrEqual(t, len(m.Stack(nil, i)), maxStack)
	m.OpName(i)
	m.Literal(i)
	if x.Custom != nil {
		require.Contains(t, []string{customCall, asyncStart}, x.Opcode)
	}
}

func requireSoundBuffers(t testing.TB, m *Module) {
	for i, v := range m.Values {
		x := &m.Instructions[v.Instruction]
		require.True(t, int32(i) >= x.FirstValue && int32(i) < x.EndValue)
		found, ok := m.ValueAt(v.Instruction, v.Index)
		require.True(t, ok)
		require.EqualValues(t, i, found)
		if v.Allocation < 0 {
			continue
		}
		a := &m.Allocations[v.Allocation]
		require.True(t, v.Offset >= 0 && v.Size >= 0 && v.Size <= a.Size && v.Offset <= a.Size-v.Size)
		require.Contains(t, a.Values, int32(i))
	}
	for i, a := range m.Allocations {
		require.EqualValues(t, i, a.Index)
		last := int64(0)
		for _, k := range a.Values {
			require.EqualValues(t, i, m.Values[k].Allocation)
			require.GreaterOrEqual(t, m.Values[k].Offset, last)
			last = m.Values[k].Offset
		}
	}
}

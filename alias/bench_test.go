package alias_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"aliascheck/alias"
	"aliascheck/hlo"

	"github.com/stretchr/testify/require"
)

// step is a program like a training step of n instructions: what the way forward
// computes is kept until the way back reads it, last first, and every instruction has a
// scratch value besides, which lie in few places, one after the other.
func step(n int) *program {
	p := &program{next: 1, donated: map[int64]bool{}}
	p.entry = p.newComp()
	place := func(o *op, alloc, offset int64) *op {
		v := &val{id: int64(len(p.vals) + 1), op: o, index: -1, alloc: alloc, offset: offset, size: o.shape.size}
		o.values, p.vals = append(o.values, v), append(p.vals, v)
		return o
	}
	array := shape{size: 8}
	last := place(p.add(p.entry, &op{opcode: "parameter", shape: array}), 0, 0)
	p.allocs = []alloc{{size: 8, parameter: 0}, {size: int64(2*n + 64), parameter: -1}}
	var kept []*op
	for k := range n / 4 {
		scratch := place(p.add(p.entry, &op{opcode: "negate", operands: []*op{last}, shape: array}), 1, int64(k%4)*8)
		last = place(p.add(p.entry, &op{opcode: "add", operands: []*op{scratch, last}, shape: array}), 1, int64(k+4)*8)
		kept = append(kept, last)
	}
	for k := n/4 - 1; k >= 0; k-- {
		scratch := place(p.add(p.entry, &op{opcode: "add", operands: []*op{kept[k], last}, shape: array}), 1, int64(k%2)*8)
		last = place(p.add(p.entry, &op{opcode: "add", operands: []*op{scratch, kept[k]}, shape: array}), 1, int64(k%2+2)*8)
	}
	p.entry.root = last
	return p
}

// BenchmarkConflicts looks at all values of a training step of 100,000 instructions.
func BenchmarkConflicts(b *testing.B) {
	m := readProgram(b, step(100_000))
	var a alias.Analyzer
	b.ReportAllocs()
	for b.Loop() {
		a.Calls(m)
		list, reason := a.Conflicts()
		require.Empty(b, list)
		require.Empty(b, reason)
	}
	b.ReportMetric(float64(len(m.Instructions))*float64(b.N)/b.Elapsed().Seconds(), "instructions/s")
}

func readProgram(tb testing.TB, p *program) *hlo.Module {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "program_after_optimizations.hlo.pb")
	require.NoError(tb, os.WriteFile(path, p.encode(), 0o644))
	m, err := hlo.NewReader(hlo.Limits{}).Read(hlo.Source{Path: path})
	require.NoError(tb, err)
	return m
}

// TestManyValuesTakeLittleTime: all values of 100,000 instructions in less than a second,
// and no memory once there is some.
func TestManyValuesTakeLittleTime(t *testing.T) {
	m := readProgram(t, step(100_000))
	require.Greater(t, len(m.Instructions), 99_000)
	var a alias.Analyzer
	a.Calls(m)
	a.Conflicts()
	least := time.Hour
	for range 3 { // the machine may have other things to do
		start := time.Now()
		a.Calls(m)
		list, reason := a.Conflicts()
		least = min(least, time.Since(start))
		require.Empty(t, list)
		require.Empty(t, reason)
	}
	require.Less(t, least, time.Second)
	require.Zero(t, testing.AllocsPerRun(1, func() { a.Calls(m); a.Conflicts() }))
}

package hlo

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzText reads any two texts: no panic, memory in proportion, and a model of which
// everything can be asked, or an error that names a file.
func FuzzText(f *testing.F) {
	for _, name := range []string{
		"cpu/nested_results", "cpu/called", "cpu/attributes", "cpu/tuple_of_one", "cpu/either", "short/asynchronous",
		"old/jax-0.4.13/two_results", "old/jax-0.7.2/typed", "dumps/host_callback",
	} {
		paths, err := filepath.Glob("../testdata/" + name + "/*after_optimizations.txt")
		require.NoError(f, err)
		require.Len(f, paths, 1)
		text, err := os.ReadFile(paths[0])
		require.NoError(f, err)
		assignment, err := os.ReadFile(strings.TrimSuffix(paths[0], ".txt") + "-buffer-assignment.txt")
		require.NoError(f, err)
		list, _, behind := strings.Cut(string(assignment), "\n\n")
		f.Add(string(text), list+"\n")
		if behind {
			f.Add(string(text), string(assignment))
		}
	}
	f.Add(looped("%b, %a, %c"), oneAssignment("n", "q"))
	f.Add(chosen("ROOT %u = f32[2]{0} negate(%x)", "ROOT %v = f32[2]{0} bitcast(%y)"), oneAssignment("i", "u", "k (phi)", "r"))
	f.Add(oneCall("  ROOT %c = f32[2]{0} add(%p)\n"), oneAssignment("c"))
	f.Add(oneCall("  %t = (f32[2]{0}, (s32[], token[])) sort(%p)\n  ROOT %c = f32[2]{0} add(%t#0, %t#1#0)\n"), oneAssignment("c"))
	f.Fuzz(func(t *testing.T, text, assignment string) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := readTexts(text, assignment)
		runtime.ReadMemStats(&after)
		size := uint64(len(text) + len(assignment))
		require.Less(t, after.TotalAlloc-before.TotalAlloc, 1<<22+size*1000)
		if err != nil {
			require.True(t, strings.Contains(err.Error(), "m.txt") || strings.Contains(err.Error(), "a.txt"), "%v", err)
			return
		}
		for i := range m.Instructions {
			m.Leaves(int32(i))
			m.Stack(nil, int32(i))
			m.OpName(int32(i))
			m.Literal(int32(i))
		}
	})
}

// TestReplicaGroups passes over every form in which XLA prints them.
func TestReplicaGroups(t *testing.T) {
	src := Source{Path: "../testdata/sharded/sharded_rows/module_0004.jit_sharded_rows.cpu_after_optimizations.txt", Text: true,
		Assignment: "../testdata/sharded/sharded_rows/module_0004.jit_sharded_rows.cpu_after_optimizations-buffer-assignment.txt"}
	text, err := os.ReadFile(src.Path)
	require.NoError(t, err)
	const printed = `replica_groups=mesh['axis_0'=1,'axis_1'=4] {'axis_1'}`
	require.Contains(t, string(text), printed)
	for _, form := range []string{
		printed, `replica_groups={{0,1},{2,3}}`, `replica_groups=[2,4]<=[8]`, `replica_groups=[2,4]<=[2,4]T(1,0)`, `replica_groups={}`,
		`replica_groups=mesh['axis_0'=1,'axis_1'=4,'axis_2'=2], device_ids=([2,4]T(1,0)) {'axis_1'}`,
	} {
		bent := Source{Path: filepath.Join(t.TempDir(), "module.txt"), Text: true, Assignment: src.Assignment}
		require.NoError(t, os.WriteFile(bent.Path, []byte(strings.ReplaceAll(string(text), printed, form)), 0o644))
		_, err := NewReader(Limits{}).Read(bent)
		require.NoError(t, err, form)
	}
}

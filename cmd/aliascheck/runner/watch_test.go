package runner

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dumpDir plays XLA and the plugin: it writes what they would.
type dumpDir struct {
	t    *testing.T
	root string
	now  time.Time
}

func newDumpDir(t *testing.T) *dumpDir {
	return &dumpDir{t: t, root: t.TempDir(), now: time.Now().Add(-time.Hour)}
}

// write gives each file a time of its own, as files written one after the other have.
func (d *dumpDir) write(name, text string) {
	path := filepath.Join(d.root, name)
	require.NoError(d.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(d.t, os.WriteFile(path, []byte(text), 0o644))
	d.now = d.now.Add(time.Second)
	require.NoError(d.t, os.Chtimes(path, d.now, d.now))
}

func (d *dumpDir) record(process, lines string) {
	f, err := os.OpenFile(filepath.Join(d.root, process+recordSuffix), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(d.t, err)
	defer f.Close()
	_, err = f.WriteString(lines)
	require.NoError(d.t, err)
}

// module writes a module whole, as XLA leaves it.
func (d *dumpDir) module(prefix, text string) {
	d.write(prefix+".before_optimizations.hlo.pb", "end")
	d.write(prefix+".cpu_after_optimizations.hlo.pb", text)
	d.write(prefix+".debug_options", "")
}

func (d *dumpDir) left() []string {
	var names []string
	require.NoError(d.t, filepath.WalkDir(d.root, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(d.root, path)
			names = append(names, name)
		}
		return err
	}))
	return names
}

func TestWatcherAuditsAModuleWhenItIsWhole(t *testing.T) {
	d, a := newDumpDir(t), newFakeAuditor()
	w := newWatcher(d.root, a, KeepAll)
	ctx := context.Background()

	d.write("p/module_0000.jit_f.before_optimizations.hlo.pb", "end")
	w.poll(ctx)
	d.write("p/module_0000.jit_f.sm_9.0a_gpu_after_optimizations.hlo.pb", "en")
	w.poll(ctx)
	w.poll(ctx)
	assert.Zero(t, a.attempts, "nothing says yet that the file is whole")

	d.write("p/module_0000.jit_f.thunk_sequence.txt", "")
	w.poll(ctx)
	assert.Equal(t, 1, a.attempts, "read, and found to be cut short")
	w.poll(ctx)
	assert.Equal(t, 1, a.attempts, "not read again before it has changed")
	assert.Empty(t, a.incomplete, "nothing is final while processes write")

	d.write("p/module_0000.jit_f.sm_9.0a_gpu_after_optimizations.hlo.pb", "to the end")
	w.poll(ctx)
	w.poll(ctx)
	w.poll(ctx)
	require.NoError(t, w.finish(ctx, 2))
	assert.Equal(t, map[string]string{"module_0000.jit_f.sm_9.0a_gpu_after_optimizations.hlo.pb": ""}, a.audited)
	assert.Len(t, a.order, 1)
	assert.Empty(t, a.incomplete)
}

func TestWatcherTakesAFileThatNoLongerChanges(t *testing.T) {
	d, a := newDumpDir(t), newFakeAuditor()
	w := newWatcher(d.root, a, KeepAll)
	d.write("p/module_0003.jit_g.cpu_after_optimizations.hlo.pb", "end")
	polls := 0
	for ; polls < 50 && len(a.order) == 0; polls++ {
		w.poll(context.Background())
	}
	assert.Len(t, a.order, 1)
	assert.Greater(t, polls, 3, "one quiet moment is no proof")
}

func TestFinishTellsWhatIsNotWhole(t *testing.T) {
	d, a := newDumpDir(t), newFakeAuditor()
	w := newWatcher(d.root, a, KeepFindings)
	d.record("p", `{"event":"begin"}`+"\n"+`{"event":"start","test":"t.py::crash"}`+"\n")
	d.module("p/module_0000.jit_cut", "half")
	d.write("p/module_0001.jit_never.before_optimizations.hlo.pb", "end")
	d.write("p/module_0002.jit_config.config.pbtxt", "")
	d.module("p/module_0004.jit_good", "end")
	w.poll(context.Background())
	assert.Empty(t, a.order, "the test that compiles has not ended")

	require.NoError(t, w.finish(context.Background(), 1))
	assert.Equal(t, map[string]string{"module_0004.jit_good.cpu_after_optimizations.hlo.pb": "t.py::crash"}, a.audited)
	assert.Equal(t, map[string]string{
		"module_0000.jit_cut.cpu_after_optimizations.hlo.pb": "truncated (during t.py::crash)",
		"module_0001.jit_never":                              "no after_optimizations file: its compilation did not end (during t.py::crash)",
	}, a.incomplete)
	assert.NotContains(t, d.left(), "p/module_0004.jit_good.cpu_after_optimizations.hlo.pb")
	assert.Contains(t, d.left(), "p/module_0000.jit_cut.cpu_after_optimizations.hlo.pb", "what could not be read is kept")
}

func TestWatcherSaysWhichTestCompiledAModule(t *testing.T) {
	d, a := newDumpDir(t), newFakeAuditor()
	w := newWatcher(d.root, a, KeepNone)
	ctx := context.Background()
	d.record("gw0", `{"event":"begin"}`+"\n")
	d.module("gw0/module_0000.jit_collect", "end")
	d.record("gw0", `{"event":"outside","modules":[0]}`+"\n"+`{"event":"start","test":"t.py::a"}`+"\n")
	d.module("gw0/module_0002.jit_f", "finding end")
	d.module("child/module_0002.jit_f2", "end")
	d.record("child", `{"event":"process","test":"t.py::a"}`+"\n")
	d.module("other/module_0002.jit_f3", "end")
	w.poll(ctx)
	w.poll(ctx)
	assert.Equal(t, map[string]string{
		"module_0000.jit_collect.cpu_after_optimizations.hlo.pb": "",
		"module_0002.jit_f2.cpu_after_optimizations.hlo.pb":      "t.py::a",
		"module_0002.jit_f3.cpu_after_optimizations.hlo.pb":      "",
	}, a.audited)

	d.record("gw0", `{"event":"end","test":"t.py::a","mod`)
	w.poll(ctx)
	assert.Len(t, a.audited, 3, "the record's line has not ended")
	d.record("gw0", `ules":[2]}`+"\n")
	w.poll(ctx)
	assert.Equal(t, "t.py::a", a.audited["module_0002.jit_f.cpu_after_optimizations.hlo.pb"])
	require.NoError(t, w.finish(ctx, 1))
	assert.Equal(t, []string{"child.tests.jsonl", "gw0.tests.jsonl"}, d.left())
	assert.Empty(t, a.incomplete)
}

func TestKeepDeletesAuditedModules(t *testing.T) {
	for keep, want := range map[Keep]int{KeepAll: 8, KeepFindings: 4, KeepNone: 0} {
		t.Run(string(keep), func(t *testing.T) {
			d, a := newDumpDir(t), newFakeAuditor()
			w := newWatcher(d.root, a, keep)
			d.module("p/module_0000.jit_good", "end")
			d.module("p/module_0001.jit_bad", "finding end")
			w.poll(context.Background())
			w.poll(context.Background())
			assert.Len(t, a.order, 2)
			// XLA goes on to write after the module was audited.
			d.write("p/module_0000.jit_good.obj-file.kernel.o", "")
			d.write("p/module_0001.jit_bad.obj-file.kernel.o", "")
			require.NoError(t, w.finish(context.Background(), 1))
			assert.Len(t, d.left(), want)
			assert.Len(t, a.order, 2)
			assert.Empty(t, a.incomplete)
		})
	}
}

func TestWatcherSeesProcessesOverwriteEachOther(t *testing.T) {
	for _, keep := range []Keep{KeepAll, KeepNone} {
		d, a := newDumpDir(t), newFakeAuditor()
		w := newWatcher(d.root, a, keep)
		d.module("shared/module_0000.jit_f", "end")
		w.poll(context.Background())
		w.poll(context.Background())
		require.Len(t, a.order, 1)
		d.module("shared/module_0000.jit_f", "another end")
		require.NoError(t, w.finish(context.Background(), 1))
		assert.Len(t, a.order, 2, "the second one is audited as well")
		assert.Contains(t, a.incomplete["module_0000.jit_f"], "several processes wrote this file")
	}
}

func TestFinishTellsOfProgramsThatLeftNoDump(t *testing.T) {
	tests := map[string]string{
		`{"event":"finish","compiled":7,"dumped":5,"cached":0}`: "2 compiled programs left no dump: JAX's backend started before the dump flags were set, or XLA_FLAGS was overwritten",
		`{"event":"finish","compiled":7,"dumped":5,"cached":3}`: "3 compiled programs came out of JAX's persistent cache, which the program itself turned on: they left no dump",
		`{"event":"finish","compiled":5,"dumped":9,"cached":0}`: "",
	}
	for line, want := range tests {
		d, a := newDumpDir(t), newFakeAuditor()
		w := newWatcher(d.root, a, KeepAll)
		d.record("p", `{"event":"begin"}`+"\n"+line+"\n")
		require.NoError(t, w.finish(context.Background(), 1))
		assert.Equal(t, want, a.incomplete["p"])
	}
}

func TestRecordPassesOverWhatIsNoEvent(t *testing.T) {
	r := &record{}
	long := make([]byte, maxRecordLine+10)
	for i := range long {
		long[i] = 'x'
	}
	r.feed([]byte("\n{}\nnull\n[1]\n\xff\n{\"event\":\"end\",\"modules\":\"x\"}\n"))
	r.feed(long)
	r.feed([]byte("tail\n" + `{"event":"end","test":"a","modules":[1,2]}` + "\n"))
	r.feed([]byte(`{"event":"end","test":"b","modules":[2,3]}` + "\n"))
	assert.Equal(t, map[int]string{1: "a", 2: "a", 3: "b"}, r.tests)
	assert.Empty(t, r.rest)
}

func TestStagesTakeFileNamesApart(t *testing.T) {
	tests := []struct {
		name, prefix string
		number       int
		final        bool
	}{
		{"module_0012.jit_f.cpu_after_optimizations.hlo.pb", "module_0012.jit_f", 12, true},
		{"module_0012.jit_f.sm_9.0a_gpu_after_optimizations.hlo.pb", "module_0012.jit_f", 12, true},
		{"module_12345.jit_f.g.sm_8.0_gpu_after_optimizations.hlo.pb", "module_12345.jit_f.g", 12345, true},
		{"module_0001.jit_f.gfx942_gpu_after_optimizations.hlo.pb", "module_0001.jit_f", 1, true},
		{"module_0001.jit_f.before_optimizations.hlo.pb", "module_0001.jit_f", 1, false},
		{"1700000000.module_0001.jit_f.before_optimizations.hlo.pb", "1700000000.module_0001.jit_f", 1, false},
		{"module_0001.jit_f.after_spmd_partitioner.hlo.pb", "", 1, false},
		{"module_0001.jit_f.cpu_after_optimizations.txt", "", 1, false},
		{"module_99999999999999999999.jit_f.cpu_after_optimizations.hlo.pb", "", -1, false},
		{"autotune_results.pbtxt", "", -1, false},
	}
	for _, test := range tests {
		number, prefix, final := newStages().parse(test.name)
		assert.Equal(t, test.number, number, test.name)
		assert.Equal(t, test.prefix, prefix, test.name)
		assert.Equal(t, test.final, final, test.name)
	}
}

// TestWatcherNamesWhatIsWrittenWhileItEnds: a process that could not be awaited writes
// while the rest is audited.
func TestWatcherNamesWhatIsWrittenWhileItEnds(t *testing.T) {
	d := newDumpDir(t)
	a := &lateAuditor{fakeAuditor: newFakeAuditor(), write: func() {
		d.module("p/module_0001.jit_late", "end")
		d.write("p/module_0000.jit_f.cpu_after_optimizations.hlo.pb", "another end")
		d.module("q/module_0000.jit_new", "end")
	}}
	d.module("p/module_0000.jit_f", "end")
	require.NoError(t, newWatcher(d.root, a, KeepFindings).finish(context.Background(), 2))
	const late = "written after the command had ended and the rest was audited: not audited itself"
	assert.Equal(t, map[string]string{
		"module_0001.jit_late.cpu_after_optimizations.hlo.pb": late,
		"module_0000.jit_new.cpu_after_optimizations.hlo.pb":  late,
		"module_0000.jit_f": "several processes wrote this file: modules that were overwritten could not be audited",
	}, a.incomplete)
	assert.Contains(t, d.left(), "p/module_0001.jit_late.cpu_after_optimizations.hlo.pb", "what was not audited is kept")
}

// lateAuditor has somebody write as soon as it has audited a module.
type lateAuditor struct {
	*fakeAuditor
	write func()
}

func (a *lateAuditor) Audit(ctx context.Context, path, test string) (bool, error) {
	found, err := a.fakeAuditor.Audit(ctx, path, test)
	a.write()
	return found, err
}

package ptx

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"aliascheck/rules/ptx/syntax"
)

// allocated runs f and gives the bytes that it allocated.
func allocated(f func()) uint64 {
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	f()
	runtime.ReadMemStats(&b)
	return b.TotalAlloc - a.TotalAlloc
}

// chain is a module whose functions each call the next one twice.
func chain(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".func f%d() { .reg .b32 %%r<2>; add.u32 %%r1, %%r1, 1; ret; }\n", n)
	for i := n - 1; i >= 0; i-- {
		fmt.Fprintf(&b, ".func f%d() { call f%d; call f%d; ret; }\n", i, i+1, i+1)
	}
	return b.String() + ".entry k() { call f0; ret; }"
}

// TestHostileText: a text is refused, or its launch is not analysed, and says
// why; neither takes memory without bound.
func TestHostileText(t *testing.T) {
	entry := func(body string) string { return ".entry k(.param .u64 p0) {\n" + body + "\n}" }
	cases := []struct{ name, text, want string }{
		{"a shared array of 2^62 bytes", entry(".shared .b8 x[4611686018427387904]; st.shared.b8 [x], 1; ret;"), ""},
		{"shared arrays whose sizes wrap", entry(".shared .b8 x[0xffffffffffffffff]; .shared .b8 y[2]; st.shared.b8 [y], 1; ret;"), ""},
		{"a shared array of dimensions that wrap", entry(".shared .b64 x[0x100000000][0x100000000]; st.shared.b8 [x], 1; ret;"), ""},
		{"a gigabyte of shared memory", entry(".shared .b8 x[1073741824]; st.shared.b8 [x], 1; ret;"), "shared memory"},
		{"a terabyte of local memory", entry(".local .b8 x[1099511627776]; st.local.b8 [x], 1; ret;"), ""},
		{"a terabyte of module memory", ".global .b8 x[1099511627776];\n" + entry("st.global.b8 [x], 1; ret;"), ""},
		{"2^40 registers", entry(".reg .b32 %r<1099511627776>; ret;"), "harmless"},
		{"registers without end", entry(strings.Repeat(".reg .b32 %r<1000000>;\n", 1) + strings.Repeat(".reg .b64 %d<1000000>;\n", 1) + "ret;"), "harmless"},
		{"scopes in scopes", entry(strings.Repeat("{", 200000) + strings.Repeat("}", 200000) + "ret;"), "nest"},
		{"parentheses in parentheses", entry("mov.b32 %r1, " + strings.Repeat("(", 200000) + "1" + strings.Repeat(")", 200000) + ";"), ""},
		{"unary operators without end", entry("mov.b32 %r1, " + strings.Repeat("-", 500000) + "1;"), ""},
		{"calls that double 60 times", chain(60), ""},
		{"a function that calls itself", ".func f() { call f; ret; }\n.entry k() { call f; ret; }", "recursion"},
		{"two functions that call each other", ".func g();\n.func f() { call g; ret; }\n.func g() { call f; ret; }\n.entry k() { call f; ret; }", "recursion"},
		{"a brace that is not closed", ".entry k() { ret;", "k.ptx:"},
		{"a string that is not closed", ".file 1 \"abc", "k.ptx:"},
		{"a comment that is not closed", "/* abc", "k.ptx:"},
		{"a parameter of 2^60 bytes", ".entry k(.param .b8 p[1152921504606846976]) { ret; }", "k.ptx:"},
		{"an array longer than its initializer may be", ".global .b32 x[2] = {1, 2, 3, 4, 5};\n" + entry("ret;"), ""},
		{"a jump to nowhere", entry("bra L;"), "L is not declared"},
		{"a label twice", entry("L: ret; L: ret;"), "L"},
		{"bytes that are no text", "\x00\xff\xfe.entry", "k.ptx:1:1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			used := allocated(func() {
				m, err := syntax.Parse("k.ptx", []byte(".version 8.7\n.target sm_90a\n.address_size 64\n"+c.text))
				if c.want == "k.ptx:1:1" {
					m, err = syntax.Parse("k.ptx", []byte(c.text))
				}
				if err != nil {
					assert.Contains(t, err.Error(), "k.ptx:")
					assert.Contains(t, err.Error(), c.want)
					return
				}
				l := &Launch{Entry: m.Entry("k"), Budget: Budget{Steps: 1 << 20, Memory: 64 << 20}}
				for range l.Entry.Params {
					l.Args = append(l.Args, Scalar(make([]byte, 8)))
				}
				o, err := Run(context.Background(), l)
				if err != nil {
					assert.Contains(t, err.Error(), c.want)
					return
				}
				if c.want == "harmless" {
					return // nothing uses them
				}
				require.False(t, o.Analysed)
				assert.NotEmpty(t, o.Reason)
				assert.Contains(t, o.Reason, c.want)
			})
			assert.Less(t, used, uint64(1<<30))
		})
	}
}

// TestHostileKernels run until a budget or a rule ends them.
func TestHostileKernels(t *testing.T) {
	const each = "mul.wide.u32 %rd5, %tid, 4; add.s64 %rd6, %rd0, %rd5; "
	cases := []struct{ name, body, want string }{
		{"a store to every page of 64 GB", "mov.b64 %rd5, %rd0; L: st.global.b32 [%rd5], %tid; add.s64 %rd5, %rd5, 65536; bra L;", "not analysed"},
		{"a load from every page of 64 GB", "mov.b64 %rd5, %rd0; L: ld.global.b32 %r1, [%rd5]; add.s64 %rd5, %rd5, 65536; bra L;", "not analysed"},
		{"addresses that wrap", each + "sub.s64 %rd6, %rd5, 64; st.global.v4.b32 [%rd6], {%r1, %r1, %r1, %r1}; ret;", "strays"},
		{"an address and an offset that wrap", "mov.b64 %rd5, -8; st.global.b32 [%rd5+2147483647], %r1; ld.global.b64 %rd7, [%rd5+4]; ret;", "strays"},
		{"an access across a buffer's end", "add.s64 %rd6, %rd0, 0xffffffffe; st.global.b32 [%rd6], %r1; ret;", "strays"},
		{"shared memory beyond its end", "mov.b32 %r1, smem; st.shared.b32 [%r1+1048576], %r1; ret;", "strays"},
		{"shared memory below its start", "st.shared.b32 [-4], %r1; ret;", "strays"},
		{"barrier 16", "bar.sync 16; ret;", "not analysed"},
		{"a barrier of no threads", "bar.sync 1, 0; ret;", "not analysed"},
		{"a barrier of too many threads", "bar.sync 1, 1024; ret;", "hangs"},
		{"a barrier that some miss", "setp.lt.u32 %p1, %tid, 32; @%p1 bra E; bar.sync 1, 64; E: bar.sync 2, 64; ret;", "hangs"},
		{"an mbarrier outside", "mbarrier.init.shared.b64 [2000000], 1; ret;", "not analysed"},
		{"an mbarrier that nobody made", "mov.b32 %r1, smem; mbarrier.arrive.shared.b64 _, [%r1]; ret;", "not analysed"},
		{"an mbarrier that nobody completes", "mov.b32 %r1, smem; setp.eq.u32 %p1, %tid, 0; @%p1 mbarrier.init.shared.b64 [%r1], 99; bar.sync 0; W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; @!%p2 bra W; ret;", "hangs"},
		{"a branch beyond its table", "ts: .branchtargets A; brx.idx %tid, ts; A: ret;", "not analysed"},
		{"a lock that is never freed", "L: atom.global.cas.b32 %r1, [%rd0], 1, 1; setp.ne.u32 %p1, %r1, 7; @%p1 bra L; ret;", "not safe"},
		{"every thread by itself", "mov.b32 %r1, %tid; L: mul.lo.u32 %r1, %r1, 1664525; add.u32 %r1, %r1, 1013904223; and.b32 %r2, %r1, 0x10000; setp.ne.u32 %p1, %r2, 0; @%p1 bra M; add.u32 %r3, %r3, 1; bra L; M: add.u32 %r4, %r4, 1; bra L;", "not analysed"},
		{"copies without end", "mov.b32 %r1, smem; L: cp.async.ca.shared.global [%r1], [%rd0], 4; cp.async.commit_group; bra L;", "ends"},
		{"unequal atomics without end", each + "L: atom.global.add.u32 %r1, [%rd6], %r1; add.s64 %rd6, %rd6, 4; bra L;", "not analysed"},
		{"a bulk copy of 4 GB", "mov.b32 %r1, smem; mbarrier.init.shared.b64 [%r1], 1; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+64], [%rd0], 0xfffffff0, [%r1]; ret;", "ends"},
	}
	for _, c := range cases {
		for _, mode := range []Mode{Sliced, Full} {
			t.Run(fmt.Sprint(c.name, " ", mode), func(t *testing.T) {
				l := handLaunch(kernel(t, 1, c.body), 2, 64, 4096, 0)
				l.Buffers[0] = Buffer{Size: 1 << 36}
				l.Mode, l.Budget = mode, Budget{Steps: 1 << 19, Memory: 128 << 20}
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				var o *Outcome
				var err error
				used := allocated(func() { o, err = Run(ctx, l) })
				require.NoError(t, err)
				require.NoError(t, ctx.Err(), "the budget did not end it")
				assert.Less(t, used, uint64(512<<20))
				switch c.want {
				case "not analysed":
					assert.False(t, o.Analysed)
					assert.NotEmpty(t, o.Reason)
				case "strays":
					require.True(t, o.Analysed, o.Reason)
					assert.NotEmpty(t, o.OutOfBounds)
				case "hangs":
					require.NotNil(t, o.Hang, "%+v", o)
					assert.NotEmpty(t, o.Hang.Reason)
				case "not safe":
					assert.NotEqual(t, Safe, o.InPlace(0, 0, 0).Safety)
				default:
					assert.True(t, !o.Analysed && o.Reason != "" || o.Hang != nil || len(o.OutOfBounds) > 0, "%+v", o)
				}
				t.Logf("%d MB, %s", used>>20, o.Reason)
			})
		}
	}
}

// TestWorkCountsAsSteps: what takes much longer than its instructions say is
// counted dearer, in accesses that nothing orders and in copies that pile up.
// The same instructions one after the other stay within the budget.
func TestWorkCountsAsSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	const each = "mul.wide.u32 %rd5, %tid, 4; add.s64 %rd6, %rd0, %rd5; mov.b32 %r1, smem; mad.lo.u32 %r1, %tid, 4, %r1; mov.b32 %r2, 0; L: "
	const again = "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 4000; @%p1 bra L; ret;"
	for _, c := range []struct {
		name, body string
		dear       bool
	}{
		{"atomics that shift", "red.global.add.u32 [%rd6], 1; add.s64 %rd6, %rd6, 4;", true},
		{"atomics that stay", "red.global.add.u32 [%rd6], 1;", false},
		{"atomics that jump", "red.global.add.u32 [%rd6], 1; add.s64 %rd6, %rd6, 4096;", false},
		{"stores that shift", "st.global.b32 [%rd6], 1; add.s64 %rd6, %rd6, 4;", true},
		{"copies that pile up", "cp.async.ca.shared.global [%r1], [%rd0], 4; add.s64 %rd0, %rd0, 4;", true},
		{"copies that are waited for", "cp.async.ca.shared.global [%r1], [%rd0], 4; cp.async.wait_all; add.s64 %rd0, %rd0, 4;", false},
	} {
		for _, mode := range []Mode{Sliced, Full} {
			t.Run(fmt.Sprint(c.name, " ", mode), func(t *testing.T) {
				l := handLaunch(kernel(t, 1, each+c.body+again), 1, 1024, 4096, 0)
				l.Buffers[0] = Buffer{Size: 1 << 36}
				l.Mode, l.Budget = mode, Budget{Steps: 1 << 25, Memory: 512 << 20}
				o, err := Run(context.Background(), l)
				require.NoError(t, err)
				assert.Equal(t, !c.dear, o.Analysed, o.Reason)
			})
		}
	}
}

// TestCancelled: a run ends soon after its context does, and says so.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	l := handLaunch(kernel(t, 1, "mov.b64 %rd5, 0; L: add.u64 %rd5, %rd5, 1; setp.ne.u64 %p1, %rd5, 0; @%p1 bra L; ret;"), 1<<20, 32, 0, 64)
	o, err := Run(ctx, l)
	require.NoError(t, err)
	assert.False(t, o.Analysed)
	assert.NotEmpty(t, o.Reason)
}

func TestHostile(t *testing.T) {
	cases := []struct {
		name, body string
		grid       [3]uint32
		want       string
	}{
		{"a jump to itself", "L: bra L;", [3]uint32{1, 1, 1}, ""},
		{"a counting loop without end", "mov.b32 %r1, 0; L: add.u32 %r1, %r1, 1; bra L;", [3]uint32{1, 1, 1}, ""},
		{"a counting loop that ends late", "mov.b64 %rd5, 0; L: add.u64 %rd5, %rd5, 1; setp.ne.u64 %p1, %rd5, 0; @%p1 bra L;", [3]uint32{1, 1, 1}, "steps"},
		{"2^31 blocks", "add.u32 %r1, %r1, 1; ret;", [3]uint32{1 << 31, 1, 1}, "steps"},
		{"2^96 blocks", "ret;", [3]uint32{1<<32 - 1, 1<<32 - 1, 1<<32 - 1}, "too large"},
		{"an unknown instruction", "frobnicate.b32 %r1, %r2;", [3]uint32{1, 1, 1}, "frobnicate"},
		{"stores without end", "mov.b64 %rd5, %rd0; L: st.global.b32 [%rd5], %r1; add.s64 %rd5, %rd5, 4; bra L;", [3]uint32{1, 1, 1}, "steps"},
		{"diverging without end", "L: add.u32 %r1, %r1, %tid; and.b32 %r2, %r1, 1; setp.eq.b32 %p1, %r2, 0; @%p1 bra L; add.u32 %r1, %r1, 3; bra L;", [3]uint32{1, 1, 1}, "more than"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := handLaunch(kernel(t, 2, c.body), 1, 32, 0, 1<<16, 512)
			l.Grid = c.grid
			l.Budget.Steps = 20_000_000
			l.Budget.Memory = 64 << 20
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			o, err := Run(ctx, l)
			require.NoError(t, err)
			if c.want == "" {
				require.NotNil(t, o.Hang)
				return
			}
			require.False(t, o.Analysed)
			assert.Contains(t, o.Reason, c.want)
		})
	}
}

func TestHostileLaunches(t *testing.T) {
	e := kernel(t, 1, "st.global.b32 [%rd0+-4], %r1; ret;")
	l := handLaunch(e, 1, 32, 0, 64)
	o := analysed(t, l)
	require.Len(t, o.OutOfBounds, 1)
	assert.Equal(t, int64(-4), o.OutOfBounds[0].Offset)
	wide := kernel(t, 1, "mov.b64 %rd2, 0x4000000000000000; mul.wide.u32 %rd3, %tid, 1; mul.lo.s64 %rd2, %rd2, %rd3; add.s64 %rd2, %rd2, %rd0; st.global.b32 [%rd2], %r1; ret;")
	o = analysed(t, handLaunch(wide, 1, 32, 0, 64))
	require.Len(t, o.OutOfBounds, 1)
	assert.Equal(t, int64(24), o.OutOfBounds[0].Count) // every fourth thread's offset wraps to zero
	assert.Equal(t, []Range{{0, 4}}, o.Effects[0].Written)
	wrap := kernel(t, 1, "mov.b64 %rd1, -1; sub.s64 %rd1, %rd1, 3; st.global.v4.b32 [%rd1], {%r1,%r1,%r1,%r1}; ret;")
	o = analysed(t, handLaunch(wrap, 1, 32, 0, 64))
	require.Len(t, o.OutOfBounds, 1)
	for _, bad := range []func(l *Launch){
		func(l *Launch) { l.Args[0].Buffer = 7 },
		func(l *Launch) { l.Args[0].Offset = 65 },
		func(l *Launch) { l.Args = nil },
		func(l *Launch) { l.Block = [3]uint32{1 << 20, 1 << 20, 1} },
		func(l *Launch) { l.DynamicShared = 1 << 31 },
		func(l *Launch) { l.Buffers[0].Size = -1 },
		func(l *Launch) { l.Buffers[0].Size = 1 << 60; l.Buffers[0].Contents = nil },
		func(l *Launch) { l.Cluster = [3]uint32{3, 1, 1} },
	} {
		l := handLaunch(e, 1, 32, 0, 64)
		bad(l)
		_, err := Run(context.Background(), l)
		require.Error(t, err)
	}
	m, err := syntax.Parse("r", []byte(".version 8.0\n.func f() { call f; ret; }\n.entry k() { call f; ret; }"))
	require.NoError(t, err)
	o = run(t, &Launch{Entry: m.Entries[0], Grid: [3]uint32{1, 1, 1}})
	assert.Contains(t, o.Reason, "recursion")
}

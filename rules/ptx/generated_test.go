package ptx

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A generated kernel is a series of steps that all threads of a block go
// through; some steps are for some threads only. Its reads of p0 and writes of
// p1 are known, and so is the order among them: a vector clock per thread, kept
// by the plainest means, says whether the kernel is safe in place.
type generated struct {
	r       *rand.Rand
	threads int
	text    strings.Builder
	labels  int
	bars    int // mbarriers used

	clock  [][]int  // by thread: how far it knows the others
	now    []int    // by thread: its own steps
	reads  []moment // of words of p0
	writes []moment
	copies [][]moment // by thread: reads that are on their way, by group
}

type moment struct {
	word, thread, at int
	knows            []int
	never            bool
}

func generate(seed uint64) (*generated, string) {
	g := &generated{r: rand.New(rand.NewPCG(seed, 99)), threads: 64}
	for i := 0; i < g.threads; i++ {
		g.clock = append(g.clock, make([]int, g.threads))
		g.now = append(g.now, 0)
		g.copies = append(g.copies, nil)
	}
	g.line("mov.b32 %%r40, smem; mad.lo.s32 %%r41, %%tid, 4, %%r40; shr.u32 %%r42, %%tid, 5; and.b32 %%r43, %%tid, 31;")
	g.line("setp.eq.b32 %%p1, %%tid, 0; mov.b32 %%r50, 64;")
	for i := 0; i < 4; i++ {
		g.line("@%%p1 mbarrier.init.shared.b64 [%%r40+%d], %d;", 8*i, []int{64, 32, 32, 8}[i])
	}
	g.barrier()
	for n := 2 + g.r.IntN(8); n > 0; n-- {
		g.step()
	}
	g.line("ret;")
	for t := range g.copies {
		for _, m := range g.copies[t] {
			m.never = true
			g.reads = append(g.reads, m)
		}
	}
	return g, g.text.String()
}

func (g *generated) line(format string, args ...any) { fmt.Fprintf(&g.text, format+"\n", args...) }

// word picks a function of the thread, and writes code that leaves its value in %r1.
func (g *generated) word() func(t int) int {
	c := g.r.IntN(64)
	switch g.r.IntN(12) {
	case 0:
		g.line("xor.b32 %%r1, %%tid, %d;", c)
		return func(t int) int { return t ^ c }
	case 1:
		g.line("add.u32 %%r1, %%tid, %d; and.b32 %%r1, %%r1, 63;", c)
		return func(t int) int { return (t + c) & 63 }
	case 2:
		g.line("shr.u32 %%r1, %%tid, 1;")
		return func(t int) int { return t / 2 }
	case 3:
		g.line("mov.b32 %%r1, %d;", c)
		return func(t int) int { return c }
	}
	g.line("mov.b32 %%r1, %%tid;")
	return func(t int) int { return t }
}

// some picks a set of threads, and writes a branch around what they alone do.
func (g *generated) some() (func(t int) bool, string) {
	g.labels++
	label := fmt.Sprintf("G%d", g.labels)
	k := g.r.IntN(64)
	switch g.r.IntN(5) {
	case 0:
		g.line("setp.ge.u32 %%p2, %%tid, %d; @%%p2 bra %s;", k, label)
		return func(t int) bool { return t < k }, label
	case 1:
		w := k & 1
		g.line("setp.ne.u32 %%p2, %%r42, %d; @%%p2 bra %s;", w, label)
		return func(t int) bool { return t/32 == w }, label
	case 2:
		g.line("and.b32 %%r2, %%tid, 1; setp.ne.u32 %%p2, %%r2, %d; @%%p2 bra %s;", k&1, label)
		return func(t int) bool { return t&1 == k&1 }, label
	}
	return func(int) bool { return true }, ""
}

func (g *generated) end(label string) {
	if label != "" {
		g.line("%s: mov.b32 %%r3, 0;", label)
	}
}

func (g *generated) step() {
	switch g.r.IntN(12) {
	case 0, 1, 2:
		g.access(false)
	case 3, 4, 5:
		g.access(true)
	case 6:
		g.barrier()
	case 7:
		g.line("bar.warp.sync -1;")
		for w := 0; w < g.threads/32; w++ {
			g.join(func(t int) bool { return t/32 == w })
		}
	case 8:
		mask := uint32(g.r.Uint64())
		if g.r.IntN(2) == 0 {
			mask = 0xffff
		}
		g.labels++
		g.line("shr.u32 %%r2, %d, %%r43; and.b32 %%r2, %%r2, 1; setp.eq.u32 %%p2, %%r2, 0; @%%p2 bra M%d; bar.warp.sync %d; M%d: mov.b32 %%r3, 0;", mask, g.labels, mask, g.labels)
		for w := 0; w < g.threads/32; w++ {
			g.join(func(t int) bool { return t/32 == w && mask>>(t%32)&1 != 0 })
		}
	case 9:
		w := g.r.IntN(2)
		g.labels++
		g.line("setp.ne.u32 %%p2, %%r42, %d; @%%p2 bra N%d; bar.sync 5, 32; N%d: mov.b32 %%r3, 0;", w, g.labels, g.labels)
		g.join(func(t int) bool { return t/32 == w })
	case 10:
		g.mbarrier()
	case 11:
		g.copy()
	}
}

func (g *generated) access(write bool) {
	in, label := g.some()
	f := g.word()
	if write {
		g.line("mul.wide.u32 %%rd12, %%r1, 4; add.s64 %%rd13, %%rd1, %%rd12; st.global.b32 [%%rd13], 1;")
	} else {
		g.line("mul.wide.u32 %%rd12, %%r1, 4; add.s64 %%rd13, %%rd0, %%rd12; ld.global.b32 %%r4, [%%rd13];")
	}
	g.end(label)
	for t := 0; t < g.threads; t++ {
		if !in(t) {
			continue
		}
		g.now[t]++
		m := moment{word: f(t), thread: t, at: g.now[t], knows: append([]int(nil), g.clock[t]...)}
		if write {
			g.writes = append(g.writes, m)
		} else {
			g.reads = append(g.reads, m)
		}
		g.clock[t][t] = g.now[t]
	}
}

func (g *generated) barrier() {
	g.line("bar.sync 0;")
	g.join(func(int) bool { return true })
}

// join makes the threads of a set know what any of them knows.
func (g *generated) join(in func(t int) bool) { g.pass(in, in) }

func (g *generated) pass(from, to func(t int) bool) {
	all := make([]int, g.threads)
	for t := range g.clock {
		if from(t) {
			for i, x := range g.clock[t] {
				all[i] = max(all[i], x)
			}
		}
	}
	for t := range g.clock {
		if to(t) {
			for i, x := range all {
				g.clock[t][i] = max(g.clock[t][i], x)
			}
		}
	}
}

// mbarrier lets some threads arrive on a fresh mbarrier, and some wait for it.
func (g *generated) mbarrier() {
	if g.bars == 4 {
		return
	}
	k := g.bars
	g.bars++
	arrive := []func(t int) bool{
		func(int) bool { return true },
		func(t int) bool { return t < 32 },
		func(t int) bool { return t&1 == 1 },
		func(t int) bool { return t >= 56 },
	}[k]
	test := []string{"setp.lt.u32 %p3, %tid, 64;", "setp.lt.u32 %p3, %tid, 32;", "and.b32 %r2, %tid, 1; setp.eq.u32 %p3, %r2, 1;", "setp.ge.u32 %p3, %tid, 56;"}[k]
	g.line("%s @%%p3 mbarrier.arrive.shared.b64 _, [%%r40+%d];", test, 8*k)
	in, label := g.some()
	g.labels++
	g.line("W%d: mbarrier.try_wait.parity.shared.b64 %%p4, [%%r40+%d], 0; @!%%p4 bra W%d;", g.labels, 8*k, g.labels)
	g.end(label)
	g.pass(arrive, in)
}

// copy starts asynchronous copies, or waits for all but a number of groups.
func (g *generated) copy() {
	if g.r.IntN(2) == 0 {
		f := g.word()
		g.line("mul.wide.u32 %%rd12, %%r1, 4; add.s64 %%rd13, %%rd0, %%rd12; cp.async.ca.shared.global [%%r41+1024], [%%rd13], 4; cp.async.commit_group; add.u32 %%r41, %%r41, 256;")
		for t := range g.copies {
			g.copies[t] = append(g.copies[t], moment{word: f(t), thread: t})
		}
		return
	}
	n := g.r.IntN(3)
	g.line("cp.async.wait_group %d;", n)
	for t := range g.copies {
		for len(g.copies[t]) > n {
			m := g.copies[t][0]
			g.copies[t] = g.copies[t][1:]
			g.now[t]++
			m.at = g.now[t]
			g.reads = append(g.reads, m)
			g.clock[t][t] = g.now[t]
		}
	}
}

// safe is the definition, read by read and write by write.
func (g *generated) safe() bool {
	for _, r := range g.reads {
		for _, w := range g.writes {
			if r.word != w.word {
				continue
			}
			if r.never || w.thread == r.thread && r.at > w.at || w.thread != r.thread && w.knows[r.thread] < r.at {
				return false
			}
		}
	}
	return true
}

func checkGenerated(t testing.TB, seed uint64) {
	g, body := generate(seed)
	e := kernel(t, 2, body)
	var first *Outcome
	for _, mode := range []Mode{Sliced, Full} {
		l := handLaunch(e, 1, uint32(g.threads), 8192, 256, 256)
		l.Mode = mode
		o, err := Run(context.Background(), l)
		require.NoError(t, err)
		require.True(t, o.Analysed, "%s\nseed %d\n%s", o.Reason, seed, body)
		require.Nil(t, o.Hang, "seed %d\n%s", seed, body)
		v := o.InPlace(0, 1, 0)
		require.Equal(t, g.safe(), v.Safety == Safe, "seed %d: %+v %+v\n%s", seed, v, v.Witness, body)
		if first == nil {
			first = o
		} else {
			sameRecord(t, first, o)
		}
	}
}

func TestGeneratedKernels(t *testing.T) {
	safe := 0
	for seed := uint64(0); seed < 250; seed++ {
		checkGenerated(t, seed)
		if g, _ := generate(seed); g.safe() && len(g.reads) > 0 && len(g.writes) > 0 {
			safe++
		}
	}
	require.Greater(t, safe, 20, "too few kernels are safe to tell anything")
}

func FuzzOrder(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkGenerated(t, seed) })
}

// FuzzRun runs whatever parses: no panic, no endless loop, bounded memory.
func FuzzRun(f *testing.F) {
	for seed := uint64(0); seed < 20; seed++ {
		_, body := generate(seed)
		f.Add([]byte(body), uint16(33), byte(2))
	}
	f.Add([]byte("L: atom.global.cas.b32 %r1, [%rd0], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L; st.global.b32 [%rd0], 0; ret;"), uint16(64), byte(1))
	f.Add([]byte("bar.sync %tid; ret;"), uint16(64), byte(1))
	f.Fuzz(func(t *testing.T, body []byte, threads uint16, blocks byte) {
		head := ".version 8.7\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 smem[];\n.entry k(.param .u64 p0, .param .u64 p1) {\n" +
			".reg .b64 %rd<100>; .reg .b32 %r<100>; .reg .pred %p<20>; .reg .f32 %f<20>; .reg .b32 %tid, %cta;\nmov.u32 %tid, %tid.x; mov.u32 %cta, %ctaid.x; ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1];\n"
		m, err := Parse("fuzz", []byte(head+string(body)+"\n}"))
		if err != nil || len(m.Entries) == 0 {
			return
		}
		l := handLaunch(m.Entries[0], 1, 1, 8192, 256, 256)
		if len(l.Entry.Params) != 2 {
			return
		}
		l.Block[0], l.Grid[0] = uint32(threads)%256+1, uint32(blocks)%8+1
		l.Budget = Budget{Steps: 200_000, Memory: 64 << 20}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		var outs []*Outcome
		for _, mode := range []Mode{Sliced, Full} {
			l.Mode = mode
			o, err := Run(ctx, l)
			if err != nil {
				t.Fatal(err)
			}
			outs = append(outs, o)
			if !o.Analysed && o.Reason == "" {
				t.Fatal("not analysed, without a reason")
			}
			o.InPlace(0, 1, 0)
			if ctx.Err() != nil {
				t.Fatal("the budget of steps did not end the run")
			}
		}
		if outs[0].Analysed && outs[1].Analysed {
			sameRecord(t, outs[0], outs[1])
		}
	})
}

package ptx

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

// benchLaunch is a whole launch: record and every check on, parsing apart.
type benchLaunch struct {
	name string
	make func() *Launch
}

// eight are the launches by which the machine's speed is told.
func eight(t testing.TB) []benchLaunch {
	g1, n := [3]uint32{1024, 1, 1}, int32(million)
	return []benchLaunch{
		{"sort", func() *Launch { return sortLaunch(t) }},
		{"reverse", func() *Launch { return launchOf(t, "reverse_apart.ptx", "", g1, 4, 0, 4*million, 4*million, n) }},
		{"scale", func() *Launch { return launchOf(t, "scale_apart.ptx", "", g1, 4, 0, 4*million, 4*million, n) }},
		{"stencil", func() *Launch { return launchOf(t, "stencil_inplace.ptx", "", g1, 4, 0, 4*million, 4*million, n) }},
		{"softmax", func() *Launch { return softmaxLaunch(t, 4096) }},
		{"transpose", func() *Launch {
			return launchOf(t, "transpose_apart.ptx", "", [3]uint32{16, 16, 1}, 4, 16384, 16<<20, 16<<20)
		}},
		{"matmul", func() *Launch {
			return launchOf(t, "matmul_apart.ptx", "", [3]uint32{8, 8, 1}, 8, 49152, 2*million, 2*million, 2*million)
		}},
		{"norm", func() *Launch { return launchOf(t, "norm_inplace.ptx", "", g1, 4, 16, 4*million, 4*million) }},
	}
}

func softmaxLaunch(t testing.TB, rows int) *Launch {
	return launchOf(t, "softmax_inplace.ptx", "", [3]uint32{uint32(rows), 1, 1}, 4, 16, 4096*rows, 4096*rows)
}

func benchLaunches(t testing.TB) []benchLaunch {
	return append(eight(t),
		benchLaunch{"axpby", func() *Launch {
			return launchOf(t, "axpby_inplace.ptx", "", [3]uint32{1024, 1, 1}, 4, 0, 4*million, 4*million, 4*million, int32(million))
		}},
		benchLaunch{"gather", func() *Launch { return gatherLaunch(t) }})
}

func BenchmarkRun(b *testing.B) {
	for _, x := range benchLaunches(b) {
		b.Run(x.name, func(b *testing.B) { measure(b, x.make(), Sliced, 1) })
	}
}

func BenchmarkFull(b *testing.B) {
	for _, x := range benchLaunches(b) {
		b.Run(x.name, func(b *testing.B) { measure(b, x.make(), Full, 1) })
	}
}

// BenchmarkEight gives the geometric mean of the eight launches on one core,
// and the slowest of them.
func BenchmarkEight(b *testing.B) {
	launches := eight(b)
	instructions, spent := make([]float64, len(launches)), make([]float64, len(launches))
	made := make([]*Launch, len(launches))
	for i, x := range launches {
		made[i] = x.make()
		made[i].Workers = 1
	}
	for b.Loop() {
		for i, l := range made {
			runtime.GC()
			start := time.Now()
			o, err := Run(context.Background(), l)
			spent[i] += time.Since(start).Seconds()
			if err != nil || !o.Analysed {
				b.Fatal(err, o.Reason)
			}
			instructions[i] += float64(o.Stats.Instructions)
		}
	}
	sum, least := 0.0, math.Inf(1)
	for i := range launches {
		rate := instructions[i] / spent[i] / 1e6
		sum += math.Log(rate)
		least = min(least, rate)
	}
	b.ReportMetric(math.Exp(sum/float64(len(launches))), "geomean-Minstr/s")
	b.ReportMetric(least, "least-Minstr/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkWorkers runs the launches that take longest by one worker and by two.
func BenchmarkWorkers(b *testing.B) {
	long := []benchLaunch{
		{"sort", func() *Launch { return sortLaunch(b) }},
		{"gather", func() *Launch { return gatherLaunch(b) }},
		{"gather of 4 million", func() *Launch { return gatherOf(b, 4*million) }},
		{"softmax", func() *Launch { return softmaxLaunch(b, 32768) }},
		{"matmul", func() *Launch {
			return launchOf(b, "matmul_apart.ptx", "", [3]uint32{8, 8, 1}, 8, 49152, 2*million, 2*million, 2*million)
		}},
	}
	for _, x := range long {
		for _, n := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", x.name, n), func(b *testing.B) { measure(b, x.make(), Sliced, n) })
		}
	}
}

func measure(b *testing.B, l *Launch, mode Mode, workers int) {
	l.Mode, l.Workers = mode, workers
	b.ReportAllocs()
	var o *Outcome
	before := cpuTime()
	for b.Loop() {
		var err error
		if o, err = Run(context.Background(), l); err != nil || !o.Analysed {
			b.Fatal(err, o.Reason)
		}
	}
	cpu := (cpuTime() - before).Seconds() / float64(b.N)
	per := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(float64(o.Stats.Instructions)/cpu/1e6, "Minstr/cpu-s")
	b.ReportMetric(cpu*1e3, "cpu-ms")
	b.ReportMetric(float64(o.Stats.Instructions)/per/1e6, "Minstr/s")
	b.ReportMetric(per*1e3, "ms/launch")
	b.ReportMetric(float64(o.Stats.ShadowBytes)/1e6, "shadowMB")
	b.ReportMetric(float64(touched(o))/1e6, "touchedMB")
	b.ReportMetric(0, "ns/op")
}

// touched counts the bytes that a launch reads or writes.
func touched(o *Outcome) int64 {
	n := int64(0)
	for i := range o.Effects {
		e := &o.Effects[i]
		for _, r := range union(union(e.Read, e.Written), e.Atomic) {
			n += r.End - r.Start
		}
	}
	return n
}

// cpuTime is the time that this process has computed, which a busy machine does not stretch.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkInPlace judges every pair of a launch that is safe: every line is looked at.
func BenchmarkInPlace(b *testing.B) {
	for _, name := range []string{"softmax", "scale", "matmul", "transpose"} {
		b.Run(name, func(b *testing.B) {
			all := benchLaunches(b)
			l := all[slices.IndexFunc(all, func(x benchLaunch) bool { return x.name == name })].make()
			o := analysed(b, l)
			for b.Loop() {
				for i := range l.Buffers {
					o.InPlace(i, len(l.Buffers)-1, 0)
				}
			}
		})
	}
}

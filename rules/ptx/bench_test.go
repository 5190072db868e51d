package ptx

import (
	"context"
	"syscall"
	"testing"
	"time"
)

// benchmarkLaunches are whole launches: record and every check on, parsing apart.
func benchmarkLaunches(t testing.TB) map[string]func() *Launch {
	g1 := [3]uint32{1024, 1, 1}
	n := int32(million)
	return map[string]func() *Launch{
		"sort":    func() *Launch { return sortLaunch(t) },
		"reverse": func() *Launch { return launchOf(t, "reverse_apart.ptx", "", g1, 4, 0, 4*million, 4*million, n) },
		"scale":   func() *Launch { return launchOf(t, "scale_apart.ptx", "", g1, 4, 0, 4*million, 4*million, n) },
		"stencil": func() *Launch { return launchOf(t, "stencil_inplace.ptx", "", g1, 4, 0, 4*million, 4*million, n) },
		"softmax": func() *Launch {
			return launchOf(t, "softmax_inplace.ptx", "", [3]uint32{4096, 1, 1}, 4, 16, 16<<20, 16<<20)
		},
		"transpose": func() *Launch {
			return launchOf(t, "transpose_apart.ptx", "", [3]uint32{16, 16, 1}, 4, 16384, 16<<20, 16<<20)
		},
		"matmul": func() *Launch {
			return launchOf(t, "matmul_apart.ptx", "", [3]uint32{8, 8, 1}, 8, 49152, 2*million, 2*million, 2*million)
		},
		"axpby": func() *Launch {
			return launchOf(t, "axpby_inplace.ptx", "", g1, 4, 0, 4*million, 4*million, 4*million, n)
		},
	}
}

func BenchmarkRun(b *testing.B) {
	for _, mode := range []Mode{Sliced, Full} {
		for name, make := range benchmarkLaunches(b) {
			label := name
			if mode == Full {
				label += "-full"
			}
			b.Run(label, func(b *testing.B) { measure(b, make(), mode, 1) })
		}
	}
}

func BenchmarkGather(b *testing.B) { measure(b, gatherLaunch(b), Sliced, 1) }

func BenchmarkWorkers(b *testing.B) {
	for _, n := range []int{1, 2} {
		b.Run("sort/"+string(rune('0'+n)), func(b *testing.B) { measure(b, sortLaunch(b), Sliced, n) })
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
	b.ReportMetric(0, "ns/op")
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
			l := benchmarkLaunches(b)[name]()
			o := analysed(b, l)
			for b.Loop() {
				for i := range l.Buffers {
					o.InPlace(i, len(l.Buffers)-1, 0)
				}
			}
		})
	}
}

package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkPoll looks at a directory of 5,000 modules, all audited and all kept, in
// which XLA has just written another file: what every look costs late in a big suite.
func BenchmarkPoll(b *testing.B) {
	root := b.TempDir()
	if err := os.Mkdir(filepath.Join(root, "p"), 0o755); err != nil {
		b.Fatal(err)
	}
	for n := range 5000 {
		for _, stage := range []string{"before_optimizations.hlo.pb", "cpu_after_optimizations.hlo.pb", "debug_options",
			"kernel.ir-no-opt.ll", "kernel.ir-with-opt.ll", "obj-file.kernel.o"} {
			name := filepath.Join(root, "p", fmt.Sprintf("module_%04d.jit_f.%s", n, stage))
			if err := os.WriteFile(name, []byte("end"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	a := newFakeAuditor()
	w := newWatcher(root, a, KeepAll)
	for range 3 {
		w.poll(context.Background())
	}
	if len(a.order) != 5000 {
		b.Fatalf("%d modules audited", len(a.order))
	}
	for b.Loop() {
		w.poll(context.Background())
	}
}

package jax

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/sources"
	"aliascheck/rules/emulate"
	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGPUTraceAgrees holds the PTX machine to the card: for every kernel of testdata
// that both can run, the bytes that a trace sees read and written are the machine's.
func TestGPUTraceAgrees(t *testing.T) {
	if os.Getenv("ALIASCHECK_GPU") == "" {
		t.Skip("ALIASCHECK_GPU is not set: this test needs a card, and Python with JAX")
	}
	card := NewEngine(Options{
		Trace: true, Library: os.Getenv("ALIASCHECK_SANITIZER"), Silence: time.Minute, Dir: t.TempDir(),
	}, EngineOptions{All: true})
	defer func() { require.NoError(t, card.Close()) }()
	machine := emulate.New(emulate.Options{NoReplay: true, Time: time.Minute})
	compared, left := 0, map[string]int{}
	root := filepath.Join("..", "..", "testdata")
	for _, folder := range []string{"dumps", "more", "pallas"} {
		reader := hlo.NewReader(hlo.Limits{})
		for src, err := range hlo.Find([]string{filepath.Join(root, folder)}, hlo.Limits{}) {
			if err != nil {
				continue
			}
			m, err := reader.Read(src)
			if err != nil {
				continue
			}
			var analyzer alias.Analyzer
			for _, c := range analyzer.Calls(m) {
				d := kernel.NewSet(sources.All(), kernel.Options{}).For(c.Target)
				if d == nil {
					continue
				}
				name := m.Name + " " + m.Instructions[c.Instruction].Name
				k, err := d.Decode(c.Request())
				if err != nil || len(k.Configurations) != 1 {
					left["several configurations, or none"]++
					continue
				}
				if reason := compare(t, name, machine, card, &c, k); reason == "" {
					compared++
				} else {
					left[reason]++
					t.Logf("%s: not compared: %s", name, reason)
				}
			}
		}
	}
	t.Logf("%d calls compared; not compared: %v", compared, left)
	assert.Greater(t, compared, 20)
}

// compare runs one call both ways, from the same contents; a reason says why it could not.
func compare(t *testing.T, name string, machine, card replay.Engine, c *alias.Call, k *kernel.Call) string {
	ctx := context.Background()
	plan, err := replay.New(ctx, c, k, replay.OperandSource{})
	if err != nil {
		return err.Error()
	}
	k2 := &replay.Case{Call: c, Kernel: k, Plan: plan}
	machine.Analyse(ctx, k2)
	if k2.Reason != "" || k2.Analysis == nil {
		return "the machine: " + k2.Reason
	}
	run := k2.Analysis.Runs[0]
	if run.Hang != nil || len(run.Strays) > 0 {
		return "a kernel that hangs or leaves its buffers"
	}
	start, inputs, reason := plan.Start(k2.Analysis, 0)
	if reason != "" {
		return reason
	}
	for n := range start {
		plan.Buffers[n].SetFound(start[n], plan.Buffers[n].Recipe)
	}
	_ = inputs
	card.Analyse(ctx, k2)
	a, ok := k2.Kept(card).(*asked)
	switch {
	case !ok || a.out == nil:
		return "the card: " + k2.Reason
	case a.out.Fault != nil:
		return "the card: " + a.out.Fault.words()
	case a.out.Modes.Trace == nil:
		return "not traced"
	case a.out.Modes.Trace.Reason != "":
		return "not traced: " + a.out.Modes.Trace.Reason
	case slices.Contains(a.out.Modes.Trace.Features, "a tensor map that nobody saw encoded"):
		return "a tensor map that the kernel makes itself"
	case slices.Contains(a.out.Modes.Trace.Features, "asynchronous copies") && slices.ContainsFunc(a.out.Modes.Trace.Pairs, func(p TracedPair) bool {
		return p.Reason == "a tensor map of the result was encoded, and the library does not report tensor stores on this card"
	}):
		return "tensor stores, which the library does not report"
	}
	for n, b := range a.out.Modes.Trace.Buffers {
		if b.ReadBytes == nil || b.WrittenBytes == nil {
			return "too many intervals"
		}
		e := &run.Buffers[n]
		assert.Equal(t, rounded(joined(e.Read, e.Atomic), b.Granule), b.ReadBytes, "%s: bytes read of %s", name, plan.Name(n))
		assert.Equal(t, rounded(joined(e.Written, e.Atomic), b.Granule), b.WrittenBytes, "%s: bytes written of %s", name, plan.Name(n))
	}
	return ""
}

func joined(a, b []ptx.Range) []ptx.Range { return append(slices.Clone(a), b...) }

// rounded are the whole granules that ranges touch, ascending and joined.
func rounded(list []ptx.Range, granule int64) [][2]int64 {
	out := [][2]int64{}
	slices.SortFunc(list, func(a, b ptx.Range) int { return int(a.Start - b.Start) })
	for _, r := range list {
		from, to := r.Start/granule*granule, (r.End+granule-1)/granule*granule
		if n := len(out); n > 0 && from <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], to)
			continue
		}
		out = append(out, [2]int64{from, to})
	}
	return out
}

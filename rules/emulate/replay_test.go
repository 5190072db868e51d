package emulate

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"aliascheck/alias"
	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// elementwise is a machine whose kernels compute result[i] = value(operand, i) for
// 4-byte elements, block after block of 1024 in the launch's order.
func elementwise(value func(operand []byte, i int) uint32) func(context.Context, *ptx.Launch) (*ptx.Outcome, error) {
	return func(_ context.Context, l *ptx.Launch) (*ptx.Outcome, error) {
		out := &ptx.Outcome{Analysed: true, Complete: true, Effects: make([]ptx.Effects, len(l.Buffers))}
		for n := range l.Buffers {
			data := bytes.Clone(l.Buffers[n].Contents)
			if data == nil {
				data = make([]byte, l.Buffers[n].Size)
			}
			out.Contents = append(out.Contents, ptx.Final{Bytes: data})
		}
		from, to := l.Args[0], l.Args[len(pointers(l))-1]
		operand := out.Contents[from.Buffer].Bytes[from.Offset:]
		result := out.Contents[to.Buffer].Bytes[to.Offset:]
		size := int(min(int64(len(operand)), int64(len(result)))) / 4
		operand = operand[:size*4]
		var blocks []int
		for b := 0; b < size; b += 1024 {
			blocks = append(blocks, b)
		}
		if l.Order == ptx.Backward {
			slices.Reverse(blocks)
		}
		for _, b := range blocks {
			end := min(b+1024, size)
			values := make([]uint32, 0, 1024)
			for i := b; i < end; i++ {
				values = append(values, value(operand, i))
			}
			for i := b; i < end; i++ {
				binary.LittleEndian.PutUint32(result[i*4:], values[i-b])
			}
		}
		out.Effects[from.Buffer].Read = []ptx.Range{{Start: from.Offset, End: from.Offset + int64(size*4)}}
		out.Effects[to.Buffer].Written = []ptx.Range{{Start: to.Offset, End: to.Offset + int64(size*4)}}
		return out, nil
	}
}

func pointers(l *ptx.Launch) (list []ptx.Arg) {
	for _, a := range l.Args {
		if a.Buffer >= 0 {
			list = append(list, a)
		}
	}
	return list
}

func at(data []byte, i int) uint32 { return binary.LittleEndian.Uint32(data[i*4:]) }

// emulated analyses and replays the one call of a dump on a played machine.
func emulated(t *testing.T, dump string, value func([]byte, int) uint32, again func(k *Engine, p kernelPlan, a *replay.Analysis) (*replay.Emulation, error)) *replay.Emulation {
	t.Helper()
	k := New(Options{})
	k.run = elementwise(value)
	var out *replay.Emulation
	dumpedPlans(t, func(name string, _ *alias.Call, p kernelPlan) {
		if name != dump {
			return
		}
		p.Pairs = nil // a played run has no record to judge them by
		a, err := k.analyse(context.Background(), p)
		require.NoError(t, err)
		out, err = again(k, p, a)
		require.NoError(t, err)
	})
	require.NotNil(t, out)
	return out
}

func pairReplay(k *Engine, p kernelPlan, a *replay.Analysis) (*replay.Emulation, error) {
	return k.emulate(context.Background(), p, a, 0)
}

// TestReplayOfAReversal: run forward in place, the second half reads what the first
// half wrote; every block but the middle ones goes wrong once.
func TestReplayOfAReversal(t *testing.T) {
	reverse := func(operand []byte, i int) uint32 { return at(operand, len(operand)/4-1-i) }
	e := emulated(t, "reverse_inplace", reverse, pairReplay)
	require.Empty(t, e.Reason)
	require.Len(t, e.Runs, 3)
	for n, want := range []string{"forward", "backward", "shuffled"} {
		run := e.Runs[n]
		assert.Equal(t, want, run.Order)
		require.Len(t, run.Differing, 1)
		assert.Equal(t, int64(1<<20), run.Differing[0].Of)
		assert.Equal(t, []int{}, run.Differing[0].ResultIndex)
		assert.InDelta(t, 1<<19, run.Differing[0].Elements, 8, want) // random values are seldom equal
	}
	assert.InDelta(t, 1<<19, e.Runs[0].Differing[0].First, 8)
	assert.Less(t, e.Runs[1].Differing[0].First, int64(8))
}

func TestReplayOfAScale(t *testing.T) {
	e := emulated(t, "scale_inplace", func(operand []byte, i int) uint32 { return at(operand, i) * 3 }, pairReplay)
	require.Len(t, e.Runs, 3)
	assert.False(t, e.Differs())
}

// TestReplayOfTrials: what is not restored is scaled again by every trial.
func TestReplayOfTrials(t *testing.T) {
	scale := func(operand []byte, i int) uint32 { return at(operand, i) * 3 }
	trials := func(k *Engine, p kernelPlan, a *replay.Analysis) (*replay.Emulation, error) {
		return k.trials(context.Background(), p, a, p.Saved)
	}
	e := emulated(t, "scale_inplace_auto_untold", scale, trials)
	require.Len(t, e.Runs, 1)
	assert.Equal(t, "autotuner trials", e.Runs[0].Order)
	assert.Greater(t, e.Runs[0].Differing[0].Elements, int64(1<<20-16))
	e = emulated(t, "scale_inplace_auto_told", scale, trials)
	assert.False(t, e.Differs(), "a saved buffer is put back")
}

// TestReplayOverAParameter: the trials' output stands in the donated parameter.
func TestReplayOverAParameter(t *testing.T) {
	e := emulated(t, "sort_donated_ffi_auto", func(operand []byte, i int) uint32 { return at(operand, i) },
		func(k *Engine, p kernelPlan, a *replay.Analysis) (*replay.Emulation, error) {
			return k.overwritten(context.Background(), p, a, p.Operands)
		})
	require.Len(t, e.Runs, 1)
	assert.Equal(t, int64(4096*1024), e.Runs[0].Differing[0].Of)
	assert.Greater(t, e.Runs[0].Differing[0].Elements, int64(4000*1024))
}

// TestCompareLeavesOutWhatNobodyWrote: apart such bytes hold what nobody knows.
func TestCompareLeavesOutWhatNobodyWrote(t *testing.T) {
	p := kernelPlan{&replay.Plan{Operands: 0, Buffers: []replay.Buffer{{Index: []int{1}, Element: element(t, "s32"), Size: 16, Claimant: -1}}}}
	x := finalBytes{data: []byte{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4}}
	y := finalBytes{data: []byte{9, 1, 1, 1, 2, 2, 2, 9, 3, 3, 9, 3, 9, 9, 9, 9}}
	d, known := p.compare(0, ptx.Effects{Written: []ptx.Range{{Start: 0, End: 12}}}, x, y)
	assert.True(t, known)
	want := make([]int64, 64)
	want[0], want[16], want[32] = 1, 1, 1
	assert.Equal(t, replay.Differ{ResultIndex: []int{1}, Elements: 3, Of: 4, First: 0, Map: want}, d)
	y.opaque, y.shift = []ptx.Range{{Start: 100, End: 108}}, 100
	d, _ = p.compare(0, ptx.Effects{Written: []ptx.Range{{Start: 0, End: 12}}}, x, y)
	want[0], want[16] = 0, 0
	assert.Equal(t, replay.Differ{ResultIndex: []int{1}, Elements: 1, Of: 4, First: 2, Map: want}, d)
	_, known = p.compare(0, ptx.Effects{}, x, y)
	assert.False(t, known, "nothing was written")
	p.Buffers[0].Claimant = 0
	d, _ = p.compare(0, ptx.Effects{}, x, y)
	assert.Equal(t, int64(2), d.Elements, "a claimed result holds its operand's bytes")
}

package emulate

import (
	"bytes"
	"context"

	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"
)

// trials runs the autotuner's trials on the machine, then the call itself, and
// counts the elements that differ from the call without trials. Trials run on the
// memory of the assignment: each configuration twice (a warm-up, and the one that
// is timed), then each again, more often the faster it is; once is enough to show.
// Saved buffers are put back (jaxlib/gpu/triton_kernels.cc).
func (k *Engine) trials(ctx context.Context, p kernelPlan, a *replay.Analysis, saved []int) (*replay.Emulation, error) {
	configs, start, reason := p.prepareAll(a)
	if reason != "" {
		return &replay.Emulation{Reason: reason}, nil
	}
	before := p.shared(start)
	plain, err := k.full(ctx, configs[0], before, ptx.Forward)
	if err != nil || !plain.Analysed {
		return notRun(plain, err), ctx.Err()
	}
	tried, reason, err := k.trialRuns(ctx, configs, before, p.rounds(a))
	if reason != "" || err != nil {
		return &replay.Emulation{Reason: reason}, err
	}
	for _, n := range saved {
		p.restore(tried, before, n)
	}
	after, err := k.full(ctx, configs[0], tried, ptx.Forward)
	if err != nil || !after.Analysed {
		return notRun(after, err), ctx.Err()
	}
	run := replay.Run{Order: "autotuner trials", Differing: []replay.Differ{}}
	known := false
	for b := p.Operands; b < len(p.Buffers); b++ {
		if p.Buffers[b].Size == 0 {
			continue
		}
		d, some := p.compare(b, a.Runs[0].Buffers[b], p.final(plain, before.at[b], b), p.final(after, tried.at[b], b))
		known = known || some
		run.Differing = append(run.Differing, d)
	}
	if !known {
		return &replay.Emulation{Reason: "the machine does not compute the values of the results"}, nil
	}
	return &replay.Emulation{Runs: []replay.Run{run}}, nil
}

// rounds says how often each configuration runs, round by round. A kernel that
// reads nothing of what it writes leaves the same behind however often it runs.
func (p kernelPlan) rounds(a *replay.Analysis) []int {
	read, written := map[int]bool{}, map[int]bool{}
	for _, r := range a.Runs {
		for n, e := range r.Buffers {
			group := p.Buffers[n].Place.Group
			read[group] = read[group] || len(e.Read) > 0 || len(e.Atomic) > 0
			written[group] = written[group] || len(e.Written) > 0 || len(e.Atomic) > 0
		}
	}
	for group := range written {
		if read[group] && written[group] {
			return []int{2, 1}
		}
	}
	return []int{1}
}

// trialRuns gives the memory as the trials leave it, or why that is not known.
func (k *Engine) trialRuns(ctx context.Context, configs []*configuration, before memory, rounds []int) (memory, string, error) {
	state := memory{at: before.at, buffers: append([]ptx.Buffer(nil), before.buffers...)}
	for _, times := range rounds {
		for _, config := range configs {
			for range times {
				out, err := k.full(ctx, config, state, ptx.Forward)
				if err != nil || !out.Analysed {
					return state, notRun(out, err).Reason, ctx.Err()
				}
				if len(out.OutOfBounds) > 0 {
					return state, "a trial leaves its buffers", nil
				}
				for n := range state.buffers {
					if len(out.Contents[n].Opaque) > 0 {
						return state, "the machine does not compute the values of the results", nil
					}
					state.buffers[n].Contents = out.Contents[n].Bytes
				}
			}
		}
	}
	return state, "", nil
}

// prepareAll parses every configuration. The contents are those of the first.
func (p kernelPlan) prepareAll(a *replay.Analysis) (configs []*configuration, start [][]byte, reason string) {
	for n := range a.Runs {
		config, contents, reason := p.prepare(a, n)
		if reason != "" {
			return nil, nil, reason
		}
		if configs = append(configs, config); start == nil {
			start = contents
		}
	}
	return configs, start, ""
}

// restore puts operand n's bytes back.
func (p kernelPlan) restore(to, from memory, n int) {
	at, size := to.at[n], p.Buffers[n].Size
	data := bytes.Clone(to.buffers[at.Group].Contents)
	copy(data[at.Offset:at.Offset+size], from.buffers[at.Group].Contents[at.Offset:at.Offset+size])
	to.buffers[at.Group].Contents = data
}

// overwritten runs the trials of a call that is autotuned before the program, with
// result buffer n lying over a parameter, and counts the parameter's elements that
// they change. Operands that the program has yet to compute hold garbage.
func (k *Engine) overwritten(ctx context.Context, p kernelPlan, a *replay.Analysis, n int) (*replay.Emulation, error) {
	configs, start, reason := p.prepareAll(a)
	if reason != "" {
		return &replay.Emulation{Reason: reason}, nil
	}
	before := p.shared(start)
	at, b := before.at[n], &p.Buffers[n]
	parameter := replay.Contents(replay.Recipe{Kind: replay.RandomInput, Seed: uint64(n) + 1}, b.Element, b.Count())
	memory := bytes.Clone(before.buffers[at.Group].Contents)
	copy(memory[at.Offset:], parameter)
	before.buffers[at.Group].Contents = memory
	tried, reason, err := k.trialRuns(ctx, configs, before, p.rounds(a))
	if reason != "" || err != nil {
		return &replay.Emulation{Reason: reason}, err
	}
	x := finalBytes{data: memory[at.Offset : at.Offset+b.Size]}
	y := finalBytes{data: tried.buffers[at.Group].Contents[at.Offset : at.Offset+b.Size]}
	d, _ := p.compare(n, ptx.Effects{Written: []ptx.Range{{Start: 0, End: b.Size}}}, x, y)
	return &replay.Emulation{Runs: []replay.Run{{Order: "autotuner trials", Differing: []replay.Differ{d}}}}, nil
}

package ptx

import (
	"context"
	"fmt"
	"math/rand/v2"

	"aliascheck/rules/ptx/syntax"
)

// Limits of a launch.
const (
	maxBuffers = 1 << 16
	maxBuffer  = 1 << 40 // bytes
	maxThreads = 1024    // of a block
	maxCluster = 16      // blocks
)

// Run runs a launch. The error is for a malformed Launch (a buffer index out of
// range, no entry); whatever the kernel does is told by the Outcome.
func Run(ctx context.Context, l *Launch) (*Outcome, error) {
	if l.Entry == nil || l.Entry.Function == nil {
		return nil, fmt.Errorf("the launch has no entry")
	}
	p, err := compile(l.Entry)
	if err != nil {
		return notAnalysed(err), nil
	}
	mode, alone, plain := l.Mode, false, false
	for {
		s, err := newLaunch(ctx, l, p)
		if err != nil {
			return nil, fmt.Errorf("launch of %s: %w", syntax.Clip(l.Entry.Name), err)
		}
		s.alone, s.plain = alone, plain
		s.slice = p.slice(mode == Full, p.provenance(l))
		s.runAll()
		if s.needsFull.Load() && mode != Full {
			mode = Full
			continue
		}
		if s.order.at != nil && !plain && !s.stopped.Load() && !s.orderCounts() {
			plain = true // nobody writes what was waited for: it is memory like any other
			continue
		}
		if s.depends() {
			alone = true
			continue
		}
		return s.outcome(), nil
	}
}

// depends says that what the launch tells may depend on which of several workers was
// faster: where they end before their clusters do, on the cluster that comes first. One
// worker alone then tells what is always told.
func (s *launchState) depends() bool {
	return s.helped && s.ctx.Err() == nil && (s.hung.Load() || s.crowded.Load() || s.reasonIn != nil)
}

func notAnalysed(err error) *Outcome {
	o := &Outcome{Reason: err.Error()}
	if u, ok := err.(*unsupported); ok {
		o.Line = u.at.PTXLine
	}
	return o
}

// newLaunch checks a launch and lays out its memory.
func newLaunch(ctx context.Context, l *Launch, p *program) (*launchState, error) {
	s := &launchState{l: l, p: p, ctx: ctx, grid: l.Grid, block: l.Block, cluster: l.Cluster,
		strays: map[strayKey]*Stray{}, late: map[lateKey]*LateCopy{}, descriptors: map[string]*Descriptor{}, seenBy: map[sight]bool{}, sides: map[sideKey]uint64{}}
	if err := s.dimensions(); err != nil {
		return nil, err
	}
	if len(l.Args) != len(l.Entry.Params) {
		return nil, fmt.Errorf("%d arguments for %d parameters", len(l.Args), len(l.Entry.Params))
	}
	if len(l.Buffers) > maxBuffers {
		return nil, fmt.Errorf("%d buffers are too many", len(l.Buffers))
	}
	for i, b := range l.Buffers {
		if b.Size < 0 || b.Size > maxBuffer || b.Contents != nil && int64(len(b.Contents)) != b.Size {
			return nil, fmt.Errorf("buffer %d: bad size %d, contents of %d", i, b.Size, len(b.Contents))
		}
	}
	s.layout()
	for i, a := range l.Args {
		for _, h := range a.Tensors {
			if h.Map == nil || a.Buffer >= 0 || h.Buffer < 0 || h.Buffer >= len(l.Buffers) || h.Offset < 0 || h.Offset > l.Buffers[h.Buffer].Size {
				return nil, fmt.Errorf("argument %d: a tensor map of buffer %d, offset %d", i, h.Buffer, h.Offset)
			}
		}
		if a.Buffer < 0 {
			continue
		}
		if a.Buffer >= len(l.Buffers) || a.Offset < 0 || a.Offset > l.Buffers[a.Buffer].Size ||
			a.Zero < 0 || a.Zero > l.Buffers[a.Buffer].Size-a.Offset {
			return nil, fmt.Errorf("argument %d: buffer %d, offset %d, %d bytes to zero", i, a.Buffer, a.Offset, a.Zero)
		}
		if a.Zero > 0 {
			s.bufs[a.Buffer].zero = append(s.bufs[a.Buffer].zero, Range{a.Offset, a.Offset + a.Zero})
		}
	}
	s.events, s.leaves = newArena[stored](eventBytes, s.memory), newArena[leaf](leafBytes, s.memory)
	s.entries, s.ownerLines = newArena[entry](entryBytes, s.memory), newArena[ownerLine](ownerLineBytes, s.memory)
	s.eventPairs = newArena[eventPair](eventPairBytes, s.memory)
	s.solos, s.contexts = newArena[uint32](soloBytes, s.memory), newArena[*circumstances](8, s.memory)
	return s, nil
}

func (s *launchState) dimensions() error {
	e := s.l.Entry
	if max(s.cluster[0], s.cluster[1], s.cluster[2]) <= 1 {
		s.cluster = e.ReqCluster
	}
	for i := range s.grid {
		s.grid[i] = max(s.grid[i], 1)
		if s.block[i] == 0 {
			s.block[i] = max(e.ReqThreads[i], 1)
		}
		s.cluster[i] = max(s.cluster[i], 1)
		if s.grid[i]%s.cluster[i] != 0 {
			return fmt.Errorf("a grid of %d blocks is no whole number of clusters of %d", s.grid[i], s.cluster[i])
		}
	}
	n := uint64(s.block[0]) * uint64(s.block[1]) * uint64(s.block[2])
	c := uint64(s.cluster[0]) * uint64(s.cluster[1]) * uint64(s.cluster[2])
	if s.block[0] > maxThreads || s.block[1] > maxThreads || s.block[2] > maxThreads || n > maxThreads {
		return fmt.Errorf("a block of %v threads", s.block)
	}
	if s.cluster[0] > maxCluster || s.cluster[1] > maxCluster || s.cluster[2] > maxCluster || c > maxCluster {
		return fmt.Errorf("a cluster of %v blocks", s.cluster)
	}
	s.threads = int(n)
	s.shared = s.p.shared + int64(s.l.DynamicShared)
	if s.shared > maxShared {
		return fmt.Errorf("%d bytes of shared memory", s.shared)
	}
	return nil
}

// layout gives buffers their addresses. Gaps between them are as large as they are.
func (s *launchState) layout() {
	for i := range s.l.Buffers {
		b := &s.l.Buffers[i]
		g := &gbuf{index: i, base: bufferBase + uint64(i)*bufferGap, size: b.Size, contents: b.Contents, scratch: b.Scratch, silent: s.l.Unrecorded}
		g.bufferShadow = newBufferShadow(b.Size)
		s.bufs = append(s.bufs, g)
	}
	end := int64(0)
	for _, v := range s.p.globals {
		end = max(end, v.offset+v.size)
	}
	if end > 0 {
		s.memory(end)
		if s.stopped.Load() {
			return
		}
		data := make([]byte, end)
		for _, v := range s.p.globals {
			copy(data[v.offset:v.offset+v.size], v.init)
		}
		s.own = &gbuf{index: len(s.bufs), base: moduleBase, size: end, contents: data, private: true, silent: true}
	}
}

// param reads bytes of a parameter.
func (s *launchState) param(i int, off int64, size int) (uint64, taint) {
	a := s.l.Args[i]
	var b [8]byte
	if a.Buffer >= 0 {
		putLittle(b[:], s.bufs[a.Buffer].base+uint64(a.Offset), 8)
		if off >= 8 {
			return 0, 0
		}
		return little(append(b[:], make([]byte, 8)...), off, size), 0
	}
	v := uint64(0)
	for k := 0; k < size; k++ {
		if n := off + int64(k); n < int64(len(a.Bytes)) {
			v |= uint64(a.Bytes[n]) << (8 * k)
		}
	}
	return v, 0
}

// runAll runs every cluster of the grid, or a sample.
func (s *launchState) runAll() {
	per := uint64(s.cluster[0]) * uint64(s.cluster[1]) * uint64(s.cluster[2])
	total := uint64(s.grid[0]) * uint64(s.grid[1]) * uint64(s.grid[2])
	if uint64(s.grid[0])*uint64(s.grid[1]) > 1<<62/uint64(s.grid[2]) || total/per > 1<<32-2 {
		s.stop("the grid of %v blocks is too large", s.grid)
		return
	}
	n := total / per
	if s.stopped.Load() {
		return
	}
	pick := func(i uint64) uint32 { return uint32(i) }
	count := n
	if k := uint64(max(s.l.SampleBlocks, 0)); k > 0 && k/per < n {
		count = max(k/per, 1)
		pick = func(i uint64) uint32 { return uint32(i * n / count) }
		s.sampled = true
	}
	inner := pick
	switch s.l.Order {
	case Backward:
		pick = func(i uint64) uint32 { return inner(count - 1 - i) }
	case Shuffled:
		if count > 1<<26 {
			s.stop("a grid of %d blocks is too large to be shuffled", count)
			return
		}
		perm := rand.New(rand.NewPCG(s.l.Seed, 0x6b65726e656c)).Perm(int(count))
		pick = func(i uint64) uint32 { return inner(uint64(perm[i])) }
	}
	s.runWorkers(count, pick)
}

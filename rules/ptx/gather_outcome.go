package ptx

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"sync"
)

// accessRecord is what an Outcome keeps of a run, for verdicts.
type accessRecord struct {
	s *launchState
	r recorder
}

// outcome gathers what the workers found.
func (s *launchState) outcome() *Outcome {
	o := &Outcome{Analysed: s.reason == "" && !s.stopped.Load(), Reason: s.reason, Sampled: s.sampled, Hang: s.hang}
	if s.reasonIn != nil {
		o.Line = int(s.reasonIn.At.Line)
	}
	if s.order.at != nil && s.orderCounts() {
		o.MemoryOrder = s.order.at
	}
	o.Stats = s.stats
	o.Stats.Full = s.slice.full
	o.Stats.ShadowBytes = s.shadowBytes()
	for i := range s.l.Buffers {
		if s.from&bufferTaint(i) != 0 {
			o.AddressFrom = append(o.AddressFrom, i)
		}
	}
	o.Sides, o.Steered = s.listSides(), s.steered()
	o.Complete = o.Analysed && !s.sampled && s.from == 0 && s.hang == nil && o.MemoryOrder == nil && !s.crowded.Load()
	rec := &accessRecord{s: s, r: newRecorder(&worker{launchState: s, threads: s.threads, threadBits: uint8(bits.Len(uint(s.threads - 1)))}, s)}
	o.record = rec
	reach := s.p.reachable()
	o.Effects = make([]Effects, len(s.l.Buffers))
	elsewhere := rec.elsewhere()
	var wg sync.WaitGroup
	slots := make(chan bool, max(s.l.Workers, 1)) // as many at once as there are workers
	for i := range o.Effects {
		slots <- true
		wg.Go(func() {
			o.Effects[i] = rec.effects(s.bufs[i], elsewhere[i], reach)
			<-slots
		})
	}
	wg.Wait()
	o.OutOfBounds = sortedValues(s.strays, func(a, b Stray) int { return compareAccess(a.Access, b.Access) },
		func(a, b strayKey) int { return cmp.Or(cmp.Compare(a.orig, b.orig), cmp.Compare(a.space, b.space)) })
	o.LateCopies = sortedValues(s.late, func(a, b LateCopy) int {
		return cmp.Or(compareAccess(a.Use, b.Use), compareAccess(a.Copy, b.Copy))
	}, func(a, b lateKey) int { return cmp.Or(cmp.Compare(a.copy, b.copy), cmp.Compare(a.use, b.use)) })
	o.Descriptors = sortedValues(s.descriptors, func(a, b Descriptor) int { return compareAccess(a.Access, b.Access) }, cmp.Compare[string])
	if s.slice.full && o.Analysed {
		for i := range s.l.Buffers {
			o.Contents = append(o.Contents, s.final(s.bufs[i]))
		}
	}
	return o
}

// sortedValues gives a map's values in one order: where compare sees no difference,
// since a line of a text may hold several instructions, the keys decide.
func sortedValues[K comparable, V any](m map[K]*V, compare func(a, b V) int, keys func(a, b K) int) []V {
	var out []V
	for _, k := range slices.SortedFunc(maps.Keys(m), keys) {
		out = append(out, *m[k])
	}
	slices.SortStableFunc(out, compare)
	return out
}

func compareAccess(a, b Access) int {
	switch {
	case a.PTXLine != b.PTXLine:
		return a.PTXLine - b.PTXLine
	case a.Block != b.Block:
		if before(a.Block, b.Block) {
			return -1
		}
		return 1
	}
	for i := 2; i >= 0; i-- {
		if a.Thread[i] != b.Thread[i] {
			return int(a.Thread[i]) - int(b.Thread[i])
		}
	}
	return cmp.Compare(a.Instruction, b.Instruction)
}

// orderCounts says whether the memory that the kernel waits for is written at all.
func (s *launchState) orderCounts() bool {
	for i := range s.l.Buffers {
		b := s.bufs[i]
		if s.order.from&bufferTaint(i) != 0 && (b.writes.any || b.atomics.any) {
			return true
		}
	}
	return s.order.shared
}

package ptx

import "sync"

// lot is the clusters that a worker is to run: neighbours, in their order, so
// that what workers record meets in few places.
type lot struct {
	mu        sync.Mutex
	next, end uint64
	_         [64]byte // one worker's lot is not in another's cache line
}

const (
	aloneSteps = 1 << 18 // thread-instructions that the first worker runs before it calls others
	maxBatch   = 64
)

// next takes some clusters from the front.
func (l *lot) batch() (from, to uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(max((l.end-l.next)/16, 1), maxBatch, l.end-l.next)
	from = l.next
	l.next += n
	return from, l.next
}

// give takes half of what is left from the back.
func (l *lot) give() (from, to uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := (l.end - l.next + 1) / 2
	to = l.end
	l.end -= n
	return l.end, to
}

// crew runs count clusters by as many workers as there may be. The first begins
// alone: short launches are not worth a second.
func (s *launchState) crew(count uint64, pick func(uint64) uint32) {
	workers := uint64(min(max(s.l.Workers, 1), maxWorkers))
	if s.plan.full || s.plan.keepGlobal || s.p.hasMaps {
		workers = 1
	}
	s.locked = workers > 1
	lots := make([]lot, workers)
	lots[0].end = count
	crew := []*worker{newWorker(s, true)}
	var wg sync.WaitGroup
	crew[0].work(lots, 0, pick, func() {
		left := lots[0].end - lots[0].next
		if workers == 1 || left < workers {
			return
		}
		for w := range workers {
			first := lots[0].next
			if w > 0 {
				lots[w].next, lots[w].end = first+left*w/workers, first+left*(w+1)/workers
				crew = append(crew, newWorker(s, false))
			}
		}
		lots[0].end = lots[1].next
		for w, m := range crew[1:] {
			wg.Go(func() { m.work(lots, w+1, pick, nil) })
		}
	})
	wg.Wait()
	for _, m := range crew {
		m.account()
	}
	if !s.stopped.Load() {
		s.unite(crew)
	}
}

const maxWorkers = 64

// work runs the clusters of a lot, then those that others have left. It calls
// help, once, when the launch proves to be a long one.
func (m *worker) work(lots []lot, mine int, pick func(uint64) uint32, help func()) {
	own := &lots[mine]
	for {
		for {
			from, to := own.batch()
			if from == to {
				break
			}
			for k := from; k < to; k++ {
				if m.stopped.Load() || m.hung.Load() {
					return
				}
				m.runCluster(pick(k))
			}
			if help != nil && m.instrs >= aloneSteps {
				help()
				help = nil
			}
		}
		if !m.steal(lots, mine) {
			return
		}
	}
}

// steal moves clusters of another lot into a worker's own.
func (m *worker) steal(lots []lot, mine int) bool {
	for k := 1; k < len(lots); k++ {
		if from, to := lots[(mine+k)%len(lots)].give(); from < to {
			own := &lots[mine]
			own.mu.Lock()
			own.next, own.end = from, to
			own.mu.Unlock()
			return true
		}
	}
	return false
}

// account adds up what a worker found.
func (m *worker) account() {
	m.flushSteps()
	m.launchState.from |= m.from
	m.stats.Blocks += m.blocks
	m.stats.Instructions += m.instrs
	m.stats.Executed += m.executed
	m.tagsOf = append(m.tagsOf, &m.tags)
	m.launchState.addStrays(m)
	for x := range m.seen {
		m.seenBy[x] = true
	}
}

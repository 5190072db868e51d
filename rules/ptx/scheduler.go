package ptx

import "sync"

// workQueue is a work-stealing deque: the clusters that a worker is to run: neighbours, in their order, so
// that what workers record meets in few places.
type workQueue struct {
	mu        sync.Mutex
	next, end uint64
	_         [64]byte // one worker's queue is not in another's cache line
}

const (
	aloneSteps = 1 << 18 // thread-instructions that the first worker runs before it calls others
	maxBatch   = 64
)

// next takes some clusters from the front.
func (l *workQueue) batch() (from, to uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(max((l.end-l.next)/16, 1), maxBatch, l.end-l.next)
	from = l.next
	l.next += n
	return from, l.next
}

// steal takes half of what is left from the back.
func (l *workQueue) steal() (from, to uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := (l.end - l.next + 1) / 2
	to = l.end
	l.end -= n
	return l.end, to
}

// runWorkers runs count clusters by as many workers as there may be. The first begins
// alone: short launches are not worth a second.
func (s *launchState) runWorkers(count uint64, pick func(uint64) uint32) {
	workers := uint64(min(max(s.l.Workers, 1), maxWorkers))
	if s.slice.full || s.slice.keepGlobal || s.p.hasMaps || s.alone {
		workers = 1
	}
	s.locked = workers > 1
	queues := make([]workQueue, workers)
	queues[0].end = count
	all := []*worker{newWorker(s, true)}
	var wg sync.WaitGroup
	all[0].work(queues, 0, pick, func() {
		left := queues[0].end - queues[0].next
		if workers == 1 || left < workers {
			return
		}
		s.helped = true
		for w := range workers {
			first := queues[0].next
			if w > 0 {
				queues[w].next, queues[w].end = first+left*w/workers, first+left*(w+1)/workers
				all = append(all, newWorker(s, false))
			}
		}
		queues[0].end = queues[1].next
		for w, m := range all[1:] {
			wg.Go(func() { m.work(queues, w+1, pick, nil) })
		}
	})
	wg.Wait()
	for _, m := range all {
		m.account()
	}
	if !s.stopped.Load() {
		s.unite(all)
	}
}

const maxWorkers = 64

// work runs the clusters of a queue, then those that others have left. It calls
// help, once, when the launch proves to be a long one.
func (m *worker) work(queues []workQueue, mine int, pick func(uint64) uint32, help func()) {
	own := &queues[mine]
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
		if !m.steal(queues, mine) {
			return
		}
	}
}

// steal moves clusters of another queue into a worker's own.
func (m *worker) steal(queues []workQueue, mine int) bool {
	for k := 1; k < len(queues); k++ {
		if from, to := queues[(mine+k)%len(queues)].steal(); from < to {
			own := &queues[mine]
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
	m.launchState.from |= m.found.from
	m.stats.Blocks += m.blocks
	m.stats.Instructions += m.instrs
	m.stats.Executed += m.executed
	m.tagsOf = append(m.tagsOf, &m.tags)
	m.launchState.addStrays(m)
	for x := range m.found.seen {
		m.seenBy[x] = true
	}
	m.launchState.steering.add(&m.found.steering)
	for k, way := range m.found.sides {
		m.launchState.sides[k] |= way
	}
}

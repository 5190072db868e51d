package ptx

// clockJoin makes the union of several threads' knowledge.
type clockJoin struct {
	b    *block
	out  vectorClock
	last *vectorClock
	any  bool
}

func (j *clockJoin) add(k *vectorClock) {
	if k == nil || k == j.last {
		return
	}
	j.last = k
	j.any = true
	j.out.threads = maxInto(j.out.threads, k.threads)
	j.out.phases = maxInto(j.out.phases, k.phases)
}

func maxInto(dst, src []uint32) []uint32 {
	if len(src) > len(dst) {
		grown := make([]uint32, len(src))
		copy(grown, dst)
		dst = grown
	}
	for i, x := range src {
		if x > dst[i] {
			dst[i] = x
		}
	}
	return dst
}

// release adds what a thread makes known now: all that it knows, and itself.
func (j *clockJoin) release(t int) {
	b := j.b
	j.add(b.clockOf(t))
	j.any = true
	n := b.m.threads * len(b.cl.blocks)
	if len(j.out.threads) < n {
		j.out.threads = maxInto(make([]uint32, n), j.out.threads)
	}
	base := b.rank * b.m.threads
	thr := j.out.threads
	thr[base+t] = b.cl.seq
	ws := b.warpAll
	if b.warps != nil {
		ws = b.warps[t/32]
	}
	if ws > b.epoch {
		for i := t &^ 31; i < min(t&^31+32, b.m.threads); i++ {
			thr[base+i] = max(thr[base+i], ws)
		}
	}
	if len(b.cl.blocks) > 1 {
		for i := 0; i < b.m.threads; i++ {
			thr[base+i] = max(thr[base+i], b.epoch)
		}
		if b.cl.epoch > 0 {
			for i := range thr {
				thr[i] = max(thr[i], b.cl.epoch)
			}
		}
	}
}

// releaseAll is release for a set of threads.
func (j *clockJoin) releaseAll(set *threadSet) {
	for _, t := range set.list {
		j.release(int(t))
	}
}

func (j *clockJoin) done() *vectorClock {
	if !j.any {
		return nil
	}
	k := j.out
	return &vectorClock{threads: k.threads, phases: k.phases}
}

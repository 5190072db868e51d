package ptx

import "fmt"

// effects gives a buffer's byte sets by brute force.
func (b *brute) effects(buf int) Effects {
	var e Effects
	var out [6]ranges
	zero := b.k.bufs[buf].zero
	for i := range b.k.bufs[buf].contents {
		var did [3]bool
		ds := b.deeds[touchKey{buf, -1, i}]
		first, hard := false, false
		for _, d := range ds {
			did[d.dir] = true
			if d.dir == writes {
				continue
			}
			covered, may := false, false
			for _, w := range ds {
				if w.dir == writes {
					covered = covered || b.before(w, d)
					may = may || !b.before(d, w)
				}
			}
			first = first || !covered
			hard = hard || !may
		}
		for n, yes := range []bool{did[reads], did[writes] || i < zero, did[updates], i < zero, first && i >= zero, first && !hard && i >= zero} {
			if yes {
				out[n].add(int64(i), int64(i+1))
			}
		}
	}
	e.Read, e.Written, e.Atomic, e.Zeroed, e.ReadFirst, e.Elsewhere = out[0], out[1], out[2], out[3], out[4], out[5]
	e.OldRead = len(e.ReadFirst) > 0
	return e
}

// unsafe looks for a byte of op that is read and not before it is written through res.
func (b *brute) unsafe(op, res, shift int) bool {
	for i := range b.k.bufs[res].contents {
		for _, r := range b.deeds[touchKey{op, -1, i + shift}] {
			if r.dir == writes {
				continue
			}
			if i < b.k.bufs[res].zero {
				return true
			}
			for _, w := range b.deeds[touchKey{res, -1, i}] {
				if w.dir != reads && !b.before(r, w) {
					return true
				}
			}
		}
	}
	return false
}

// racy says that two accesses to a byte, not both reads or both updates, have no order.
func (b *brute) racy() bool {
	for _, ds := range b.deeds {
		for i, x := range ds {
			for _, y := range ds[i+1:] {
				if x.dir == y.dir && x.dir != writes {
					continue
				}
				if !b.before(x, y) && !b.before(y, x) {
					return true
				}
			}
		}
	}
	return false
}

// witnessed says that a witness is a true one.
func (b *brute) witnessed(op, res, shift int, w *Witness) error {
	find := func(buf, at int, a Access, dirs ...direction) []*deed {
		var out []*deed
		k := b.k
		tid := int(a.Thread[0] + k.block[0]*(a.Thread[1]+k.block[1]*a.Thread[2]))
		cta := int(a.Block[0] + k.grid[0]*a.Block[1])
		for _, d := range b.deeds[touchKey{buf, -1, at}] {
			if d.cta == cta && d.thread == cta*k.threads()+tid && d.line == a.PTXLine && (d.dir == dirs[0] || d.dir == dirs[1]) {
				out = append(out, d)
			}
		}
		return out
	}
	rs := find(op, int(w.Byte)+shift, w.Reader, reads, updates)
	if len(rs) == 0 {
		return fmt.Errorf("reader %+v does not read byte %d", w.Reader, int(w.Byte)+shift)
	}
	if w.Zeroed {
		return nil
	}
	ws := find(res, int(w.Byte), w.Writer, writes, updates)
	if len(ws) == 0 {
		return fmt.Errorf("writer %+v does not write byte %d", w.Writer, w.Byte)
	}
	for _, r := range rs {
		for _, x := range ws {
			if !b.before(r, x) {
				return nil
			}
		}
	}
	return fmt.Errorf("reader %+v is ordered before writer %+v of byte %d", w.Reader, w.Writer, w.Byte)
}

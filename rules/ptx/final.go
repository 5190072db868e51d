package ptx

// final gives a buffer's contents after a full run.
func (s *launchState) final(g *gbuf) Final {
	f := Final{}
	s.memory(g.size)
	if s.used.Load() > 2*max(s.l.Budget.Memory, DefaultMemory) {
		return f
	}
	f.Bytes = make([]byte, g.size)
	var opaque ranges
	if g.contents != nil {
		copy(f.Bytes, g.contents)
	}
	for _, z := range g.zero {
		clear(f.Bytes[z.Start:z.End])
	}
	tags := s.tagsOf[0].taints
	zero := union(g.zero, nil)
	at := int64(0)
	unknown := func(from, to int64) { // not written
		if g.contents == nil && from < to {
			for _, r := range minus([]Range{{from, to}}, zero) {
				opaque.add(r.Start, r.End)
			}
		}
	}
	for n, pg := range g.pages {
		if pg == nil {
			continue
		}
		start := int64(n) << dataPageLog
		end := min(start+1<<dataPageLog, g.size)
		unknown(at, start)
		for from := start; from < end; {
			tag := pg.tag[from-start]
			to := from + 1
			for to < end && pg.tag[to-start] == tag {
				to++
			}
			switch {
			case tag == 0:
				unknown(from, to)
			case tags[tag]&taintOpaque != 0:
				opaque.add(from, to)
				clear(f.Bytes[from:to])
			default:
				copy(f.Bytes[from:to], pg.data[from-start:to-start])
			}
			from = to
		}
		at = end
	}
	unknown(at, g.size)
	f.Opaque = opaque
	return f
}

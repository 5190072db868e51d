package ptx

// presets fills the slots whose value does not depend on the block.
func (m *worker) presets() {
	for _, k := range m.p.consts {
		x := &m.template[k.slot]
		switch {
		case k.param >= 0:
			v, t := m.param(k.param, k.off, k.size)
			x.setU(v, t)
		case k.special == "":
			x.setU(k.value, 0)
		default:
			m.presetSpecial(x, k.special)
		}
	}
}

func (m *worker) presetSpecial(x *value, name string) {
	dim := func(t int) [3]int {
		bx, by := int(m.block[0]), int(m.block[1])
		return [3]int{t % bx, t / bx % by, t / bx / by}
	}
	perThread := func(f func(t int) int64) { x.setT(0, m.offsetsOf(f), 0) }
	if n := len(name); n > 2 && name[n-2] == '.' {
		d := int(name[n-1] - 'x')
		blocks := [3]uint32{m.grid[0], m.grid[1], m.grid[2]}
		switch name[:n-2] {
		case "tid":
			perThread(func(t int) int64 { return int64(dim(t)[d]) })
		case "ntid":
			x.setU(uint64(m.block[d]), 0)
		case "nctaid":
			x.setU(uint64(blocks[d]), 0)
		case "nclusterid":
			x.setU(uint64(blocks[d]/m.cluster[d]), 0)
		case "cluster_nctaid":
			x.setU(uint64(m.cluster[d]), 0)
		}
		return
	}
	switch name {
	case "laneid":
		perThread(func(t int) int64 { return int64(t & 31) })
	case "warpid":
		perThread(func(t int) int64 { return int64(t >> 5) })
	case "nwarpid":
		x.setU(uint64(m.warps), 0)
	case "nsmid":
		x.setU(132, taintOpaque)
	case "smid", "clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi":
		x.setU(0, taintOpaque)
	case "lanemask_eq":
		perThread(func(t int) int64 { return int64(int32(uint32(1) << (t & 31))) })
	case "lanemask_le":
		perThread(func(t int) int64 { return int64(int32(uint32(1)<<(t&31)<<1 - 1)) })
	case "lanemask_lt":
		perThread(func(t int) int64 { return int64(int32(uint32(1)<<(t&31) - 1)) })
	case "lanemask_ge":
		perThread(func(t int) int64 { return int64(int32(^uint32(0) << (t & 31))) })
	case "lanemask_gt":
		perThread(func(t int) int64 { return int64(int32(^uint32(0) << (t & 31) << 1)) })
	case "total_smem_size", "aggr_smem_size":
		x.setU(uint64(m.shared), 0)
	case "dynamic_smem_size":
		x.setU(uint64(m.l.DynamicShared), 0)
	case "cluster_nctarank":
		x.setU(uint64(m.cluster[0]*m.cluster[1]*m.cluster[2]), 0)
	case "is_explicit_cluster":
		x.setU(b2u(m.cluster[0]*m.cluster[1]*m.cluster[2] > 1), 0)
	}
}

// hoist computes, once, the registers that depend on the thread and on
// constants alone, and that one instruction defines.
func (m *worker) hoist() {
	s := &threadGroup{m: m, r: m.template, mask: m.full}
	for _, c := range m.slice.hoisted {
		evalPure(s, c, &s.r[c.dst])
	}
}

// mayBlockChange names the special registers that change from block to block.
func changesWithBlock(name string) bool {
	switch name {
	case "gridid", "cluster_ctarank":
		return true
	}
	n := len(name)
	if n < 2 || name[n-2] != '.' {
		return false
	}
	switch name[:n-2] {
	case "ctaid", "clusterid", "cluster_ctaid":
		return true
	}
	return false
}

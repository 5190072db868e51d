package ptx

import "aliascheck/rules/ptx/syntax"

func tensorRows() []Row {
	return []Row{
		{"tensormap", "9.7.9.28 Data Movement: tensormap.replace; 9.7.13 tensormap.cp_fenceproxy", lowerTensormap},
	}
}

func lowerTensormap(l *lowerer, in *syntax.Instruction) error {
	words := in.Words[1:]
	l.p.hasMaps = true
	if len(words) > 0 && words[0] == "cp_fenceproxy" {
		return lowerCopyMap(l, in, words[1:])
	}
	// replace.tile.FIELD.SPACE.b1024.TYPE
	if len(words) < 5 || words[0] != "replace" || words[1] != "tile" {
		return l.fail("unknown form")
	}
	sp := spaceGeneric
	typ := words[len(words)-1]
	for _, w := range words[3 : len(words)-1] {
		if s, ok := spaceWord(w); ok {
			sp = s
		} else if w != "b1024" {
			return l.fail("unknown modifier .%s", syntax.Clip(w))
		}
	}
	if len(in.Operands) < 2 {
		return l.fail("2 operands expected")
	}
	ord, val := int64(0), in.Operands[1]
	if len(in.Operands) == 3 {
		if in.Operands[1].Kind != syntax.KindConstant {
			return l.fail("a constant ordinal expected")
		}
		ord, val = int64(in.Operands[1].Bits), in.Operands[2]
	}
	off, width, bit, ok := mapField(words[2], ord)
	if !ok {
		return l.fail("unknown field")
	}
	a, aoff, err := l.addressOf(in.Operands[0], sp)
	if err != nil {
		return err
	}
	v, err := l.source(val, typ)
	if err != nil {
		return err
	}
	c := &code{effect: true, src: []int32{a, v}, needs: []int32{a, v}, mem: &memOp{space: sp, off: aoff, size: mapSize, write: true, what: "tensormap"}}
	c.run = func(s *threadGroup, c *code) { runReplace(s, c, off, width, bit) }
	l.guarded(c)
	return nil
}

// runReplace sets a field of the tensor map in memory.
func runReplace(s *threadGroup, c *code, off, width int64, bit uint) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	t, ok := s.resolve(c, mask)
	if !ok {
		return
	}
	m := s.m
	x := &s.r[c.src[1]]
	for _, i := range mask.list {
		store, load, ok := t.mapMemory(i)
		if !ok {
			m.stray(&t, i, t.at(i), mapSize, true)
			continue
		}
		store(off, int(width), x.at(int(i), ^uint64(0)), x.taint)
		set, _ := load(mapSet, 4)
		store(mapSet, 4, set|1<<bit, 0)
		store(mapMagic, 8, magic, 0)
		store(mapSet+4, 4, 0, 0)
		for o := int64(mapBytes + 6); o < mapDims; o++ {
			store(o, 1, 0, 0)
		}
	}
	s.b.cl.version++
}

type mapStore func(off int64, n int, v uint64, tt taint)
type mapLoad func(off int64, n int) (uint64, taint)

// mapMemory gives access to the 128 bytes at a thread's address.
func (t *touch) mapMemory(i int32) (mapStore, mapLoad, bool) {
	m := t.s.m
	if t.space == spaceShared || t.space == spaceCluster {
		b, base := t.s.b.sharedBlock(uint32(t.at(i)))
		if b == nil || base < 0 || base+mapSize > m.shared {
			return nil, nil, false
		}
		return func(off int64, n int, v uint64, tt taint) { b.shared.store(m, base+off, n, v, tt) },
			func(off int64, n int) (uint64, taint) { return b.shared.load(m, base+off, n) }, true
	}
	g := m.find(t.at(i))
	if g == nil || int64(t.at(i)-g.base)+mapSize > g.size {
		return nil, nil, false
	}
	base := int64(t.at(i) - g.base)
	return func(off int64, n int, v uint64, tt taint) { g.store(m, base+off, n, v, tt) },
		func(off int64, n int) (uint64, taint) { return g.load(m, base+off, n) }, true
}

// lowerCopyMap lowers tensormap.cp_fenceproxy...[dst], [src], 128.
func lowerCopyMap(l *lowerer, in *syntax.Instruction, _ []string) error {
	if len(in.Operands) != 3 || in.Operands[2].Kind != syntax.KindConstant || in.Operands[2].Bits != mapSize {
		return l.fail("unknown form")
	}
	dst, doff, err := l.addressOf(in.Operands[0], spaceGlobal)
	if err != nil {
		return err
	}
	src, soff, err := l.addressOf(in.Operands[1], spaceShared)
	if err != nil {
		return err
	}
	c := &code{run: runCopyMap, effect: true, src: []int32{dst, src}, needs: []int32{dst, src}, imm: soff,
		mem: &memOp{space: spaceGlobal, off: doff, size: mapSize, write: true, what: "tensormap.cp_fenceproxy"}}
	l.guarded(c)
	return nil
}

// runCopyMap copies a tensor map from shared to global memory, once per warp.
func runCopyMap(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	m := s.m
	one := newSet(m.threads)
	for w := 0; w < m.warps; w++ {
		if lanes := mask.warp(w); lanes != 0 {
			for i := 0; i < 32; i++ {
				if lanes>>i&1 != 0 {
					one.add(w*32 + i)
					break
				}
			}
		}
	}
	t, ok := s.resolve(c, one)
	if !ok {
		return
	}
	from := &s.r[c.src[1]]
	if from.taint != 0 {
		m.useAddress(from.taint, c, false)
	}
	t.global(writes, func(i int32, g *gbuf, off int64) {
		b, at := s.b.sharedBlock(uint32(from.at(int(i), ^uint64(0)) + c.imm))
		if b == nil || at < 0 || at+mapSize > m.shared {
			m.stopAt(c.in, "the tensor map lies outside of shared memory")
			return
		}
		for k := int64(0); k < mapSize; k += 4 {
			v, tt := b.shared.load(m, at+k, 4)
			g.store(m, off+k, 4, v, tt)
		}
	})
	s.b.cl.version++
}

package ptx

// buildBlocks cuts the codes into basic blocks and finds where diverged
// threads meet again.
func (p *program) buildBlocks() error {
	n := len(p.codes)
	leader := make([]bool, n+1)
	leader[0] = true
	for i, c := range p.codes {
		if c.term != termNone {
			leader[i+1] = true
			for _, t := range c.to {
				if int(t) > n {
					return &unsupported{accessOf(p.entry.Module, c.in), "the branch leaves the function"}
				}
				leader[t] = true
			}
		}
	}
	number := make([]int32, n+1)
	for i := 0; i < n; {
		j := i + 1
		for j < n && !leader[j] {
			j++
		}
		for k := i; k < j; k++ {
			number[k] = int32(len(p.blocks))
		}
		p.blocks = append(p.blocks, &basicBlock{index: int32(len(p.blocks)), start: int32(i), end: int32(j), join: -1})
		i = j
	}
	for i, b := range p.blocks {
		b.last = p.codes[b.end-1]
		b.term = b.last.term
		for _, t := range b.last.to {
			if int(t) >= n {
				return &unsupported{accessOf(p.entry.Module, b.last.in), "the branch leaves the function"}
			}
			b.to = append(b.to, number[t])
		}
		if b.term == termNone || b.term == termBranch {
			if i+1 >= len(p.blocks) {
				return &unsupported{accessOf(p.entry.Module, b.last.in), "control runs off the end"}
			}
			b.to = append(b.to, int32(i+1))
		}
		prev := int32(-1)
		for _, c := range p.codes[b.start:b.end] {
			if c.orig != prev && c.in.Name != "(end)" {
				b.count++
				prev = c.orig
			}
		}
	}
	p.postDominators()
	p.splitWebs()
	p.liveness()
	return nil
}

// postDominators sets join of every block: its immediate post-dominator
// (Cooper, Harvey, Kennedy on the reversed graph).
func (p *program) postDominators() {
	n := len(p.blocks)
	preds := make([][]int32, n)
	var exits []int32
	for i, b := range p.blocks {
		for _, t := range b.to {
			preds[t] = append(preds[t], int32(i))
		}
		if len(b.to) == 0 {
			exits = append(exits, int32(i))
		}
	}
	order, position := reversePostorder(n, exits, preds)
	idom := make([]int32, n) // -2 unknown, -1 the exit
	for i := range idom {
		idom[i] = -2
	}
	for _, e := range exits {
		idom[e] = -1
	}
	meet := func(a, b int32) int32 {
		for a != b {
			if a < 0 || b < 0 {
				return -1
			}
			if position[a] > position[b] {
				a = idom[a]
			} else {
				b = idom[b]
			}
		}
		return a
	}
	for changed, rounds := true, 0; changed && rounds < 50; rounds++ {
		changed = false
		for _, b := range order {
			if len(p.blocks[b].to) == 0 {
				continue
			}
			d := int32(-2)
			for _, t := range p.blocks[b].to {
				if idom[t] == -2 {
					continue
				}
				if d == -2 {
					d = t
				} else {
					d = meet(d, t)
				}
			}
			if d != idom[b] {
				idom[b], changed = d, true
			}
		}
	}
	for i, b := range p.blocks {
		b.join, b.ends = max(idom[i], -1), idom[i] != -2
	}
}

func reversePostorder(n int, roots []int32, next [][]int32) (order []int32, position []int32) {
	position = make([]int32, n)
	seen := make([]bool, n)
	type frame struct{ b, i int32 }
	for _, r := range roots {
		if seen[r] {
			continue
		}
		seen[r] = true
		stack := []frame{{r, 0}}
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if int(f.i) < len(next[f.b]) {
				t := next[f.b][f.i]
				f.i++
				if !seen[t] {
					seen[t] = true
					stack = append(stack, frame{t, 0})
				}
				continue
			}
			order = append(order, f.b)
			stack = stack[:len(stack)-1]
		}
	}
	for i, j := 0, len(order)-1; i < j; i, j = i+1, j-1 {
		order[i], order[j] = order[j], order[i]
	}
	for i, b := range order {
		position[b] = int32(i)
	}
	return order, position
}

// uses lists the slots that a code reads. A guarded code keeps old values.
func (c *code) uses(f func(slot int32)) {
	for _, s := range c.src {
		f(s)
	}
	if c.guard >= 0 {
		f(c.guard)
		c.defs(f)
	} else if c.mem != nil && c.mem.partial {
		c.defs(f)
	}
}

func (c *code) defs(f func(slot int32)) {
	if c.fn != nil {
		f(c.dst)
	}
	for _, d := range c.dsts {
		if d >= 0 {
			f(d)
		}
	}
}

// maxLiveBits bounds the liveness analysis; beyond it every slot counts as alive.
const maxLiveBits = 1 << 28

// liveness finds the slots that are alive at the start of each block.
func (p *program) liveness() {
	nb, words := len(p.blocks), (len(p.slots)+63)/64
	if nb*words*64 > maxLiveBits {
		return
	}
	in := make([][]uint64, nb)
	gen, kill := make([][]uint64, nb), make([][]uint64, nb)
	store := make([]uint64, 3*nb*words)
	for i, b := range p.blocks {
		in[i], gen[i], kill[i] = store[:words], store[words:2*words], store[2*words:3*words]
		store = store[3*words:]
		for _, c := range p.codes[b.start:b.end] {
			c.uses(func(s int32) {
				if kill[i][s>>6]>>(s&63)&1 == 0 {
					gen[i][s>>6] |= 1 << (s & 63)
				}
			})
			if c.guard < 0 {
				c.defs(func(s int32) { kill[i][s>>6] |= 1 << (s & 63) })
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for i := nb - 1; i >= 0; i-- {
			for w := 0; w < words; w++ {
				out := uint64(0)
				for _, t := range p.blocks[i].to {
					out |= in[t][w]
				}
				if v := gen[i][w] | out&^kill[i][w]; v != in[i][w] {
					in[i][w], changed = v, true
				}
			}
		}
	}
	for i, b := range p.blocks {
		b.live = []int32{}
		for s := range p.slots {
			if in[i][s>>6]>>(s&63)&1 != 0 {
				b.live = append(b.live, int32(s))
			}
		}
	}
}

// findInputs lists the registers that may be read before they are written.
func (p *program) findInputs() {
	fixed := map[int32]bool{}
	for _, k := range p.consts {
		fixed[k.slot] = true
	}
	live := p.blocks[0].live
	if live == nil {
		for s := range p.slots {
			live = append(live, int32(s))
		}
	}
	for _, s := range live {
		if !fixed[s] {
			p.inputs = append(p.inputs, s)
		}
	}
}

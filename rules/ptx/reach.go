package ptx

import "fmt"

// Reach says what a kernel may touch whatever its memory holds: it is read off the
// program, without running it.
//
// A buffer that is not in Read is never read and never updated: no address of a
// load can come from its pointer. One that is not in Written is never stored to.
// It holds for every launch of these Args that stays inside of the buffers whose
// pointers its addresses come from: an index that memory gives moves a pointer
// inside of its buffer, and leads to no other (what leaves a buffer is AC206's).
type Reach struct {
	Read    []bool // by buffer: loads, asynchronous reads and atomic updates
	Written []bool // by buffer: stores, asynchronous writes, atomic updates and bytes zeroed before
}

// ReachOf finds what a launch may touch. The error names an instruction that the
// machine does not know, or says what is malformed.
func ReachOf(l *Launch) (*Reach, error) {
	if l.Entry == nil || l.Entry.Function == nil {
		return nil, fmt.Errorf("the launch has no entry")
	}
	if len(l.Args) != len(l.Entry.Params) {
		return nil, fmt.Errorf("%d arguments for %d parameters", len(l.Args), len(l.Entry.Params))
	}
	for i, a := range l.Args {
		if a.Buffer >= len(l.Buffers) {
			return nil, fmt.Errorf("argument %d: buffer %d of %d", i, a.Buffer, len(l.Buffers))
		}
	}
	p, err := compile(l.Entry)
	if err != nil {
		return nil, err
	}
	f := newFlow(p, l)
	f.follow()
	return f.reach(), nil
}

// flow follows pointers through a program's registers, without an order of its
// instructions: what a register may ever hold. Memory is one cell.
type flow struct {
	p       *program
	l       *Launch
	base    []taint                      // by slot: buffers whose pointers its value may be made from
	is      []bool                       // by slot: it surely holds a pointer of base, moved by a number
	loaded  []bool                       // by slot: its value may be a pointer that memory held before the launch
	cell    taint                        // buffers whose pointers the kernel may have stored
	tensor  taint                        // buffers that the host encoded tensor maps of
	strange struct{ shared, local bool } // loaded values are stored there
}

func newFlow(p *program, l *Launch) *flow {
	f := &flow{p: p, l: l, base: make([]taint, len(p.slots)), is: make([]bool, len(p.slots)), loaded: make([]bool, len(p.slots))}
	for _, a := range l.Args {
		for _, h := range a.Tensors {
			f.tensor |= bufferTaint(h.Buffer)
		}
	}
	return f
}

// follow finds what every register may hold.
func (f *flow) follow() {
	f.bases()
	f.pointers()
	f.strangers()
}

// bases finds what each register's value may be made from.
func (f *flow) bases() {
	for _, k := range f.p.consts {
		if k.param >= 0 && k.param < len(f.l.Args) && f.l.Args[k.param].Buffer >= 0 {
			f.base[k.slot] = bufferTaint(f.l.Args[k.param].Buffer)
		}
	}
	for changed := true; changed; {
		changed = false
		for _, c := range f.p.codes {
			t := f.sources(c)
			if stores(c) && t&^f.cell != 0 {
				f.cell |= t
				changed = true
			}
			if c.mem != nil {
				t = f.cell
				if c.mem.space == spaceParam || c.mem.space == spaceGeneric { // a parameter by its address
					t |= f.params()
				}
			}
			c.defs(func(s int32) {
				if f.p.slots[s].bits > 1 && t&^f.base[s] != 0 {
					f.base[s] |= t
					changed = true
				}
			})
		}
	}
}

// sources joins the bases of what a code computes or stores: not those of an
// address that it only follows.
func (f *flow) sources(c *code) taint {
	src := c.src
	if stores(c) {
		src = src[1:]
	}
	t := taint(0)
	for _, s := range src {
		t |= f.base[s]
	}
	return t
}

// stores says that a code puts values of registers into memory: src[0] is where.
func stores(c *code) bool {
	if c.mem == nil || c.bulk != nil || len(c.src) < 2 {
		return false
	}
	switch c.mem.what {
	case "cp.async", "tensormap.cp_fenceproxy", "mbarrier": // from memory to memory
		return false
	}
	return c.mem.write || c.mem.atomic
}

// params is what loads from parameter space may give.
func (f *flow) params() taint {
	t := taint(0)
	for _, a := range f.l.Args {
		if a.Buffer >= 0 {
			t |= bufferTaint(a.Buffer)
		}
	}
	return t
}

// pointers finds the registers that surely hold a pointer: the greatest solution,
// so that a pointer that a loop moves stays one.
func (f *flow) pointers() {
	defined := make([]bool, len(f.p.slots))
	for s := range f.is {
		f.is[s] = f.base[s] != 0
	}
	for _, c := range f.p.codes {
		c.defs(func(s int32) { defined[s] = true })
	}
	for _, k := range f.p.consts { // at its start, and whole
		f.is[k.slot] = f.base[k.slot] != 0 && k.off == 0 && k.size == 8
	}
	for changed := true; changed; {
		changed = false
		for _, c := range f.p.codes {
			c.defs(func(s int32) {
				if f.is[s] && !f.keepsPointer(c) {
					f.is[s], changed = false, true
				}
			})
		}
	}
}

// keepsPointer says that a code's result surely is a pointer.
func (f *flow) keepsPointer(c *code) bool {
	if c.mem != nil || c.fn == nil || c.bits < 64 {
		return false
	}
	number := func(i int) bool { return f.base[c.src[i]] == 0 }
	switch c.alg {
	case algMov:
		return f.is[c.src[0]]
	case algAdd, algOr:
		return f.is[c.src[0]] && number(1) || f.is[c.src[1]] && number(0)
	case algSub:
		return f.is[c.src[0]] && number(1)
	case algMad, algMadWide:
		return number(0) && number(1) && f.is[c.src[2]]
	case algSelect:
		return f.is[c.src[0]] && f.is[c.src[1]]
	}
	return false
}

// strangers finds the registers whose value may be a pointer that the kernel found
// in memory. A number that is added to a pointer is none.
func (f *flow) strangers() {
	for changed := true; changed; {
		changed = false
		for _, c := range f.p.codes {
			if f.storesStranger(c) {
				changed = true
			}
			if !f.stranger(c) {
				continue
			}
			c.defs(func(s int32) {
				if f.p.slots[s].bits > 1 && !f.loaded[s] {
					f.loaded[s], changed = true, true
				}
			})
		}
	}
}

// stranger says that a code's result may be a pointer from memory.
func (f *flow) stranger(c *code) bool {
	if c.mem != nil {
		switch {
		case c.bulk != nil, c.mem.space == spaceGlobal, c.mem.space == spaceGeneric:
			return true
		case c.mem.space == spaceLocal:
			return f.strange.local
		case c.mem.space == spaceParam:
			return false
		}
		return f.strange.shared
	}
	any := func(slots ...int32) bool {
		for _, s := range slots {
			if f.loaded[s] {
				return true
			}
		}
		return false
	}
	if f.keepsPointer(c) {
		switch c.alg {
		case algAdd, algOr, algSub, algMad, algMadWide:
			for _, s := range c.src { // of the pointer alone
				if f.base[s] != 0 {
					return any(s)
				}
			}
		}
	}
	return any(c.src...)
}

// storesStranger notes that values from memory get into shared or local memory,
// and reports whether that is new.
func (f *flow) storesStranger(c *code) bool {
	if c.mem == nil {
		return false
	}
	into := c.mem.what == "cp.async" || c.bulk != nil && c.bulk.toShared
	if !into && stores(c) {
		for _, s := range c.src[1:] {
			into = into || f.loaded[s]
		}
	}
	if !into {
		return false
	}
	before := f.strange
	switch {
	case c.bulk == nil && c.mem.space == spaceLocal:
		f.strange.local = true
	case c.bulk == nil && c.mem.space == spaceGeneric:
		f.strange.local, f.strange.shared = true, true
	case c.bulk != nil || c.mem.space != spaceGlobal:
		f.strange.shared = true
	}
	return f.strange != before
}

// address gives the buffers that an address in a register may lie in.
func (f *flow) address(slot int32) taint {
	if f.loaded[slot] {
		return taintBits
	}
	return f.base[slot]
}

// reach gathers what the program's accesses may touch.
func (f *flow) reach() *Reach {
	read, written := taint(0), taint(0)
	for _, c := range f.p.codes {
		r, w := f.touches(c)
		read, written = read|r, written|w
	}
	out := &Reach{Read: make([]bool, len(f.l.Buffers)), Written: make([]bool, len(f.l.Buffers))}
	for i := range f.l.Buffers {
		out.Read[i], out.Written[i] = read&bufferTaint(i) != 0, written&bufferTaint(i) != 0
	}
	for _, a := range f.l.Args {
		if a.Buffer >= 0 && a.Zero > 0 {
			out.Written[a.Buffer] = true
		}
	}
	return out
}

// touches gives the buffers that a code may read, and may write.
func (f *flow) touches(c *code) (read, written taint) {
	switch {
	case c.mem == nil:
		return 0, 0
	case c.bulk != nil && c.bulk.tensor > 0:
		return f.boxes(c)
	case c.bulk != nil:
		if !c.bulk.fromShare {
			read = f.address(c.bulk.src.slot)
		}
		if !c.bulk.toShared {
			written = f.address(c.bulk.dst.slot)
			if c.bulk.reduce {
				read |= written
			}
		}
		return read, written
	case c.mem.what == "cp.async":
		return f.address(c.src[1]), 0
	case c.mem.space != spaceGlobal && c.mem.space != spaceGeneric:
		return 0, 0
	}
	at := f.address(c.src[0])
	if c.mem.write || c.mem.atomic {
		written = at
	}
	if !c.mem.write || c.mem.atomic {
		read = at
	}
	return read, written
}

// boxes gives what a copy by a tensor map may touch: the memory that the host's
// maps tell of, and that of the maps that the kernel makes. A map that it finds in
// memory may tell of any.
func (f *flow) boxes(c *code) (read, written taint) {
	at := f.tensor | f.cell
	if f.address(c.bulk.mem.slot) != 0 && f.cell == 0 {
		at = taintBits
	}
	if !c.bulk.toShared {
		written = at
		if c.bulk.reduce {
			read = at
		}
		return read, written
	}
	return at, 0
}

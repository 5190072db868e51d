package ptx

import (
	"encoding/binary"
	"fmt"
)

// The address space of a launch. Buffers stand far apart, so that an address
// between two of them is seen; windows of shared and local memory lie where no
// buffer is.
const (
	bufferBase   = uint64(1) << 44
	bufferGap    = uint64(1) << 42 // between starts, for buffers up to half of it
	moduleBase   = uint64(1) << 40 // the module's own globals and constants
	sharedWindow = uint64(1) << 60 // generic address of shared memory
	localWindow  = uint64(1) << 61
	paramWindow  = uint64(1) << 62
	sharedBase   = 1024 // first address that a kernel may use, as on sm_90
	clusterShift = 24   // of a block's rank in a shared::cluster address
	maxShared    = 1 << 20
	maxFrame     = 1 << 20
)

func alignUp(n, a int64) int64 { return (n + a - 1) &^ (a - 1) }

// layoutVariables gives the module's shared and global variables their places.
func (l *lowerer) layoutVariables() error {
	at := int64(sharedBase)
	shared := append([]*variable{}, l.mod.shared...)
	for _, f := range functionsOf(l.p.fn) {
		shared = append(shared, f.shared...)
	}
	for _, v := range shared {
		if v.extern || v.size == 0 {
			continue
		}
		at = alignUp(at, v.align)
		v.offset = at
		if at += v.size; at > maxShared {
			return fmt.Errorf("line %d: %d bytes of static shared memory are too many", v.at.line, at)
		}
	}
	l.p.shared = at - sharedBase
	at = alignUp(at, 16)
	for _, v := range shared {
		if v.extern || v.size == 0 {
			at = alignUp(at, v.align)
		}
	}
	for _, v := range shared {
		if v.extern || v.size == 0 {
			v.offset = at
		}
	}
	if at > alignUp(sharedBase+l.p.shared, 16) {
		l.p.shared = at - sharedBase
	}
	l.p.globals = l.mod.globals
	off := int64(0)
	for _, v := range l.mod.globals {
		off = alignUp(off, max(v.align, 16))
		v.offset = off
		if off += v.size; off > maxVariable {
			return fmt.Errorf("line %d: the module's variables are too large", v.at.line)
		}
	}
	for _, v := range l.mod.globals {
		if err := l.fix(v); err != nil {
			return err
		}
	}
	return nil
}

// fix writes the addresses of other variables into an initializer.
func (l *lowerer) fix(v *variable) error {
	for _, f := range v.fixups {
		var target *variable
		for _, g := range l.mod.globals {
			if g.name == f.name {
				target = g
			}
		}
		if target == nil || f.at+f.width > int64(len(v.init)) {
			return fmt.Errorf("line %d: the initializer names %s, which is no variable", v.at.line, clip(f.name))
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], moduleBase+uint64(target.offset+f.add))
		copy(v.init[f.at:f.at+f.width], b[:])
	}
	return nil
}

// functionsOf lists a function and what it calls.
func functionsOf(f *function) []*function {
	out := []*function{f}
	seen := map[*function]bool{f: true}
	for i := 0; i < len(out); i++ {
		for j := range out[i].body {
			for _, op := range out[i].body[j].ops {
				if op.kind == opFunc && !seen[op.fn] {
					seen[op.fn] = true
					out = append(out, op.fn)
				}
			}
		}
	}
	return out
}

// symbol gives a variable's address in its own space; in generic space for
// globals and constants, which are the same here.
func (l *lowerer) symbol(v *variable) (uint64, error) {
	v = l.env.resolve(v)
	switch v.space {
	case "shared":
		return uint64(v.offset), nil
	case "global", "const":
		return moduleBase + uint64(v.offset), nil
	case "local":
		return uint64(l.frameOf(v)), nil
	case "param":
		if l.env.parent == nil && l.isEntryParam(v) {
			if v.size > 1<<paramLog {
				return 0, l.fail("a parameter of %d bytes", v.size)
			}
			return paramWindow + uint64(v.index)<<paramLog, nil
		}
	}
	return 0, l.fail("the address of .%s %s is not supported", v.space, clip(v.name))
}

func (l *lowerer) isEntryParam(v *variable) bool {
	for _, q := range l.p.fn.params {
		if q == v {
			return true
		}
	}
	return false
}

// frameOf gives a local variable's offset in the thread's frame.
func (l *lowerer) frameOf(v *variable) int64 {
	if off, ok := l.frames[v]; ok {
		return off
	}
	off := alignUp(max(l.p.frame, 16), max(v.align, 1))
	l.frames[v] = off
	l.p.frame = off + v.size
	return off
}

package ptx

import (
	"encoding/binary"
	"fmt"
	"slices"

	"aliascheck/rules/ptx/syntax"
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
	shared := append([]*syntax.Variable{}, l.mod.Shared...)
	for _, f := range l.p.fn.Callees() {
		shared = append(shared, f.Shared...)
	}
	for _, v := range shared {
		if v.Extern || v.Size == 0 {
			continue
		}
		at = alignUp(at, v.Align)
		l.offsets[v] = at
		if at += v.Size; at > maxShared {
			return fmt.Errorf("line %d: %d bytes of static shared memory are too many", v.At.Line, at)
		}
	}
	l.p.shared = at - sharedBase
	at = alignUp(at, 16)
	for _, v := range shared {
		if v.Extern || v.Size == 0 {
			at = alignUp(at, v.Align)
		}
	}
	for _, v := range shared {
		if v.Extern || v.Size == 0 {
			l.offsets[v] = at
		}
	}
	if at > alignUp(sharedBase+l.p.shared, 16) {
		l.p.shared = at - sharedBase
	}
	off := int64(0)
	for _, v := range l.mod.Globals {
		off = alignUp(off, max(v.Align, 16))
		l.offsets[v] = off
		l.p.globals = append(l.p.globals, global{off, v.Size, v.Init})
		if off += v.Size; off > syntax.MaxVariable {
			return fmt.Errorf("line %d: the module's variables are too large", v.At.Line)
		}
	}
	for i, v := range l.mod.Globals {
		if err := l.fix(v, &l.p.globals[i]); err != nil {
			return err
		}
	}
	return nil
}

// global is a variable of the module in the launch's own memory.
type global struct {
	offset, size int64
	init         []byte // addresses of other variables filled in
}

// fix writes the addresses of other variables into an initializer.
func (l *lowerer) fix(v *syntax.Variable, g *global) error {
	if len(v.Fixups) > 0 { // the module may be run by several launches at once
		g.init = slices.Clone(v.Init)
	}
	for _, f := range v.Fixups {
		var target *syntax.Variable
		for _, o := range l.mod.Globals {
			if o.Name == f.Name {
				target = o
			}
		}
		if target == nil || f.At+f.Width > int64(len(v.Init)) {
			return fmt.Errorf("line %d: the initializer names %s, which is no variable", v.At.Line, syntax.Clip(f.Name))
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], moduleBase+uint64(l.offsets[target]+f.Add))
		copy(g.init[f.At:f.At+f.Width], b[:])
	}
	return nil
}

// symbol gives a variable's address in its own space; in generic space for
// globals and constants, which are the same here.
func (l *lowerer) symbol(v *syntax.Variable) (uint64, error) {
	v = l.env.resolve(v)
	switch v.Space {
	case "shared":
		return uint64(l.offsets[v]), nil
	case "global", "const":
		return moduleBase + uint64(l.offsets[v]), nil
	case "local":
		return uint64(l.frameOf(v)), nil
	case "param":
		if l.env.parent == nil && l.isEntryParam(v) {
			if v.Size > 1<<paramLog {
				return 0, l.fail("a parameter of %d bytes", v.Size)
			}
			return paramWindow + uint64(v.Index)<<paramLog, nil
		}
	}
	return 0, l.fail("the address of .%s %s is not supported", v.Space, syntax.Clip(v.Name))
}

func (l *lowerer) isEntryParam(v *syntax.Variable) bool {
	for _, q := range l.p.fn.Params {
		if q == v {
			return true
		}
	}
	return false
}

// frameOf gives a local variable's offset in the thread's frame.
func (l *lowerer) frameOf(v *syntax.Variable) int64 {
	if off, ok := l.frames[v]; ok {
		return off
	}
	off := alignUp(max(l.p.frame, 16), max(v.Align, 1))
	l.frames[v] = off
	l.p.frame = off + v.Size
	return off
}

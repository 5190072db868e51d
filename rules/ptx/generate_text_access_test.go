package ptx

import (
	"fmt"
	"strings"
)

// index leaves an element number in r10.
func (w *gWriter) index(x gIndex, s *gStmt) {
	w.put("mov.u32 %%r10, %d;", x.add)
	w.put("mad.lo.s32 %%r10, %%r0, %d, %%r10;", x.tid)
	if x.cta != 0 {
		w.put("mad.lo.s32 %%r10, %%r3, %d, %%r10;", x.cta)
	}
	if x.it != 0 {
		w.put("mad.lo.s32 %%r10, %%r%d, %d, %%r10;", 5+x.loop, x.it)
	}
	switch x.how {
	case ixXor:
		w.put("xor.b32 %%r10, %%r10, %d;", x.k)
	case ixReverse:
		w.put("sub.s32 %%r10, %d, %%r10;", x.k)
	case ixHash:
		w.put("mul.lo.u32 %%r10, %%r10, 0x9E3779B1;")
		w.put("shr.u32 %%r10, %%r10, 7;")
	case ixShift:
		w.put("shr.u32 %%r10, %%r10, %d;", x.k)
	case ixGather:
		w.mapped(s)
	case ixRows:
		w.put("and.b32 %%r12, %%r10, %d;", gRow-1)
		w.put("shr.u32 %%r10, %%r10, %d;", gRowLog)
		w.mapped(s)
		w.put("mad.lo.s32 %%r10, %%r10, %d, %%r12;", gRow)
	}
	if !x.bare {
		w.put("and.b32 %%r10, %%r10, %d;", x.mask)
	}
}

// mapped reads the element of the map of which the number is in r10.
func (w *gWriter) mapped(s *gStmt) {
	w.put("and.b32 %%r10, %%r10, %d;", gMapSize-1)
	w.put("mul.wide.u32 %%d8, %%r10, 4;")
	w.put("add.s64 %%d8, %%d%d, %%d8;", w.k.mapBuf)
	w.put("ld.global.u32 %%r10, [%%d8];")
	s.mapLine = w.lines
}

// address gives the operand of an access to shared or global memory.
func (w *gWriter) address(buf, bytes, base int, generic bool) string {
	switch {
	case buf == gShared && generic:
		w.put("mov.u64 %%d9, sm;")
		w.put("cvta.shared.u64 %%d9, %%d9;")
		w.put("mad.wide.u32 %%d9, %%r10, %d, %%d9;", bytes)
		return fmt.Sprintf("[%%d9+%d]", base)
	case buf == gShared:
		w.put("mov.u32 %%r11, sm;")
		w.put("mad.lo.s32 %%r11, %%r10, %d, %%r11;", bytes)
		return fmt.Sprintf("[%%r11+%d]", base)
	}
	w.put("mul.wide.u32 %%d8, %%r10, %d;", bytes)
	w.put("add.s64 %%d8, %%d%d, %%d8;", buf)
	return fmt.Sprintf("[%%d8+%d]", base)
}

func (w *gWriter) access(s *gStmt) {
	w.index(s.index, s)
	at := w.address(s.buf, s.size*s.vec, s.base, s.generic)
	guard := ""
	if s.guard != nil {
		w.cond(*s.guard)
		guard = "@%p1 "
	}
	space := ".global"
	if s.buf == gShared {
		space = ".shared"
	}
	if s.generic {
		space = ""
	}
	typ := map[int]string{1: "b8", 2: "b16", 4: "b32", 8: "b64"}[s.size]
	regs := make([]string, s.vec)
	for j := range regs {
		regs[j] = fmt.Sprintf("%%%c%d", "rd"[s.size/8], 20+j)
	}
	list, vec := regs[0], ""
	if s.vec > 1 {
		list, vec = "{"+strings.Join(regs, ", ")+"}", fmt.Sprintf(".v%d", s.vec)
	}
	switch s.dir {
	case reads:
		w.put("%sld%s%s%s.%s %s, %s;", guard, [...]string{"", "", ".weak", ""}[s.form], space, vec, typ, list, at)
		s.line = w.lines
		for j := range regs {
			w.take(guard, s, j)
		}
	case writes:
		for j := range regs {
			w.give(s, j)
		}
		w.put("%sst%s%s.%s %s, %s;", guard, space, vec, typ, at, list)
		s.line = w.lines
	case updates:
		reg := "%r4"
		if s.size == 8 {
			w.put("cvt.u64.u32 %%d20, %%r4;")
			reg = "%d20"
		}
		bits := 8 * s.size
		switch s.form {
		case 0, 1:
			w.put("%sred%s.add.u%d %s, %s;", guard, space, bits, at, reg)
		case 2:
			w.put("%satom%s.add.u%d %%%c30, %s, %s;", guard, space, bits, "rd"[s.size/8], at, reg)
		case 3:
			w.put("%satom.relaxed.gpu%s.add.u%d %%%c30, %s, %s;", guard, space, bits, "rd"[s.size/8], at, reg)
		}
		s.line = w.lines
	}
}

// take adds a loaded element to the sum.
func (w *gWriter) take(guard string, s *gStmt, j int) {
	if s.size == 8 {
		w.put("mov.b64 {%%r30, %%r31}, %%d%d;", 20+j)
		w.put("%smad.lo.s32 %%r4, %%r4, 5, %%r30;", guard)
		w.put("%smad.lo.s32 %%r4, %%r4, 5, %%r31;", guard)
		return
	}
	w.put("%smad.lo.s32 %%r4, %%r4, 5, %%r%d;", guard, 20+j)
}

// give makes an element to store.
func (w *gWriter) give(s *gStmt, j int) {
	c := 17*j + s.base
	if s.size == 8 {
		w.put("add.s32 %%r30, %%r4, %d;", c)
		w.put("xor.b32 %%r31, %%r4, %d;", c)
		w.put("mov.b64 %%d%d, {%%r30, %%r31};", 20+j)
		return
	}
	w.put("add.s32 %%r%d, %%r4, %d;", 20+j, c)
}

func (w *gWriter) copy(s *gStmt) {
	w.index(s.index, s)
	from := w.address(s.buf, s.size, s.base, false)
	w.index(s.dst.index, s)
	to := w.address(gShared, s.size, s.dst.base, false)
	guard, size := "", ""
	if s.guard != nil {
		w.cond(*s.guard)
		guard = "@%p1 "
		if s.form == 1 {
			w.put("selp.u32 %%r15, %d, 0, %%p1;", s.size)
			guard, size = "", ", %r15"
		}
	}
	w.put("%scp.async.ca.shared.global %s, %s, %d%s;", guard, to, from, s.size, size)
	s.line = w.lines
}

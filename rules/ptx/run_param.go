package ptx

// loadParam loads from the kernel's parameters by addresses: generic ones that
// cvta.param made, or those of ld.param with a register.
func (t *touch) loadParam() {
	m, op := t.s.m, t.c.mem
	if t.addr.kind == uniform {
		i := t.mask.list[0]
		inside := m.inParam(t.at(i), op.size)
		if !inside {
			for _, i := range t.mask.list {
				m.stray(t, i, t.at(i), op.size, false)
			}
		}
		if op.want {
			out := t.results()
			for k := range out.regs {
				v, tt := m.paramAt(t.at(i), k, op, inside)
				out.set(k, v, tt)
			}
		}
		return
	}
	var out *results
	if op.want {
		out = t.results()
		out.begin()
	}
	for _, i := range t.mask.list {
		inside := m.inParam(t.at(i), op.size)
		if !inside {
			m.stray(t, i, t.at(i), op.size, false)
		}
		if out == nil {
			continue
		}
		for k := range out.regs {
			v, tt := m.paramAt(t.at(i), k, op, inside)
			out.put(k, i, v, tt)
		}
	}
	if out != nil {
		out.end()
	}
}

// inParam says whether n bytes from an address on lie in a parameter.
func (s *launchState) inParam(a uint64, n int64) bool {
	params := s.l.Entry.Params
	return a>>paramLog < uint64(len(params)) && int64(a&(1<<paramLog-1))+n <= int64(params[a>>paramLog].Size)
}

// paramAt gives element k of an access.
func (s *launchState) paramAt(a uint64, k int, op *memOp, inside bool) (uint64, taint) {
	if !inside || s.l.Args[a>>paramLog].Tensors != nil {
		return 0, taintOpaque
	}
	each := int(op.bits / 8)
	return s.param(int(a>>paramLog), int64(a&(1<<paramLog-1))+int64(k*each), each)
}

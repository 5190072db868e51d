package alias

import "aliascheck/hlo"

const errInFusion = resolveError("the call stands inside a fusion whose result it is not")

// result returns the value of a custom call's result leaf. Inside a fusion
// computation a call has no values of its own: the fusion's are its.
func (r *resolver) result(instr int32, index hlo.ShapeIndex) (int32, error) {
	v, err := r.resolve(instr, index)
	if err == nil {
		return v, nil
	}
	comp := &r.m.Computations[r.m.Instructions[instr].Computation]
	if !comp.Fusion || len(comp.Callers) == 0 || comp.Root < 0 {
		return -1, err
	}
	x, ok := r.rootIndex(comp.Root, instr, index)
	if !ok {
		return -1, errInFusion
	}
	return r.resolve(comp.Callers[0], x)
}

// rootIndex finds at which index of a fusion's root the leaf (instr, index)
// leaves it: the root itself, or an element of a root tuple.
func (r *resolver) rootIndex(root, instr int32, index hlo.ShapeIndex) (hlo.ShapeIndex, bool) {
	if x, ok := r.restOf(root, instr, index); ok {
		return x, true
	}
	in := &r.m.Instructions[root]
	if in.Opcode != "tuple" {
		return nil, false
	}
	for k, o := range in.Operands {
		if x, ok := r.restOf(o, instr, index); ok {
			return append(hlo.ShapeIndex{int64(k)}, x...), true
		}
	}
	return nil, false
}

// restOf follows bitcasts and tuple elements up from at. If that ends in instr
// with a prefix of index, it returns what of index is left.
func (r *resolver) restOf(at, instr int32, index hlo.ShapeIndex) (hlo.ShapeIndex, bool) {
	var prefix hlo.ShapeIndex
	for range 64 { // deeper nests of tuples are not worth a guess
		in := &r.m.Instructions[at]
		switch {
		case at == instr:
			if len(prefix) > len(index) || !equal(prefix, index[:len(prefix)]) {
				return nil, false
			}
			return append(hlo.ShapeIndex(nil), index[len(prefix):]...), true
		case in.Opcode == "bitcast":
			at = in.Operands[0]
		case in.Opcode == "get-tuple-element":
			prefix = append(hlo.ShapeIndex{int64(in.TupleIndex)}, prefix...)
			at = in.Operands[0]
		default:
			return nil, false
		}
	}
	return nil, false
}

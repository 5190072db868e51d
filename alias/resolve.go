package alias

import (
	"aliascheck/hlo"
)

// resolveError says why a position has no value that could be found.
type resolveError string

func (e resolveError) Error() string { return string(e) }

const (
	errTooDeep   = resolveError("its value is forwarded through too many instructions")
	errNoCaller  = resolveError("it is a parameter of a computation that nothing calls")
	errUntracked = resolveError("the buffer assignment lists no value for it")
)

// resolver finds the value at a position: an instruction and a shape index.
//
// A position that has a logical buffer is that value. Else its value is forwarded
// from another position; forward says from which (xla/hlo/analysis/hlo_dataflow_analysis.cc).
type resolver struct {
	m      *hlo.Module
	memo   []int32 // by instruction, for whole-array positions: value+1, 0 unknown
	budget int     // forwarding steps left in this module: hostile chains end here
	index  []int64 // scratch for a rewritten shape index
}

// stepsPerInstruction bounds the forwarding of a whole module. Real modules need
// under four steps an operand.
const stepsPerInstruction = 256

func (r *resolver) reset(m *hlo.Module) {
	r.m = m
	n := len(m.Instructions)
	if cap(r.memo) < n {
		r.memo = make([]int32, n)
	}
	r.memo = r.memo[:n]
	clear(r.memo)
	r.budget = 1<<16 + stepsPerInstruction*n
}

// known returns the value of an array that was resolved before, or -1.
func (r *resolver) known(instr int32) int32 { return r.memo[instr] - 1 }

// resolve returns the value at (instr, index); for index {} instr must be an array.
func (r *resolver) resolve(instr int32, index hlo.ShapeIndex) (int32, error) {
	whole := len(index) == 0
	if whole && r.memo[instr] != 0 {
		return r.memo[instr] - 1, nil
	}
	at, x := instr, append(r.index[:0], index...)
	for {
		if v, ok := r.valueAt(at, x); ok {
			if whole {
				r.memo[instr] = v + 1
			}
			r.index = x
			return v, nil
		}
		if r.budget--; r.budget < 0 {
			return -1, errTooDeep
		}
		var err error
		if at, x, err = r.forward(at, x); err != nil {
			r.index = x
			return -1, err
		}
	}
}

// valueAt is the module's ValueAt. It looks first where an element of a tuple of arrays
// is: behind the tuple's own value and the elements before.
func (r *resolver) valueAt(at int32, x []int64) (int32, bool) {
	in := &r.m.Instructions[at]
	if len(x) == 1 && x[0] >= 0 && x[0] < int64(in.EndValue-in.FirstValue)-1 {
		v := in.FirstValue + 1 + int32(x[0])
		if equal(r.m.Values[v].Index, x) {
			return v, true
		}
	}
	return r.m.ValueAt(at, x)
}

// forward returns the position that (at, x) takes its value from. It rewrites x in
// place where it can.
func (r *resolver) forward(at int32, x []int64) (int32, []int64, error) {
	in := &r.m.Instructions[at]
	switch in.Opcode {
	case "get-tuple-element":
		x = append(x, 0)
		copy(x[1:], x)
		x[0] = int64(in.TupleIndex)
		return in.Operands[0], x, nil
	case "tuple":
		if len(x) > 0 && x[0] >= 0 && x[0] < int64(len(in.Operands)) {
			to := in.Operands[x[0]]
			return to, x[:copy(x, x[1:])], nil
		}
	case "bitcast", "opt-barrier", "while", "add-dependency", "domain":
		if len(in.Operands) > 0 {
			return in.Operands[0], x, nil
		}
	case "conditional", "call":
		if to, ok := r.root(in, 0); ok {
			return to, x, nil
		}
	case "async-start":
		return r.asyncStart(in, x)
	case "async-update", "async-done":
		return r.asyncDone(in, x)
	case "parameter":
		return r.parameter(in, x)
	case "custom-call", "fusion":
		if in.Custom != nil {
			return r.declared(in, x)
		}
	default:
		return halves(in, x)
	}
	return -1, x, errUntracked
}

func (r *resolver) root(in *hlo.Instruction, n int) (int32, bool) {
	if n >= len(in.Called) {
		return -1, false
	}
	root := r.m.Computations[in.Called[n]].Root
	return root, root >= 0
}

// asyncStart's shape is (operands, results, context...).
func (r *resolver) asyncStart(in *hlo.Instruction, x []int64) (int32, []int64, error) {
	switch {
	case len(x) >= 2 && x[0] == 0 && x[1] >= 0 && x[1] < int64(len(in.Operands)):
		to := in.Operands[x[1]]
		return to, x[:copy(x, x[2:])], nil
	case len(x) >= 1 && x[0] == 1:
		if to, ok := r.root(in, 0); ok {
			return to, x[:copy(x, x[1:])], nil
		}
	}
	return -1, x, errUntracked
}

// asyncDone gives the wrapped computation's root; async-update passes the start on.
func (r *resolver) asyncDone(in *hlo.Instruction, x []int64) (int32, []int64, error) {
	if len(in.Operands) == 0 {
		return -1, x, errUntracked
	}
	if in.Opcode == "async-update" {
		return in.Operands[0], x, nil
	}
	x = append(x, 0)
	copy(x[1:], x)
	x[0] = 1
	return in.Operands[0], x, nil
}

// halves is forward for the instructions in two halves that wrap nothing: what of their
// tuples is the operand's, and what the second half has of the first.
func halves(in *hlo.Instruction, x []int64) (int32, []int64, error) {
	if len(in.Operands) == 0 {
		return -1, x, errUntracked
	}
	switch in.Opcode {
	case "copy-start":
		if len(x) > 0 && x[0] == 1 {
			return in.Operands[0], x[:copy(x, x[1:])], nil
		}
	case "all-gather-start", "collective-permute-start", "send":
		switch {
		case len(x) == 0 || x[0] != 0:
		case len(in.Operands) == 1 || in.Opcode == "send":
			return in.Operands[0], x[:copy(x, x[1:])], nil
		case len(x) > 1 && x[1] >= 0 && x[1] < int64(len(in.Operands)):
			to := in.Operands[x[1]]
			return to, x[:copy(x, x[2:])], nil
		}
	case "all-reduce-done", "recv-done":
		return in.Operands[0], x, nil
	case "copy-done":
		return in.Operands[0], append([]int64{0}, x...), nil
	case "all-gather-done", "collective-permute-done":
		return in.Operands[0], append([]int64{1}, x...), nil
	}
	return -1, x, errUntracked
}

// parameter gives the operand of the instruction that calls the computation.
func (r *resolver) parameter(in *hlo.Instruction, x []int64) (int32, []int64, error) {
	callers := r.m.Computations[in.Computation].Callers
	if len(callers) == 0 {
		return -1, x, errNoCaller
	}
	caller := &r.m.Instructions[callers[0]]
	n := int(in.Parameter)
	if caller.Opcode == "conditional" {
		n = 1
		for k, c := range caller.Called {
			if c == in.Computation {
				n = 1 + k
			}
		}
	}
	if n < 0 || n >= len(caller.Operands) {
		return -1, x, errUntracked
	}
	return caller.Operands[n], x, nil
}

// declared gives the operand of a declared pair: older XLA forwarded a declared
// result without a buffer of its own.
func (r *resolver) declared(in *hlo.Instruction, x []int64) (int32, []int64, error) {
	for _, p := range in.Custom.Declared {
		if len(p.Result) > len(x) || p.Operand < 0 || p.Operand >= int64(len(in.Operands)) {
			continue
		}
		if !equal(p.Result, x[:len(p.Result)]) {
			continue
		}
		rest := append([]int64(nil), x[len(p.Result):]...)
		return in.Operands[p.Operand], append(append(x[:0], p.OperandIndex...), rest...), nil
	}
	return -1, x, errUntracked
}

func equal(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

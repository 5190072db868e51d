package alias

import "aliascheck/hlo"

// inPlace reports whether instruction i may have an operand's leaf and its own result's
// in one and the same slice, by XLA's rules (HloDataflowAnalysis::
// CanShareOperandBufferWithUser and AliasInfo::GetInPlaceInputOutputPairs).
//
// Whether the kernel of a fusion may is not to be seen here: its computation is not
// decoded, and who wants to know runs the kernel. What a custom call may is told by the
// rules about custom calls.
func inPlace(in *hlo.Instruction, operand int, index, result hlo.ShapeIndex) bool {
	switch in.Opcode {
	case "fusion", "custom-call", "while", "conditional", "call", "async-start":
		return true
	case "dynamic-update-slice", "set-dimension-size":
		return operand == 0
	case "triangular-solve", "ragged-all-to-all":
		return operand == 1
	case "sort", "all-reduce", "all-reduce-start":
		return len(in.Operands) == 1 || len(result) == 1 && result[0] == int64(operand)
	case "scatter":
		// Operands are the arrays, the indices, and as many updates.
		arrays := (len(in.Operands) - 1) / 2
		return operand < arrays && (arrays == 1 || len(result) == 1 && result[0] == int64(operand))
	case "collective-permute", "collective-permute-start":
		return len(in.Operands) == 4 && operand == 1
	}
	return elementwise(in.Opcode)
}

// elementwise tells the opcodes that compute each element of their result from the same
// element of each operand (HloInstruction::IsElementwise).
func elementwise(opcode string) bool {
	switch opcode {
	case "abs", "acos", "acosh", "add", "and", "asin", "asinh", "atan2", "atanh", "bitcast-convert",
		"cbrt", "ceil", "clamp", "compare", "complex", "convert", "copy", "cosine", "cosh", "count-leading-zeros",
		"divide", "erf", "exponential", "exponential-minus-one", "floor", "imag", "is-finite", "log",
		"log-plus-one", "logistic", "map", "maximum", "minimum", "multiply", "negate", "not", "or",
		"popcnt", "power", "real", "reduce-precision", "remainder", "round-nearest-afz",
		"round-nearest-even", "rsqrt", "select", "shift-left", "shift-right-arithmetic",
		"shift-right-logical", "sign", "sine", "sinh", "sqrt", "stochastic-convert", "subtract", "tan", "tanh", "xor":
		return true
	}
	return false
}

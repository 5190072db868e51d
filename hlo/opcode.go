package hlo

// opcode is what the readers must tell of an instruction, told once: to compare names in
// every pass would fetch each from the file's bytes again.
type opcode uint8

const (
	opOther opcode = iota
	opParameter
	opConstant
	opCopy
	opForward // any other that has one operand, and passes it on or follows it up
	opTuple
	opTupleElement
	opWhile
	opConditional
	opCall
	opFusion
	opCustomCall
	opAsyncStart
	opUnknown // none of XLA's: the file is damaged, or of a release that has more
)

// The names of opcodes that the readers of text need as well.
const (
	customCall = "custom-call"
	asyncStart = "async-start"
	parameter  = "parameter"
)

// anyNumber stands for the operands of an opcode of which releases or uses differ.
const anyNumber = -1

// opcodeOf tells an opcode by its name, and how many operands it has. The names are those
// of HLO_OPCODE_LIST in xla/hlo/ir/hlo_opcode.h of today's XLA, and the two that
// it has lost since 2020. One that is not among them is an error: a flipped bit would
// make a custom call vanish otherwise.
func opcodeOf(name string) (op opcode, operands int8) {
	switch name {
	case parameter:
		return opParameter, 0
	case "constant":
		return opConstant, 0
	case "copy":
		return opCopy, 1
	case "bitcast", "opt-barrier", "async-done", "copy-start", "copy-done":
		return opForward, 1
	case "async-update":
		return opForward, anyNumber
	case "tuple":
		return opTuple, anyNumber
	case "get-tuple-element":
		return opTupleElement, 1
	case "while":
		return opWhile, 1
	case "conditional":
		return opConditional, anyNumber
	case "call":
		return opCall, anyNumber
	case "fusion":
		return opFusion, anyNumber
	case customCall:
		return opCustomCall, anyNumber
	case asyncStart:
		return opAsyncStart, anyNumber
	}
	return plainOpcode(name)
}

// plainOpcode is opcodeOf for the opcodes that the readers need not tell apart.
func plainOpcode(name string) (op opcode, operands int8) {
	switch name {
	case "after-all", "all-gather", "all-gather-start", "all-reduce", "all-reduce-start",
		"all-to-all", "collective-broadcast", "collective-permute", "collective-permute-start",
		"collective-reduce", "concatenate", "convolution", "dot", "dynamic-reshape", "dynamic-slice",
		"dynamic-update-slice", "map", "reduce", "reduce-scatter", "reduce-window", "rng", "scan",
		"scatter", "sort":
		return opOther, anyNumber
	case "iota", "partition-id", "replica-id", "rng-get-and-update-state":
		return opOther, 0
	case "abs", "acos", "acosh", "all-gather-done", "all-reduce-done", "asin", "asinh", "atan",
		"atanh", "bitcast-convert", "broadcast", "cbrt", "ceil", "cholesky", "count-leading-zeros",
		"collective-permute-done", "convert", "cosine", "cosh", "domain", "erf", "exponential",
		"exponential-minus-one", "fft", "floor", "get-dimension-size", "imag", "infeed", "is-finite",
		"log", "log-plus-one", "logistic", "negate", "not", "popcnt", "real", "recv", "recv-done",
		"reduce-precision", "reshape", "reverse", "rng-bit-generator", "round-nearest-afz",
		"round-nearest-even", "rsqrt", "send-done", "shuffle", "sign", "sine", "sinh", "slice", "sqrt",
		"tan", "tanh", "topk", "transpose", "trace":
		return opOther, 1
	case "add", "add-dependency", "and", "atan2", "compare", "complex", "divide", "gather",
		"maximum", "minimum", "mulhi", "multiply", "or", "outfeed", "pad", "power", "remainder", "send",
		"set-dimension-size", "shift-left", "shift-right-arithmetic", "shift-right-logical",
		"stochastic-convert", "subtract", "triangular-solve", "xor":
		return opOther, 2
	case "batch-norm-training", "clamp", "ragged-dot", "select", "select-and-scatter",
		"tuple-select":
		return opOther, 3
	case "scaled-dot":
		return opOther, 4
	case "batch-norm-grad", "batch-norm-inference":
		return opOther, 5
	case "ragged-all-to-all":
		return opOther, 6
	}
	return opUnknown, anyNumber
}

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
)

// The names of opcodes that the readers of text need as well.
const (
	customCall = "custom-call"
	asyncStart = "async-start"
	parameter  = "parameter"
)

// opcodeOf tells an opcode by its name.
func opcodeOf(name string) opcode {
	switch name {
	case parameter:
		return opParameter
	case "constant":
		return opConstant
	case "copy":
		return opCopy
	case "bitcast", "opt-barrier", "async-update", "async-done", "copy-start", "copy-done":
		return opForward
	case "tuple":
		return opTuple
	case "get-tuple-element":
		return opTupleElement
	case "while":
		return opWhile
	case "conditional":
		return opConditional
	case "call":
		return opCall
	case "fusion":
		return opFusion
	case customCall:
		return opCustomCall
	case asyncStart:
		return opAsyncStart
	}
	return opOther
}

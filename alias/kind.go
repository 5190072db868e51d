package alias

import (
	"strings"

	"aliascheck/hlo"
)

// kind is what lifetimes must tell of an instruction's opcode.
type kind uint8

const (
	isOwn       kind = iota // its values are its own
	isShared                // some may be others'
	isEnd                   // the same, of an asynchronous operation that began before
	isForwarded             // it reads nothing: its values are others'
	isBitcast               // the same
	isTuple                 // the same
	isParameter             // it reads nothing
	isConstant              // it reads nothing, and its value is its own
)

// kindOf tells an instruction's kind, with the resolver's eyes: what forward knows has
// values of others.
func kindOf(in *hlo.Instruction) kind {
	switch in.Opcode {
	case "constant":
		return isConstant
	case "parameter":
		return isParameter
	case "tuple":
		return isTuple
	case "bitcast":
		return isBitcast
	case "get-tuple-element", "opt-barrier", "add-dependency", "domain":
		return isForwarded
	case "while", "conditional", "call", "async-start":
		return isShared
	}
	if strings.HasSuffix(in.Opcode, "-done") || strings.HasSuffix(in.Opcode, "-update") {
		return isEnd
	}
	if in.Custom != nil && len(in.Custom.Declared) > 0 {
		return isShared
	}
	return isOwn
}

// owns reports whether every value of instruction o is its own.
func (l *lifetimes) owns(o int32) bool {
	switch l.kinds[o] {
	case isOwn, isConstant:
		return true
	case isParameter:
		return len(l.m.Computations[l.m.Instructions[o].Computation].Callers) == 0
	}
	return false
}

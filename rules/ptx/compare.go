package ptx

import "aliascheck/rules/ptx/syntax"

func comparisonOf(word string) (comparison, bool) {
	switch word {
	case "eq":
		return cmpEQ, true
	case "ne":
		return cmpNE, true
	case "lt", "lo":
		return cmpLT, true
	case "le", "ls":
		return cmpLE, true
	case "gt", "hi":
		return cmpGT, true
	case "ge", "hs":
		return cmpGE, true
	case "equ":
		return cmpEQU, true
	case "neu":
		return cmpNEU, true
	case "ltu":
		return cmpLTU, true
	case "leu":
		return cmpLEU, true
	case "gtu":
		return cmpGTU, true
	case "geu":
		return cmpGEU, true
	case "num":
		return cmpNUM, true
	case "nan":
		return cmpNAN, true
	}
	return 0, false
}

// comparer gives the function that compares two values of a type.
func comparer(cmp comparison, typ string, ftz bool) func(a, b uint64) bool {
	width := uint8(syntax.TypeBits(typ))
	if isFloat(typ) {
		return func(a, b uint64) bool { return compareFloats(cmp, toFloat(a, typ, ftz), toFloat(b, typ, ftz)) }
	}
	signed := isSigned(typ)
	return func(a, b uint64) bool {
		order := 0
		switch {
		case a == b:
		case signed && signExtend(a, width) < signExtend(b, width) || !signed && a < b:
			order = -1
		default:
			order = 1
		}
		return ordered(cmp, order)
	}
}

func ordered(cmp comparison, order int) bool {
	switch cmp {
	case cmpEQ, cmpEQU:
		return order == 0
	case cmpNE, cmpNEU:
		return order != 0
	case cmpLT, cmpLTU:
		return order < 0
	case cmpLE, cmpLEU:
		return order <= 0
	case cmpGT, cmpGTU:
		return order > 0
	case cmpGE, cmpGEU:
		return order >= 0
	}
	return cmp == cmpNUM
}

func compareFloats(cmp comparison, a, b float64) bool {
	if a != a || b != b {
		return cmp >= cmpEQU && cmp != cmpNUM
	}
	order := 0
	if a < b {
		order = -1
	} else if a > b {
		order = 1
	}
	return ordered(cmp, order)
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func combine(r bool, c uint64, how string) uint64 {
	switch how {
	case "and":
		return b2u(r) & c
	case "or":
		return b2u(r) | c
	case "xor":
		return b2u(r) ^ c
	}
	return b2u(r)
}

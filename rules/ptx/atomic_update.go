package ptx

import (
	"math"
	"strings"

	"aliascheck/rules/ptx/syntax"
)

// updater gives what an atomic operation stores.
func updater(how, typ string) func(old, b, c uint64) uint64 {
	bits := uint8(syntax.TypeBits(typ))
	w := widthMask(bits)
	signed := typ[0] == 's'
	if isFloat(typ) && (how == "add" || how == "min" || how == "max") {
		return floatUpdater(how, typ)
	}
	less := func(a, b uint64) bool {
		if signed {
			return signExtend(a, bits) < signExtend(b, bits)
		}
		return a < b
	}
	switch how {
	case "and":
		return func(old, b, _ uint64) uint64 { return old & b }
	case "or":
		return func(old, b, _ uint64) uint64 { return old | b }
	case "xor":
		return func(old, b, _ uint64) uint64 { return old ^ b }
	case "exch":
		return func(_, b, _ uint64) uint64 { return b }
	case "cas":
		return func(old, b, c uint64) uint64 {
			if old == b {
				return c
			}
			return old
		}
	case "add":
		return func(old, b, _ uint64) uint64 { return (old + b) & w }
	case "inc":
		return func(old, b, _ uint64) uint64 {
			if old >= b {
				return 0
			}
			return old + 1
		}
	case "dec":
		return func(old, b, _ uint64) uint64 {
			if old == 0 || old > b {
				return b
			}
			return old - 1
		}
	case "min":
		return func(old, b, _ uint64) uint64 {
			if less(b, old) {
				return b
			}
			return old
		}
	case "max":
		return func(old, b, _ uint64) uint64 {
			if less(old, b) {
				return b
			}
			return old
		}
	}
	return nil
}

func floatUpdater(how, typ string) func(old, b, c uint64) uint64 {
	elem := scalarType(typ)
	add := lanes(typ, arithOn(elem, arithAdd, false, floatMods{}))
	pick := lanes(typ, func(a, b, _ uint64) uint64 {
		x, y := toFloat(a, elem, false), toFloat(b, elem, false)
		switch {
		case x != x:
			return b
		case y != y:
			return a
		case strings.HasPrefix(how, "min"):
			return fromFloat(math.Min(x, y), elem, roundNearest)
		}
		return fromFloat(math.Max(x, y), elem, roundNearest)
	})
	if how == "add" {
		return func(old, b, _ uint64) uint64 { return add(nil, old, b, 0, 0) }
	}
	return func(old, b, _ uint64) uint64 { return pick(nil, old, b, 0, 0) }
}

package rules

import (
	"fmt"
	"strconv"

	"aliascheck/alias"
	"aliascheck/hlo"
)

// Bytes prints a size for people: 16 MiB, 1.5 KiB, 12 bytes.
func Bytes(n int64) string {
	units := [...]string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	v, u := float64(n)/1024, 0
	for v >= 1024 && u < len(units)-1 {
		v, u = v/1024, u+1
	}
	if v == float64(int64(v)) {
		return strconv.FormatInt(int64(v), 10) + " " + units[u]
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + " " + units[u]
}

// pairText prints a declared pair as HLO text does: {0}: (1, {}).
func pairText(d hlo.DeclaredPair) string {
	return fmt.Sprintf("%v: (%d, %v)", alias.Index(d.Result), d.Operand, alias.Index(d.OperandIndex))
}

// share reports whether two slices have a byte in common.
func share(a, b hlo.Slice) bool {
	return a.Allocation == b.Allocation && a.Size > 0 && b.Size > 0 &&
		a.Offset < b.Offset+b.Size && b.Offset < a.Offset+a.Size
}

func sliceOfValue(m *hlo.Module, v int32) hlo.Slice {
	value := &m.Values[v]
	if value.Allocation < 0 {
		return hlo.Slice{Allocation: -1}
	}
	return hlo.Slice{Allocation: m.Allocations[value.Allocation].Index, Offset: value.Offset, Size: value.Size}
}

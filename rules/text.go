package rules

import (
	"fmt"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/rules/replay"
)

// Bytes prints a size for people: 16 MiB, 1.5 KiB, 12 bytes.
func Bytes(n int64) string { return replay.Bytes(n) }

// pairText prints a declared pair as HLO text does: {0}: (1, {}).
func pairText(d hlo.DeclaredPair) string {
	return fmt.Sprintf("%v: (%d, %v)", alias.Index(d.Result), d.Operand, alias.Index(d.OperandIndex))
}

func sliceOfValue(m *hlo.Module, v int32) hlo.Slice {
	value := &m.Values[v]
	if value.Allocation < 0 {
		return hlo.Slice{Allocation: -1}
	}
	return hlo.Slice{Allocation: m.Allocations[value.Allocation].Index, Offset: value.Offset, Size: value.Size}
}

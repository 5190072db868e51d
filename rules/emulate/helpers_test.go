package emulate

import (
	"encoding/binary"
	"testing"

	"aliascheck/hlo"

	"github.com/stretchr/testify/require"
)

func element(t testing.TB, name string) hlo.ElementType {
	t.Helper()
	e, ok := hlo.ParseElementType(name)
	require.True(t, ok, name)
	return e
}

func int32s(data []byte) []int32 {
	var out []int32
	for ; len(data) >= 4; data = data[4:] {
		out = append(out, int32(binary.LittleEndian.Uint32(data)))
	}
	return out
}

package triton

import (
	"os"
	"path/filepath"
	"sort"
	"testing"

	"aliascheck/hlo/kernel"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// rawCall is a Triton custom call of a dump, not decoded yet.
type rawCall struct {
	Case, Name, Target string
	Config             []byte
}

func (c rawCall) request() *kernel.Request { return request(c.Target, c.Config) }

func request(target string, config []byte) *kernel.Request {
	return &kernel.Request{Target: target, Config: config}
}

// fields gives the length-delimited fields of this number.
func fields(t testing.TB, message []byte, want protowire.Number) [][]byte {
	t.Helper()
	var out [][]byte
	for len(message) > 0 {
		number, wire, n := protowire.ConsumeTag(message)
		require.GreaterOrEqual(t, n, 0)
		size := protowire.ConsumeFieldValue(number, wire, message[n:])
		require.GreaterOrEqual(t, size, 0)
		if number == want && wire == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message[n:])
			out = append(out, value)
		}
		message = message[n+size:]
	}
	return out
}

// dumpedCalls reads every Triton call of testdata straight from the wire format:
// HloProto.hlo_module.computations.instructions.
func dumpedCalls(t testing.TB) []rawCall {
	t.Helper()
	paths, err := filepath.Glob("../../../testdata/dumps/*/*after_optimizations.hlo.pb")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	sort.Strings(paths)
	var calls []rawCall
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, module := range fields(t, data, 1) {
			for _, computation := range fields(t, module, 3) {
				for _, instruction := range fields(t, computation, 2) {
					target := fields(t, instruction, 28)
					if len(target) == 0 || !IsTarget(string(target[0])) {
						continue
					}
					calls = append(calls, rawCall{Case: filepath.Base(filepath.Dir(path)),
						Name: string(fields(t, instruction, 1)[0]), Target: string(target[0]),
						Config: fields(t, instruction, 43)[0]})
				}
			}
		}
	}
	return calls
}

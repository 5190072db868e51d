package jax

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestJAXBackend asks real JAX about handlers for the CPU: of our own, and of jaxlib.
func TestJAXBackend(t *testing.T) {
	venv, library := os.Getenv("ALIASCHECK_VENV"), os.Getenv("JAXSUITE_LIBRARY")
	if venv == "" || library == "" {
		t.Skip("run by `make test-jax`, which makes a virtual environment with JAX")
	}
	suite, err := filepath.Abs(filepath.Join("..", "..", "testdata", "jaxsuite"))
	require.NoError(t, err)
	s := NewSession(Options{
		Python: filepath.Join(venv, "bin", "python"), Platform: "cpu", Paths: []string{suite},
		Imports: []string{"calls", "no_such_module"}, Trace: true, Dir: t.TempDir(),
	})
	defer func() { require.NoError(t, s.Close()) }()
	ready, err := s.Ready(context.Background())
	require.NoError(t, err)
	assert.Equal(t, "cpu", ready.Platform)
	assert.Equal(t, "only kernels on a card are traced", ready.WithoutTrace)
	require.Len(t, ready.FailedImports, 1)

	vector := Array{Type: "f32", Dims: []int64{1024}, Layout: []int64{0}}
	matrix := Array{Type: "f32", Dims: []int64{8, 8}, Layout: []int64{0, 1}}
	call := func(target, config string, operand Array, results ...Array) Request {
		return Request{
			Call:  Call{Target: target, APIVersion: 4, Config: []byte(config), Operands: []Array{operand}, Results: results},
			Pairs: []Pair{{0, 0}},
		}
	}
	for _, c := range []struct {
		name    string
		request Request
		most    int64
	}{
		{"scale", call("SuiteScale", "", vector, vector), 0},
		{"reverse", call("SuiteReverse", "", vector, vector), 512},
		{"cholesky, column-major", call("lapack_spotrf_ffi", "{uplo = 76 : ui8}", matrix, matrix, Array{Type: "s32"}), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := s.Ask(context.Background(), c.request)
			require.NoError(t, err)
			require.NotNil(t, out.Modes.Apart)
			for k, placed := range out.Modes.Apart.Placed {
				assert.True(t, placed, "result %d", k)
			}
			shared := out.Modes.Shared[Pair{0, 0}]
			require.NotNil(t, shared)
			assert.Empty(t, shared.Reason)
			assert.Equal(t, c.most, shared.Most)
			assert.Empty(t, out.Modes.Apart.Written)
		})
	}
	_, err = s.Ask(context.Background(), call("Nobody", "", vector, vector))
	assert.ErrorContains(t, err, "not registered in this process")
	_, err = s.Ask(context.Background(), call("SuiteScale", "", Array{Type: "f999", Dims: []int64{4}, Layout: []int64{0}}, vector))
	assert.ErrorContains(t, err, "cannot be made in JAX")
}

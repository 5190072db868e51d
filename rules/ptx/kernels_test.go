package ptx

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// launchOf makes a launch of the first entry of a file, or of a named one, with
// every buffer apart; trailing pointers are null.
func launchOf(t testing.TB, file, entry string, grid [3]uint32, warps uint32, shared uint32, args ...any) *Launch {
	t.Helper()
	m := parseFile(t, file)
	e := m.Entries[0]
	if entry != "" {
		e = m.Entry(entry)
		require.NotNil(t, e)
	}
	l := &Launch{Entry: e, Grid: grid, Block: [3]uint32{32 * warps, 1, 1}, DynamicShared: shared}
	for _, a := range args {
		switch a := a.(type) {
		case []byte:
			l.Buffers = append(l.Buffers, Buffer{Size: int64(len(a)), Contents: a})
			l.Args = append(l.Args, Pointer(len(l.Buffers)-1))
		case int: // bytes of unknown contents
			l.Buffers = append(l.Buffers, Buffer{Size: int64(a)})
			l.Args = append(l.Args, Pointer(len(l.Buffers)-1))
		case zeroed:
			l.Buffers = append(l.Buffers, Buffer{Size: int64(a)})
			l.Args = append(l.Args, Arg{Buffer: len(l.Buffers) - 1, Zero: int64(a)})
		case scratch:
			l.Buffers = append(l.Buffers, Buffer{Size: int64(a), Scratch: true})
			l.Args = append(l.Args, Pointer(len(l.Buffers)-1))
		case int32:
			l.Args = append(l.Args, Scalar(binary.LittleEndian.AppendUint32(nil, uint32(a))))
		default:
			t.Fatalf("argument %T", a)
		}
	}
	for len(l.Args) < len(e.Params) {
		l.Args = append(l.Args, Scalar(make([]byte, 8)))
	}
	return l
}

type zeroed int
type scratch int

func run(t testing.TB, l *Launch) *Outcome {
	t.Helper()
	o, err := Run(context.Background(), l)
	require.NoError(t, err)
	return o
}

func analysed(t testing.TB, l *Launch) *Outcome {
	t.Helper()
	o := run(t, l)
	require.True(t, o.Analysed, o.Reason)
	return o
}

func f32s(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, 4*n)
	for i := 0; i < n; i++ {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(r.NormFloat64())))
	}
	return b
}

func permutation(n int, seed uint64) []byte {
	b := make([]byte, 4*n)
	for i, p := range rand.New(rand.NewPCG(seed, 2)).Perm(n) {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(p))
	}
	return b
}

func f32at(b []byte, i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])) }

const million = 1 << 20

func sortLaunch(t testing.TB) *Launch {
	return launchOf(t, "sort_computed_map_ffi_auto-1.ptx", "", [3]uint32{4096, 4, 1}, 4, 0, 16<<20, permutation(4096, 7), 16<<20)
}

func TestVerdicts(t *testing.T) {
	g1 := [3]uint32{1024, 1, 1}
	cases := []struct {
		name     string
		l        *Launch
		op, res  int
		want     Safety
		complete bool
		from     []int
	}{
		{"scale", launchOf(t, "scale_apart.ptx", "", g1, 4, 0, 4*million, 4*million, int32(million)), 0, 1, Safe, true, nil},
		{"scale8", launchOf(t, "scale_inplace_auto_rawindex_ffi.ptx", "", g1, 8, 0, 4*million, 4*million, int32(million)), 0, 1, Safe, true, nil},
		{"axpby", launchOf(t, "axpby_inplace.ptx", "", g1, 4, 0, 4*million, 4*million, 4*million, int32(million)), 0, 2, Safe, true, nil},
		{"axpby1", launchOf(t, "axpby_inplace.ptx", "", g1, 4, 0, 4*million, 4*million, 4*million, int32(million)), 1, 2, Safe, true, nil},
		{"reverse", launchOf(t, "reverse_apart.ptx", "", g1, 4, 0, 4*million, 4*million, int32(million)), 0, 1, Unsafe, true, nil},
		{"stencil", launchOf(t, "stencil_inplace.ptx", "", g1, 4, 0, 4*million, 4*million, int32(million)), 0, 1, Unsafe, true, nil},
		{"softmax", launchOf(t, "softmax_inplace.ptx", "", [3]uint32{4096, 1, 1}, 4, 16, 16<<20, 16<<20), 0, 1, Safe, true, nil},
		{"sort", sortLaunch(t), 0, 2, Unsafe, false, []int{1}},
		{"transpose", launchOf(t, "transpose_apart.ptx", "", [3]uint32{64, 16, 1}, 4, 16384, 16<<20, 16<<20), 0, 1, Unsafe, true, nil},
		{"matmul", launchOf(t, "matmul_apart.ptx", "", [3]uint32{8, 8, 1}, 8, 49152, 2*million, 2*million, 2*million), 0, 2, Unsafe, true, nil},
		{"matmul B", launchOf(t, "matmul_apart.ptx", "", [3]uint32{8, 8, 1}, 8, 49152, 2*million, 2*million, 2*million), 1, 2, Unsafe, true, nil},
		{"mutate", launchOf(t, "operand_written.ptx", "", g1, 4, 0, 4*million, 4*million, int32(million)), 0, 1, Safe, true, nil},
		{"tma", launchOf(t, "tma_copy.ptx", "", [3]uint32{64, 16, 1}, 4, 8200, 8*million, 8*million, scratch(64*16*256)), 0, 1, Safe, true, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := analysed(t, c.l) // that the full way gives the same is tested apart
			v := o.InPlace(c.op, c.res, 0)
			require.Equal(t, c.want.String(), v.Safety.String(), "%+v %+v", v, v.Witness)
			require.Equal(t, c.complete, o.Complete)
			require.Equal(t, c.from, o.AddressFrom)
			require.Empty(t, o.OutOfBounds)
			require.Empty(t, o.LateCopies)
			require.Nil(t, o.Hang)
		})
	}
}

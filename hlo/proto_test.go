package hlo

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// realDumps are all protos of optimized modules in testdata.
func realDumps(tb testing.TB) []string {
	var paths []string
	require.NoError(tb, filepath.WalkDir("../testdata/.", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, "after_optimizations.hlo.pb") {
			paths = append(paths, path)
		}
		return err
	}))
	require.NotEmpty(tb, paths)
	return paths
}

func TestRealDumps(t *testing.T) {
	r := NewReader(Limits{})
	for _, path := range realDumps(t) {
		m, err := r.Read(Source{Path: path})
		require.NoError(t, err)
		requireSound(t, m)
		for i := range m.Values {
			assert.GreaterOrEqual(t, m.Values[i].Allocation, int32(0), "%s: a value without a slice", path)
		}
		for i := range m.Instructions {
			if in := &m.Instructions[i]; in.Opcode == customCall {
				assert.NotEmpty(t, in.Custom.Target, "%s: %s", path, in.Name)
				for _, leaf := range m.Leaves(int32(i)) {
					if v, ok := m.ValueAt(int32(i), leaf.Index); ok {
						assert.Equal(t, leaf.Bytes, m.Values[v].Size, "%s: %s %v", path, in.Name, leaf.Index)
					}
				}
			}
		}
	}
}

// TestSameThroughStream reads every real dump piece by piece, with the smallest
// literals left out, and as a compressed file: the model must not differ.
func TestSameThroughStream(t *testing.T) {
	r, s := NewReader(Limits{}), NewReader(Limits{LiteralBytes: 8})
	zipped := filepath.Join(t.TempDir(), "x.hlo.pb.gz")
	for _, path := range realDumps(t) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		whole, err := r.read(data)
		require.NoError(t, err)
		l := loader{limits: s.limits}
		require.NoError(t, l.loadStream(bytes.NewReader(data)))
		pieces, err := s.Read(Source{Path: "x.hlo.pb", member: &member{image: l.image}})
		require.NoError(t, err, path)
		requireSame(t, whole, pieces)
		require.NoError(t, os.WriteFile(zipped, gzipped(t, data), 0o600))
		pieces, err = s.Read(Source{Path: zipped})
		require.NoError(t, err)
		requireSame(t, whole, pieces)
	}
}

// requireSame compares what two readers made of one module.
func requireSame(t testing.TB, x, y *Module) {
	t.Helper()
	require.Equal(t, x.Name, y.Name)
	requireSameList(t, x.Computations, y.Computations)
	requireSameList(t, x.Values, y.Values)
	requireSameList(t, x.Allocations, y.Allocations)
	requireSameList(t, x.Donated, y.Donated)
	require.Equal(t, len(x.Instructions), len(y.Instructions))
	for i := range x.Instructions {
		v, w := x.Instructions[i], y.Instructions[i]
		requireSameList(t, x.Leaves(int32(i)), y.Leaves(int32(i)))
		requireSameList(t, x.Stack(nil, int32(i)), y.Stack(nil, int32(i)))
		v.shape, v.leaves, v.metadata, v.literal = span{}, 0, span{}, span{}
		w.shape, w.leaves, w.metadata, w.literal = span{}, 0, span{}, span{}
		require.Equal(t, v, w)
	}
}

// requireSameList compares lists; an empty one may be nil.
func requireSameList[T any](t testing.TB, x, y []T) {
	t.Helper()
	if len(x)+len(y) > 0 {
		require.Equal(t, x, y)
	}
}

func TestHugeLiteral(t *testing.T) {
	literal := message{}.bytes(1, array(5<<20)).bytes(8, bytes.Repeat([]byte{1, 2, 3, 4}, 5<<18))
	m := call()
	m.computations[0] = computation(1, 12, instruction(10, "constant", array(4), message{}.bytes(8, literal)),
		instruction(11, "constant", array(4), message{}.bytes(8, array(4))),
		instruction(12, "custom-call", array(4), message{}.ints(36, 10).str(28, "target")))
	m.more = message{}.bytes(7, schedule(1, 10, 11, 12))
	m.buffers = []message{buffer(1, 16, 10), buffer(2, 16, 11), buffer(3, 16, 12)}
	m.allocations = []message{allocation(0, 16, [3]int64{1, 0, 16}, [3]int64{3, 0, 16}), allocation(1, 16, [3]int64{2, 0, 16})}
	data := m.encode()
	path := filepath.Join(t.TempDir(), "x.hlo.pb")
	require.NoError(t, os.WriteFile(path, data, 0o600))

	r := NewReader(Limits{})
	got, err := r.Read(Source{Path: path})
	require.NoError(t, err)
	requireSound(t, got)
	assert.LessOrEqual(t, cap(r.loader.wire), wholeBytes, "the literal was read")
	for i, want := range [][]byte{literal, array(4)} {
		raw, ok := got.Literal(int32(i))
		require.True(t, ok)
		assert.True(t, bytes.Equal(want, raw))
	}
	_, ok := got.Literal(2)
	assert.False(t, ok, "a custom call has no literal")

	m.allocations[1] = allocation(1, 8, [3]int64{2, 0, 16})
	broken := m.encode()
	require.NoError(t, os.WriteFile(path, broken, 0o600))
	_, err = r.Read(Source{Path: path})
	require.ErrorContains(t, err, "HloProto.buffer_assignment.buffer_allocations[1].assigned[0] at byte")
	assert.ErrorContains(t, err, " at byte "+strconv.Itoa(bytes.LastIndex(broken, message{}.num(1, 2).num(2, 0).num(3, 16))))

	require.NoError(t, os.WriteFile(path, data[:len(data)-1], 0o600))
	_, err = r.Read(Source{Path: path})
	assert.ErrorContains(t, err, "passes the end")

	folder := files{"a.zip": string(zipped(t, [2]string{"m.hlo.pb", string(data)}))}.write(t)
	for src, err := range Find([]string{folder}, Limits{}) {
		require.NoError(t, err)
		assert.Less(t, len(src.member.wire), 1000, "the literal was kept")
		got, err := r.Read(src)
		require.NoError(t, err)
		_, ok := got.Literal(0)
		assert.False(t, ok, "it cannot be read again")
		_, ok = got.Literal(1)
		assert.True(t, ok)
	}
}

// TestFusionInsideFusion: a custom call in a fusion needs the fusions around it, which
// are not decoded otherwise.
func TestFusionInsideFusion(t *testing.T) {
	fuse := func(id, of int64) message {
		return instruction(id, "fusion", array(4), message{}.ints(36, id-1).ints(38, of))
	}
	p := func(id int64) message { return instruction(id, "parameter", array(4), nil) }
	m := module{
		computations: []message{
			computation(4, 41, p(40), instruction(41, "negate", array(4), message{}.ints(36, 40))).num(7, 1),
			computation(1, 11, p(10), instruction(11, "custom-call", array(4), message{}.ints(36, 10).str(28, "target"))).num(7, 1),
			computation(2, 21, p(20), fuse(21, 1)).num(7, 1),
			computation(3, 32, p(30), fuse(31, 2), fuse(32, 4)),
		},
		entry:       3,
		more:        message{}.bytes(7, schedule(3, 30, 31, 32)),
		buffers:     []message{buffer(1, 16, 30), buffer(2, 16, 31), buffer(3, 16, 32)},
		allocations: []message{allocation(0, 16, [3]int64{1, 0, 16}), allocation(1, 16, [3]int64{2, 0, 16}), allocation(2, 16, [3]int64{3, 0, 16})},
	}
	got := accept(t, m.encode())
	assert.Len(t, got.Instructions, 9)
	assert.Len(t, got.Computations[1].Callers, 1)
	assert.Len(t, got.Computations[2].Callers, 1)

	m.computations[1] = computation(1, 11, p(10), instruction(11, "negate", array(4), message{}.ints(36, 10))).num(7, 1)
	got = accept(t, m.encode())
	assert.Len(t, got.Instructions, 3, "fusions without custom calls are not decoded")
	assert.Equal(t, int32(-1), got.Computations[1].Root)
}

// TestReducerOfAFusion: what a fusion calls is left out with the buffers that each of its
// threads has, unless something else calls it or such a buffer is not a thread's own.
func TestReducerOfAFusion(t *testing.T) {
	p := func(id int64) message { return instruction(id, "parameter", array(4), nil) }
	own := func(index int64) message { return allocation(index, 16, [3]int64{index + 1, 0, 16}).num(3, 1) }
	m := module{
		computations: []message{
			computation(1, 11, p(10), instruction(11, "negate", array(4), message{}.ints(36, 10))),
			computation(2, 21, p(20), instruction(21, "reduce", array(4), message{}.ints(36, 20).ints(38, 1))).num(7, 1),
			computation(3, 31, p(30), instruction(31, "fusion", array(4), message{}.ints(36, 30).ints(38, 2))),
		},
		entry:   3,
		more:    message{}.bytes(7, schedule(3, 30, 31)),
		buffers: []message{buffer(1, 16, 10), buffer(2, 16, 11), buffer(3, 16, 30), buffer(4, 16, 31)},
		allocations: []message{own(0), own(1),
			allocation(2, 16, [3]int64{3, 0, 16}), allocation(3, 16, [3]int64{4, 0, 16})},
	}
	got := accept(t, m.encode())
	assert.Len(t, got.Instructions, 2)
	assert.Len(t, got.Values, 2)
	assert.Empty(t, got.Allocations[1].Values)
	assert.Equal(t, int64(3), got.Values[got.Allocations[2].Values[0]].ID)

	shared := m
	shared.allocations = slices.Clone(m.allocations)
	shared.allocations[1] = allocation(1, 16, [3]int64{2, 0, 16})
	got = accept(t, shared.encode())
	assert.Len(t, got.Instructions, 6, "a buffer that others can see")
	assert.Len(t, got.Values, 4)

	m.computations[2] = computation(3, 31, p(30), instruction(31, "reduce", array(4), message{}.ints(36, 30).ints(38, 1)))
	got = accept(t, m.encode())
	assert.Len(t, got.Instructions, 4, "an instruction that runs as it is calls it")
	assert.Len(t, got.Values, 4)

	m.computations[0] = computation(1, 11, p(10), instruction(12, "negate", array(4), message{}.ints(36, 10)))
	_, err := NewReader(Limits{}).read(m.encode())
	assert.ErrorContains(t, err, "x.hlo.pb")
}

// TestAsyncStart: the instruction that starts a custom call says what is declared; the
// call that it wraps says what is called.
func TestAsyncStart(t *testing.T) {
	declared := message{}.bytes(74, message{}.ints(1, 1).num(2, 0).ints(3, 2, 1))
	shape := tuple(tuple(array(4)), array(4), array())
	m := module{
		computations: []message{
			computation(1, 11, instruction(10, "parameter", array(4), nil),
				instruction(11, "custom-call", array(4), message{}.ints(36, 10).str(28, "target").str(43, "config").num(77, 4))),
			computation(2, 22, instruction(20, "parameter", array(4), nil),
				instruction(21, "async-start", shape, message{}.ints(36, 20).ints(38, 1).with(declared)),
				instruction(22, "async-done", array(4), message{}.ints(36, 21))),
		},
		entry:       2,
		more:        message{}.bytes(7, schedule(2, 20, 21, 22)).bytes(8, message{}.bytes(1, message{}.num(2, 0).ints(3, 4))).bytes(18, message{}.bytes(1, message{}.num(1, 3))),
		buffers:     []message{buffer(1, 16, 20)},
		allocations: []message{allocation(0, 16, [3]int64{1, 0, 16})},
	}
	got := accept(t, m.encode())
	want := []DeclaredPair{{Result: ShapeIndex{1}, Operand: 0, OperandIndex: ShapeIndex{2, 1}}}
	assert.Equal(t, &CustomCall{Target: "target", Config: []byte("config"), APIVersion: 4, Declared: want}, got.Instructions[1].Custom)
	assert.Equal(t, "target", got.Instructions[4].Custom.Target)
	leaves := got.Leaves(1)
	require.Len(t, leaves, 3)
	assert.Equal(t, Leaf{Index: ShapeIndex{0, 0}, Element: F32, Dims: []int64{4}, Bytes: 16}, leaves[0])
	assert.Equal(t, ShapeIndex{2}, leaves[2].Index)
	assert.Equal(t, []ParameterLeaf{
		{Index: ShapeIndex{4}, Aliased: true, Output: ShapeIndex{}}, {Parameter: 3, Index: ShapeIndex{}, Output: ShapeIndex{}},
	}, got.Donated)
}

// TestReaderKeepsLittle: a worker's reader must not keep more than a few times what the
// largest module has, and must reuse it.
func TestReaderKeepsLittle(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	path := one(t, "transformer_step")
	before := heap()
	r := NewReader(Limits{})
	read := func() {
		_, err := r.Read(Source{Path: path})
		require.NoError(t, err)
	}
	read()
	assert.Less(t, heap()-before, uint64(6<<20))
	assert.Less(t, testing.AllocsPerRun(10, read), 10.0)
	runtime.KeepAlive(r)
}

// TestValuesByOffset: the values of an allocation stand by offset, those of one offset
// as the module lists them, also where offsets are too big to be packed with them.
func TestValuesByOffset(t *testing.T) {
	for _, far := range []int64{1 << 20, 1 << 61} {
		m := call()
		m.computations = []message{computation(1, 13,
			instruction(10, "parameter", array(4), nil),
			instruction(11, "negate", array(4), message{}.ints(36, 10)),
			instruction(12, "negate", array(4), message{}.ints(36, 11)),
			instruction(13, "negate", array(4), message{}.ints(36, 12)))}
		m.more = message{}.bytes(7, schedule(1, 10, 11, 12, 13))
		m.buffers = []message{buffer(1, 16, 10), buffer(2, 16, 11), buffer(3, 16, 12), buffer(4, 16, 13)}
		m.allocations = []message{allocation(0, 1<<62, [3]int64{1, far + 16, 16}, [3]int64{2, far, 16}, [3]int64{3, 0, 16}, [3]int64{4, far, 16})}
		assert.Equal(t, []int32{2, 1, 3, 0}, accept(t, m.encode()).Allocations[0].Values)
	}
}

// TestUnpackedLists: numbers of a list that stand one by one take no more of the limit
// than packed ones.
func TestUnpackedLists(t *testing.T) {
	const id = 1 << 62 // nine bytes wide
	m := call()
	operands := message{}
	for range 5000 {
		operands = operands.num(36, id)
	}
	m.computations = []message{computation(1, 11,
		instruction(id, "parameter", array(4), nil),
		instruction(11, "custom-call", array(4), operands.str(28, "target")))}
	m.more = message{}.bytes(7, schedule(1, id, 11))
	m.buffers[0] = buffer(1, 16, id)
	got, err := NewReader(Limits{ModelBytes: 5000*idBytes + 10000}).read(m.encode())
	require.NoError(t, err)
	assert.Len(t, got.Instructions[1].Operands, 5000)
}

package hlo

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// smallest is the real dump with the fewest bytes.
func smallest(tb testing.TB) []byte {
	data, err := os.ReadFile(one(tb, "histogram"))
	require.NoError(tb, err)
	return data
}

func TestTruncatedAnywhere(t *testing.T) {
	data := smallest(t)
	r := NewReader(Limits{})
	m, err := r.read(data)
	require.NoError(t, err)
	requireSound(t, m)
	for n := range data {
		_, err := r.read(data[:n:n])
		require.Error(t, err, "%d bytes of %d", n, len(data))
		require.Contains(t, err.Error(), "x.hlo.pb", "%d bytes", n)
	}
	path := filepath.Join(t.TempDir(), "cut.hlo.pb")
	for n := 0; n < len(data); n += 97 {
		require.NoError(t, os.WriteFile(path, data[:n], 0o600))
		_, err := r.Read(Source{Path: path})
		require.ErrorContains(t, err, path, "%d bytes", n)
	}
}

func TestFlippedBits(t *testing.T) {
	data := smallest(t)
	r := NewReader(Limits{})
	for i := range data {
		bit := byte(1) << (i % 8)
		data[i] ^= bit
		if m, err := r.read(data); err == nil {
			requireSound(t, m)
		}
		data[i] ^= bit
	}
}

func TestRefuses(t *testing.T) {
	body := func(m *module) *message { return &m.computations[0] }
	tests := []struct {
		name string
		edit func(*module)
		want string
	}{
		{"an offset before the allocation", func(m *module) {
			m.allocations[0] = allocation(0, 16, [3]int64{1, -4, 16})
		}, "x.hlo.pb: HloProto.buffer_assignment.buffer_allocations[0].assigned[0] at byte"},
		{"an offset behind the allocation", func(m *module) {
			m.allocations[0] = allocation(0, 16, [3]int64{1, 4, 16})
		}, "lies outside its allocation"},
		{"an offset that overflows", func(m *module) {
			m.allocations[0] = allocation(0, 16, [3]int64{1, math.MaxInt64, 16})
		}, "lies outside its allocation"},
		{"a negative size", func(m *module) {
			m.buffers[0] = buffer(1, -16, 10)
			m.allocations[0] = allocation(0, 16, [3]int64{1, 0, -16})
		}, "lies outside its allocation"},
		{"a negative allocation", func(m *module) { m.allocations[1] = allocation(1, -1) }, "allocation 1 of -1 bytes"},
		{"a misnumbered allocation", func(m *module) { m.allocations[1] = allocation(7, 16) }, "allocation 7"},
		{"two sizes of one value", func(m *module) {
			m.allocations[0] = allocation(0, 16, [3]int64{1, 0, 8})
		}, "value 1 has 16 bytes, but is assigned 8"},
		{"a value assigned twice", func(m *module) {
			m.allocations[1] = allocation(1, 32, [3]int64{2, 0, 16}, [3]int64{1, 16, 16})
		}, "value 1 is assigned twice"},
		{"a value that is not defined", func(m *module) {
			m.allocations[1] = allocation(1, 16, [3]int64{3, 0, 16})
		}, "value id 3 is assigned but not defined"},
		{"a value of no instruction", func(m *module) { m.buffers[0] = buffer(1, 16, 12) }, "instruction id 12, which is not there"},
		{"a value outside its shape", func(m *module) { m.buffers[0] = buffer(1, 16, 10, 5) }, "not in the shape"},
		{"a value before its shape", func(m *module) { m.buffers[0] = buffer(1, 16, 10, -1) }, "not in the shape"},
		{"two values in one place", func(m *module) { m.buffers[0] = buffer(1, 16, 11) }, "are defined in one place"},
		{"two values of one id", func(m *module) { m.buffers[0] = buffer(2, 16, 10) }, "value id 2 stands twice"},
		{"no buffer for a result", func(m *module) {
			m.buffers, m.allocations = m.buffers[:1], m.allocations[:1]
		}, "the buffer assignment is not whole"},
		{"a value that was given no bytes", func(m *module) { m.allocations[1] = allocation(1, 16) },
			`value 2 of "custom-call" is given no allocation`},
		{"no allocations at all", func(m *module) { m.allocations = nil }, `value 1 of "parameter" is given no allocation`},
		{"a custom call without a target", func(m *module) {
			*body(m) = computation(1, 11, instruction(10, "parameter", array(4), nil),
				instruction(11, "custom-call", array(4), message{}.ints(36, 10)))
		}, `custom call "custom-call" has no target`},
		{"an operand that its layouts do not have", func(m *module) {
			*body(m) = computation(1, 11, instruction(10, "parameter", array(4), nil),
				instruction(11, "custom-call", array(4), message{}.ints(36, 10, 10).str(28, "target").bytes(57, array(4))))
		}, `has 2 operands, and layouts for 1`},
		{"an array that is larger than its value", func(m *module) {
			*body(m) = computation(1, 11, instruction(10, "parameter", array(5), nil),
				instruction(11, "custom-call", array(4), message{}.ints(36, 10).str(28, "target")))
		}, `value 1 of "parameter" has 16 bytes, and its array 20`},
		{"an array that is smaller than its value", func(m *module) {
			*body(m) = computation(1, 11, instruction(10, "parameter", array(3), nil),
				instruction(11, "custom-call", array(4), message{}.ints(36, 10).str(28, "target")))
		}, `value 1 of "parameter" has 16 bytes, and its array 12`},
		{"an entry that has another name", func(m *module) { m.more = m.more.str(2, "main") },
			`the entry computation is "c" by its id, and "main" by its name`},
		{"a name that is no name", func(m *module) {
			*body(m) = computation(1, 10, message{}.str(1, strings.Repeat("n", maxName+1)))
		}, "name is longer than 65536 bytes"},
		{"an opcode that XLA does not have", func(m *module) {
			*body(m) = computation(1, 11, instruction(10, "parameter", array(4), nil),
				instruction(11, "custol-call", array(4), message{}.ints(36, 10).str(28, "target")))
		}, `"custol-call" has the opcode "custol-call", which XLA does not have`},
		{"such an opcode in a fusion", func(m *module) {
			inside := computation(1, 11, instruction(10, "parameter", array(4), nil),
				instruction(11, "custol-call", array(4), message{}.ints(36, 10).str(28, "target"))).num(7, 1)
			entry := computation(2, 21, instruction(20, "parameter", array(4), nil),
				instruction(21, "fusion", array(4), message{}.ints(36, 20).ints(38, 1)))
			m.computations, m.entry, m.more = []message{inside, entry}, 2, message{}.bytes(7, schedule(2, 20, 21))
			m.buffers = []message{buffer(1, 16, 20), buffer(2, 16, 21)}
		}, `HloProto.hlo_module.computations[0].instructions[1].name at byte`},
		{"an operand that is missing", func(m *module) {
			*body(m) = computation(1, 11, instruction(10, "parameter", array(4), nil),
				instruction(11, "negate", array(4), nil))
		}, `negate "negate" has 0 operands, not 1`},
		{"an entry that is not there", func(m *module) { m.entry = 2 }, "entry computation id 2"},
		{"a root that is not there", func(m *module) { *body(m) = body(m).num(6, 12) }, "root id 12"},
		{"two computations of one id", func(m *module) {
			m.computations = append(m.computations, m.computations[0])
		}, "computation id 1 stands twice"},
		{"an operand that is not there", func(m *module) {
			*body(m) = computation(1, 10, instruction(10, "copy", array(4), message{}.ints(36, 12)))
		}, "x.hlo.pb: HloProto.hlo_module.computations[0].instructions[0]"},
		{"an instruction that is its own operand", func(m *module) {
			*body(m) = computation(1, 10, instruction(10, "copy", array(4), message{}.ints(36, 10)))
		}, "operand id 10 is no instruction before its user"},
		{"a computation that calls itself", func(m *module) {
			*body(m) = computation(1, 10, instruction(10, "call", array(4), message{}.ints(38, 1)))
			m.more, m.buffers, m.allocations = nil, nil, nil
		}, "does not stand before it"},
		{"a computation that is not there", func(m *module) {
			*body(m) = computation(1, 10, instruction(10, "call", array(4), message{}.ints(38, 5)))
		}, "called computation id 5"},
		{"a schedule that leaves one out", func(m *module) {
			m.more = message{}.bytes(7, schedule(1, 10))
		}, "has 1 instructions of 2"},
		{"a schedule with one twice", func(m *module) {
			m.more = message{}.bytes(7, schedule(1, 10, 10))
		}, "stands twice"},
		{"two schedules", func(m *module) {
			m.more = m.more.bytes(7, schedule(1, 10, 11))
		}, "has two schedules"},
		{"a dimension below zero", func(m *module) {
			*body(m) = computation(1, 10, instruction(10, "iota", array(-4), nil))
			m.more, m.buffers, m.allocations = nil, nil, nil
		}, "size is negative or does not fit"},
		{"dimensions that overflow", func(m *module) {
			*body(m) = computation(1, 10, instruction(10, "iota", array(1<<40, 1<<40), nil))
			m.more, m.buffers, m.allocations = nil, nil, nil
		}, "HloProto.hlo_module.computations[0].instructions[0].shape"},
		{"an element of a tuple that is none", func(m *module) {
			*body(m) = computation(1, 11, instruction(10, "parameter", array(4), nil),
				instruction(11, "get-tuple-element", array(4), message{}.ints(36, 10)))
			m.more, m.buffers, m.allocations = nil, nil, nil
		}, "do not fit it"},
		{"parameter numbers with a gap", func(m *module) {
			*body(m) = computation(1, 10, instruction(10, "parameter", array(4), message{}.num(9, 1)))
			m.more, m.buffers, m.allocations = nil, nil, nil
		}, "parameter number 1"},
		{"scattered parts of a repeated field", func(m *module) {
			*body(m) = computation(1, 11, instruction(10, "parameter", array(4), nil),
				instruction(11, "copy", array(4), message{}.num(36, 10).num(37, 10).num(36, 10)))
		}, "parts of a repeated field"},
		{"a group", func(m *module) { m.more = append(m.more, 0x4b) }, "wire type is none that XLA writes"},
		{"an entry that is a fusion", func(m *module) {
			*body(m) = computation(1, 10).num(7, 1)
			m.buffers, m.allocations = nil, nil
		}, "the entry computation is a fusion"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := call()
			accept(t, m.encode())
			test.edit(&m)
			_, err := NewReader(Limits{}).read(m.encode())
			assert.ErrorContains(t, err, test.want)
			assert.ErrorContains(t, err, "x.hlo.pb")
		})
	}
}

func TestDeepNesting(t *testing.T) {
	const deep = 100_000
	var heads []message
	for size := 0; len(heads) < deep; {
		head := message{}.num(2, int64(TupleType))
		head = protowire.AppendVarint(protowire.AppendTag(head, 4, protowire.BytesType), uint64(size))
		heads = append(heads, head)
		size += len(head)
	}
	slices.Reverse(heads)
	shape := slices.Concat(heads...)
	m := call()
	m.computations[0] = computation(1, 10, instruction(10, "parameter", shape, nil))
	m.more, m.buffers, m.allocations = nil, nil, nil
	_, err := NewReader(Limits{}).read(m.encode())
	assert.ErrorContains(t, err, "tuples nest too deep")

	m.computations = nil
	for i := range int64(deep) {
		in := instruction(1000+i, "constant", array(), nil)
		if i > 0 {
			in = instruction(1000+i, "call", array(), message{}.ints(38, i-1))
		}
		m.computations = append(m.computations, computation(i, 1000+i, in))
	}
	m.entry = deep - 1
	_, err = NewReader(Limits{}).read(m.encode())
	assert.ErrorContains(t, err, "calls nest deeper than 100")
}

// TestMemoryIsBounded: a few bytes of a hostile file stand for a hundred of the model.
func TestMemoryIsBounded(t *testing.T) {
	many := func(field protowire.Number, content message) message {
		return bytes.Repeat(message{}.bytes(field, content), 1_000_000)
	}
	tests := map[string]func(m *module){
		"instructions":      func(m *module) { m.computations[0] = m.computations[0].with(many(2, nil)) },
		"computations":      func(m *module) { m.more = m.more.with(many(3, nil)) },
		"values":            func(m *module) { m.assignment = many(1, nil) },
		"allocations":       func(m *module) { m.assignment = many(3, nil) },
		"assigned":          func(m *module) { m.assignment = message{}.bytes(3, many(9, nil)) },
		"donated":           func(m *module) { m.more = m.more.bytes(8, many(1, nil)) },
		"schedules":         func(m *module) { m.more = m.more.bytes(7, many(1, nil)) },
		"file names":        func(m *module) { m.more = m.more.bytes(17, many(1, nil)) },
		"frames":            func(m *module) { m.more = m.more.bytes(17, many(4, nil)) },
		"ids":               func(m *module) { m.more = m.more.bytes(7, schedule(1, make([]int64, 1_000_000)...)) },
		"ids in many parts": func(m *module) { m.assignment = message{}.bytes(3, bytes.Repeat(message{}.num(10, 1), 1_000_000)) },
		"declared pairs": func(m *module) {
			m.computations[0] = computation(1, 10, instruction(10, "custom-call", array(4), many(74, nil)))
		},
		"leaves": func(m *module) {
			m.computations[0] = computation(1, 10, instruction(10, "iota", message{}.num(2, int64(TupleType)).with(many(4, array())), nil))
			m.more, m.buffers, m.allocations = nil, nil, nil
		},
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			m := call()
			edit(&m)
			data := m.encode()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := NewReader(Limits{ModelBytes: 1 << 20}).read(data)
			runtime.ReadMemStats(&after)
			require.Error(t, err)
			assert.Regexp(t, "more memory than the limit|too many elements", err.Error())
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
		})
	}
}

func TestStackOfCyclicFrames(t *testing.T) {
	m := call()
	frames := message{}.str(1, "a.py").str(2, "f").bytes(3, message{}.num(1, 1).num(2, 1).num(3, 7)).
		bytes(4, message{}.num(1, 1).num(2, 2)).bytes(4, message{}.num(1, 1).num(2, 1))
	m.more = m.more.bytes(17, frames)
	m.computations[0] = computation(1, 11, instruction(10, "parameter", array(4), nil),
		instruction(11, "custom-call", array(4), message{}.ints(36, 10).str(28, "t").bytes(7, message{}.str(2, "op").num(15, 1))))
	got := accept(t, m.encode())
	stack := got.Stack(nil, 1)
	assert.Len(t, stack, maxStack)
	assert.Equal(t, Frame{File: "a.py", Function: "f", Line: 7}, stack[0])
	assert.Equal(t, "op", got.OpName(1))

	m.more = message{}.bytes(7, schedule(1, 10, 11)).bytes(17, message{}.bytes(4, message{}.num(1, 9).num(2, 1)))
	assert.Empty(t, accept(t, m.encode()).Stack(nil, 1), "a cycle of frames without a place")
}

func TestShrinkingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", 100)), 0o600))
	for size, want := range map[int64]error{101: errShrank, 99: errGrew, 100: nil} {
		f, _, err := openRegular(path)
		require.NoError(t, err)
		_, err = readWhole(nil, f, size)
		assert.Equal(t, want, err)
		require.NoError(t, f.Close())
		whole, err := readWhole(nil, iotest.HalfReader(strings.NewReader(strings.Repeat("x", 100))), size)
		if want != errGrew { // what comes in pieces is not asked for more than it had
			assert.Equal(t, want, err)
			assert.True(t, err != nil || len(whole) == 100)
		}
	}
	data := call().encode()
	for size, want := range map[int64]error{int64(len(data)) + 1: errShrank, int64(len(data)) - 1: nil} {
		l := loader{limits: Limits{}.orDefault(), in: strings.NewReader(string(data))}
		err := l.load(size)
		if want != nil {
			assert.ErrorIs(t, err, want)
		}
		assert.Error(t, err)
	}
}

func TestFileOverLimit(t *testing.T) {
	path := one(t, "transformer_step")
	_, err := NewReader(Limits{FileBytes: 1 << 20}).Read(Source{Path: path})
	assert.ErrorContains(t, err, "more than 1048576 bytes")
	text := strings.TrimSuffix(path, ".hlo.pb")
	pair := Source{Path: text + ".txt", Text: true, Assignment: text + "-buffer-assignment.txt"}
	_, err = NewReader(Limits{FileBytes: 1 << 20}).Read(pair)
	assert.ErrorContains(t, err, "over the limit of 1048576")
}

// TestGiantAmongSmall: what one giant took is given back.
func TestGiantAmongSmall(t *testing.T) {
	m := call()
	m.more = m.more.bytes(99, make([]byte, 2*keptBytes)) // a field that nobody knows
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, m.encode(), 0o600))
	r := NewReader(Limits{})
	_, err := r.Read(Source{Path: path})
	require.NoError(t, err)
	assert.Greater(t, cap(r.loader.wire), keptBytes)
	_, err = r.Read(Source{Path: one(t, "histogram")})
	require.NoError(t, err)
	assert.Less(t, cap(r.loader.wire), 1<<20)
}

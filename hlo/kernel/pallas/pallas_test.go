package pallas

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"aliascheck/hlo/kernel"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// files are companions in memory.
type files struct {
	text  map[string]string
	fails string // the name that cannot be read
	reads *int
}

func (f *files) Names(prefix string) ([]string, error) {
	var out []string
	for name := range f.text {
		if strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (f *files) Read(name string, most int64) ([]byte, error) {
	if f.reads != nil {
		*f.reads++
	}
	text, ok := f.text[name]
	switch {
	case name == f.fails:
		return nil, errors.New(name + ": it is damaged")
	case !ok:
		return nil, fmt.Errorf("%s: no such file", name)
	case int64(len(text)) > most:
		return nil, fmt.Errorf("%s: too long", name)
	}
	return []byte(text), nil
}

const (
	prefix   = "module_0001.jit_loop"
	metadata = `thunk_metadata {
  thunk_info {
  }
  thunk_kind: "kSequential"
}
thunk_metadata {
  thunk_info {
    profile_annotation: "pallas_call.8"
    thunk_id: 2
  }
  thunk_kind: "kCustomKernel"
}
thunk_metadata {
  thunk_info {
    profile_annotation: "pallas_call.9"
    thunk_id: 10
  }
  thunk_kind: "kCustomKernel"
}
thunk_metadata {
  thunk_info {
    profile_annotation: "pallas_call.7"
  }
  thunk_kind: "kCustomKernel"
}
thunk_metadata {
  thunk_info {
    profile_annotation: "copy.1"
    thunk_id: 10
  }
  thunk_kind: "kCopy"
}
`
	sequence = `000: kCustomKernel [source | sink] scale__1 grid: [4096, 2, 1] threads: [128, 1, 1]  shared_memory: 0 bytes
002: kCustomKernel [source       | next=003 (1)] scale grid: [4096, 1, 1] threads: [128, 1, 1]  shared_memory: 16 bytes
005: kWhile        [prev=004 (1) | next=009 (1)]   
condition:
  body:
    010: kCustomKernel [source | sink] inloop grid: [8, 4, 1] threads: [256, 1, 1] cluster: [2, 4, 1] shared_memory: 81920 bytes
`
)

func ptx(entry string) string {
	return ".version 8.0\n.target sm_90a\n.address_size 64\n\n.visible .entry " + entry + "(\n\t.param .u64 p\n)\n{ ret; }\n"
}

func dump() *files {
	return &files{text: map[string]string{
		prefix + ".thunk_metadata.txt": metadata, prefix + ".thunk_sequence.txt": sequence,
		prefix + ".1.ptx": ptx("scale"), prefix + ".3.ptx": ptx("scale__1"), prefix + ".10.ptx": ptx("inloop"), prefix + ".11.ptx": "",
		prefix + ".0.ir-no-opt.ll": ".entry scale(", "module_0001.jit_loop2.1.ptx": ptx("scale"),
	}}
}

func request(instruction string, f kernel.Files) *kernel.Request {
	array := []kernel.Array{{Element: "f32", Dims: []int64{1 << 20}, Bytes: 4 << 20}}
	return &kernel.Request{Target: Target, Config: []byte(`{grid_x = 1 : i32, name = "scale", num_warps = 4 : i32}`),
		Instruction: instruction, Operands: array, Results: array, Prefix: prefix, Files: f}
}

func decode(t *testing.T, r *kernel.Request) *kernel.Call {
	t.Helper()
	call, err := Source().New(kernel.Options{}).Decode(r)
	require.NoError(t, err)
	assert.Equal(t, "pallas", call.Source)
	assert.Equal(t, "scale", call.Name)
	return call
}

func TestDecode(t *testing.T) {
	two := []kernel.Param{{Kind: kernel.Pointer, Buffer: 0}, {Kind: kernel.Pointer, Buffer: 1}}
	for instruction, want := range map[string]kernel.Configuration{
		"pallas_call.8": {Entry: "scale", File: prefix + ".1.ptx", Grid: [3]uint32{4096, 1, 1}, Block: [3]uint32{128, 1, 1}, Cluster: [3]uint32{1, 1, 1}, Shared: 16},
		"pallas_call.7": {Entry: "scale__1", File: prefix + ".3.ptx", Grid: [3]uint32{4096, 2, 1}, Block: [3]uint32{128, 1, 1}, Cluster: [3]uint32{1, 1, 1}},
		"pallas_call.9": {Entry: "inloop", File: prefix + ".10.ptx", Grid: [3]uint32{8, 4, 1}, Block: [3]uint32{256, 1, 1}, Cluster: [3]uint32{2, 4, 1}, Shared: 81920},
	} {
		t.Run(instruction, func(t *testing.T) {
			want.PTX, want.Kernel, want.Capability, want.Params = []byte(ptx(want.Entry)), "scale", 90, two
			call := decode(t, request(instruction, dump()))
			assert.Empty(t, call.Problem)
			assert.Equal(t, []kernel.Configuration{want}, call.Configurations)
		})
	}
}

func TestProblems(t *testing.T) {
	without := func(names ...string) *files {
		f := dump()
		for _, name := range names {
			delete(f.text, prefix+name)
		}
		return f
	}
	with := func(name, text string) *files {
		f := dump()
		f.text[prefix+name] = text
		return f
	}
	for _, tt := range []struct {
		name  string
		files kernel.Files
		call  string
		want  string
	}{
		{"no files", nil, "pallas_call.8", "add --xla_dump_emitter_re=ptx"},
		{"no PTX", without(".1.ptx", ".3.ptx", ".10.ptx", ".11.ptx"), "pallas_call.8", "add --xla_dump_emitter_re=ptx"},
		{"no metadata", without(".thunk_metadata.txt"), "pallas_call.8", "module_0001.jit_loop.thunk_metadata.txt is not in the dump"},
		{"no sequence", without(".thunk_sequence.txt"), "pallas_call.8", "module_0001.jit_loop.thunk_sequence.txt is not in the dump"},
		{"not in the metadata", dump(), "pallas_call.1", "its launch is not in module_0001.jit_loop.thunk_sequence.txt"},
		{"a copy", dump(), "copy.1", "its launch is not in"},
		{"two of one name", with(".7.ptx", ptx("scale")), "pallas_call.8", "module_0001.jit_loop.1.ptx and module_0001.jit_loop.7.ptx both have a kernel scale"},
		{"two kernels for one call", with(".thunk_metadata.txt", strings.ReplaceAll(metadata, "call.9", "call.8")), "pallas_call.8", "more than one kernel for it: scale and inloop"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call := decode(t, request(tt.call, tt.files))
			assert.Contains(t, call.Problem, tt.want)
			assert.Empty(t, call.Configurations)
		})
	}
}

// TestLostPTX: a module of which there is PTX has that of every kernel that it launches.
func TestLostPTX(t *testing.T) {
	f := dump()
	delete(f.text, prefix+".1.ptx")
	_, err := Source().New(kernel.Options{}).Decode(request("pallas_call.8", f))
	assert.EqualError(t, err, prefix+".thunk_sequence.txt launches scale, and no file of the module's PTX has an entry of this name")
}

func TestDamage(t *testing.T) {
	for _, tt := range []struct{ name, file, from, to, want string }{
		{"grid of words", ".thunk_sequence.txt", "4096, 1, 1", "4096, x, 1", `.thunk_sequence.txt: line 2: "4096, x, 1" is no launch's shape`},
		{"grid of two", ".thunk_sequence.txt", "4096, 1, 1", "4096, 1", "line 2: \"4096, 1\" is no launch's shape"},
		{"grid too large", ".thunk_sequence.txt", "4096, 1, 1", "4294967296, 1, 1", "is no launch's shape"},
		{"negative shared memory", ".thunk_sequence.txt", ": 16 bytes", ": -16 bytes", `line 2: shared memory of "-16" bytes`},
		{"cut", ".thunk_sequence.txt", "threads: [256", "", "line 6: a kernel without a launch"},
		{"a word more", ".thunk_sequence.txt", "cluster: [2, 4, 1] ", "turbo: 9 ", `line 6: "turbo: 9" where a cluster may be`},
		{"thunk twice", ".thunk_sequence.txt", "002: ", "000: ", "line 2: a second thunk 0"},
		{"no number", ".thunk_metadata.txt", "thunk_id: 2", "thunk_id: two", `.thunk_metadata.txt: line 9: "two" is no thunk's number`},
		{"no name", ".thunk_metadata.txt", `"pallas_call.8"`, `"pallas`, "line 8:"},
		{"open", ".thunk_metadata.txt", "kCopy\"\n}", "kCopy\"", "the text ends inside of braces"},
		{"closed", ".thunk_metadata.txt", "kCopy\"\n}", "kCopy\"\n}\n}", "a brace too many"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := dump()
			text := f.text[prefix+tt.file]
			require.Contains(t, text, tt.from)
			f.text[prefix+tt.file] = strings.Replace(text, tt.from, tt.to, 1)
			_, err := Source().New(kernel.Options{}).Decode(request("pallas_call.8", f))
			require.ErrorContains(t, err, tt.want)
			assert.ErrorContains(t, err, prefix)
		})
	}
	f := dump()
	f.fails = prefix + ".3.ptx"
	_, err := Source().New(kernel.Options{}).Decode(request("pallas_call.8", f))
	require.EqualError(t, err, prefix+".3.ptx: it is damaged")
	_, err = Source().New(kernel.Options{}).Decode(&kernel.Request{Target: Target, Config: []byte("{}")})
	require.ErrorContains(t, err, "kernel call of Pallas")
}

// TestKeeps holds that the files of a module are read once for all of its calls.
func TestKeeps(t *testing.T) {
	f, reads := dump(), 0
	f.reads = &reads
	d := Source().New(kernel.Options{})
	for range 5 {
		_, err := d.Decode(request("pallas_call.8", f))
		require.NoError(t, err)
	}
	assert.Equal(t, 2+4+5, reads, "two texts, every PTX once, and that of each call")
}

// TestMetadataProto reads the list as a proto, which XLA writes where it is to dump
// protos only.
func TestMetadataProto(t *testing.T) {
	const proto = "\n\x22\n\x11\n\rpallas_call.8\x18\x02\x12\rkCustomKernel" + "\n\x14\n\x0b\n\x07copy.21\x18\x01\x12\x05kCopy" +
		"\n\x20\n\x0f\n\rpallas_call.7\x12\rkCustomKernel"
	got, err := readMetadataProto([]byte(proto))
	require.NoError(t, err)
	assert.Equal(t, map[string][]uint64{"pallas_call.8": {2}, "pallas_call.7": {0}}, got)
	f := dump()
	delete(f.text, prefix+".thunk_metadata.txt")
	f.text[prefix+".thunk_metadata.pb"] = proto
	assert.Empty(t, decode(t, request("pallas_call.8", f)).Problem)
	f.text[prefix+".thunk_metadata.pb"] = proto[:30]
	_, err = Source().New(kernel.Options{}).Decode(request("pallas_call.8", f))
	require.ErrorContains(t, err, prefix+".thunk_metadata.pb: byte 0: field 1: unexpected EOF")
}

func FuzzMetadataProto(f *testing.F) {
	f.Add([]byte("\n\x22\n\x11\n\rpallas_call.8\x18\x02\x12\rkCustomKernel"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readMetadataProto(data)
		if err == nil {
			require.LessOrEqual(t, len(got), len(data))
		}
	})
}

// TestSites: the program of a real call reads its operand and writes its result in one
// line; the load that jax makes of what it is about to store is used by nobody.
func TestSites(t *testing.T) {
	code, err := os.ReadFile("../mlir/testdata/pt_reverse_blocks.mlirbc")
	require.NoError(t, err)
	var escaped strings.Builder
	for _, c := range code {
		fmt.Fprintf(&escaped, `\%02X`, c)
	}
	r := request("pallas_call.8", dump())
	r.Config = []byte(`{ir = "` + escaped.String() + `", name = "scale"}`)
	c := decode(t, r).Configurations[0]
	const file = "/lab/pl/programs.py"
	assert.Equal(t, []kernel.Site{{Buffer: 0, File: file, Line: 55}, {Buffer: 1, Write: true, File: file, Line: 55}}, c.Sites)
	s, ok := c.Site(1, true)
	assert.True(t, ok)
	assert.Equal(t, 55, s.Line)
	_, ok = c.Site(1, false)
	assert.False(t, ok)
	c.Sites = append(c.Sites, kernel.Site{Buffer: 0, File: file, Line: 56})
	_, ok = c.Site(0, false)
	assert.False(t, ok, "two lines read it")
	r.Config = []byte(`{ir = "ML\EFR", name = "scale"}`)
	assert.Nil(t, decode(t, r).Configurations[0].Sites, "no lines are no reason not to analyse")
}

func TestWithoutCode(t *testing.T) {
	call, err := Source().New(kernel.Options{WithoutCode: true}).Decode(request("pallas_call.8", nil))
	require.NoError(t, err)
	assert.Equal(t, "scale", call.Name)
	assert.Empty(t, call.Configurations)
	assert.Contains(t, call.Problem, "--replay off")
}

func FuzzSequence(f *testing.F) {
	f.Add([]byte(sequence))
	f.Fuzz(func(t *testing.T, text []byte) {
		launches, err := readSequence(text)
		if err == nil {
			require.LessOrEqual(t, 30*len(launches), len(text))
		}
	})
}

func FuzzMetadata(f *testing.F) {
	f.Add([]byte(metadata))
	f.Fuzz(func(t *testing.T, text []byte) {
		instructions, err := readMetadata(text)
		if err == nil {
			require.LessOrEqual(t, len(instructions), len(text))
		}
	})
}

package triton

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"runtime"
	"strings"
	"testing"

	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/attribute"
	"aliascheck/hlo/kernel/triton/tritonpb"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// brief is what the lab's programs say of a call.
type brief struct {
	Name    string
	Auto    bool
	Kernels []briefKernel
	Aliases []kernel.SaveEntry
}

type briefKernel struct {
	Name   string
	Warps  uint32
	Grid   [3]uint32
	Params string
}

func briefOf(c *kernel.Call) brief {
	b := brief{Name: c.Name, Auto: c.Autotuned, Aliases: c.Saved}
	for _, k := range c.Configurations {
		var params []string
		for _, p := range k.Params {
			if !p.Optional {
				params = append(params, p.Type)
			}
		}
		b.Kernels = append(b.Kernels, briefKernel{k.Entry, k.Block[0] / 32, k.Grid, strings.Join(params, ",")})
	}
	return b
}

// TestDecodeDumps holds the decoder to what testdata/lab/programs.py asked for.
func TestDecodeDumps(t *testing.T) {
	scale := func(warps uint32) briefKernel {
		return briefKernel{"scale_kernel", warps, [3]uint32{1024, 1, 1}, ",,i32"}
	}
	sort := func(tiles, warps uint32) briefKernel {
		return briefKernel{"_sort_chunks_by_map_kernel", warps, [3]uint32{4096, tiles, 1}, ",,"}
	}
	want := map[string]brief{
		"scale_inplace": {Name: "scale_kernel", Kernels: []briefKernel{scale(4)}},
		"scale_inplace_auto_told": {Name: "scale_kernel_autotuned", Auto: true,
			Kernels: []briefKernel{scale(4), scale(8)}, Aliases: []kernel.SaveEntry{{Output: 1, Size: 4 << 20}}},
		"scale_inplace_auto_untold": {Name: "scale_kernel_autotuned", Auto: true, Kernels: []briefKernel{scale(4), scale(8)}},
		"scale_inplace_auto_rawindex_ffi": {Name: "scale_kernel_autotuned", Auto: true,
			Kernels: []briefKernel{scale(4), scale(8)}, Aliases: []kernel.SaveEntry{{Output: 0, Size: 4 << 20}}},
		"sort_donated_ffi_auto": {Name: "_sort_chunks_by_map_kernel_autotuned", Auto: true,
			Kernels: []briefKernel{sort(8, 4), sort(4, 4), sort(2, 8)}},
		"sort_unclaimed_v2_auto": {Name: "_sort_chunks_by_map_kernel_autotuned", Auto: true,
			Kernels: []briefKernel{sort(8, 4), sort(4, 4), sort(2, 8)}},
		"sort_inplace_declared": {Name: "_sort_chunks_by_map_kernel", Kernels: []briefKernel{sort(4, 4)}},
	}
	var d Decoder
	count := map[string]int{}
	for _, raw := range dumpedCalls(t) {
		count[raw.Target]++
		call, err := d.Decode(raw.request())
		require.NoError(t, err, "%s %s", raw.Case, raw.Name)
		for _, k := range call.Configurations {
			assert.Contains(t, string(k.PTX), ".entry "+k.Entry+"(", raw.Case)
			assert.EqualValues(t, 90, k.Capability)
		}
		if w, ok := want[raw.Case]; ok {
			assert.Empty(t, cmp.Diff(w, briefOf(call)), raw.Case)
			delete(want, raw.Case)
		}
	}
	assert.Empty(t, want, "cases without a call")
	assert.Equal(t, map[string]int{"triton_kernel_call": 6, "triton_kernel_call_ffi": 52}, count)
}

func TestDecodeScalarsAndZeroing(t *testing.T) {
	var d Decoder
	for _, raw := range dumpedCalls(t) {
		if raw.Case != "histogram" {
			continue
		}
		call, err := d.Decode(raw.request())
		require.NoError(t, err)
		assert.Equal(t, []kernel.Param{
			{Kind: kernel.Pointer, Divisibility: 16},
			{Kind: kernel.Pointer, Divisibility: 16, Buffer: 1, Zero: 2048},
			{Kind: kernel.Scalar, Type: "i32", Bits: 1 << 20, Size: 4},
			{Kind: kernel.Scratch, Optional: true},
			{Kind: kernel.Null, Optional: true},
		}, call.Configurations[0].Params)
	}
}

// pack compresses a message as jaxlib does.
func pack(t testing.TB, message []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zlib.NewWriter(&buf)
	_, err := w.Write(message)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.Bytes()
}

func packProto(t testing.TB, m proto.Message) []byte {
	t.Helper()
	message, err := proto.Marshal(m)
	require.NoError(t, err)
	return pack(t, message)
}

func oneKernel(params ...*tritonpb.Parameter) *tritonpb.AnyKernelCall {
	return &tritonpb.AnyKernelCall{Call: &tritonpb.AnyKernelCall_KernelCall{KernelCall: &tritonpb.KernelCall{
		Kernel: &tritonpb.Kernel{KernelName: []byte("k"), NumWarps: 1}, Grid_0: 1, Grid_1: 1, Grid_2: 1, Parameters: params}}}
}

func TestDecodeEveryParameterKind(t *testing.T) {
	newer := &tritonpb.Parameter{}
	newer.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 77, protowire.VarintType), 1))
	backend := &tritonpb.TensorDescriptor{}
	backend.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), 1))
	nvidia := &tritonpb.TensorDescriptor_Nvidia{ElemType: 6, Swizzle: 3, Shape: []uint64{1 << 40, 64}, Strides: []uint64{64, 1},
		BlockShape: []uint32{8, 64}, OobFill: 1}
	packed := packProto(t, oneKernel(
		&tritonpb.Parameter{Value: &tritonpb.Parameter_Bool_{Bool_: true}},
		&tritonpb.Parameter{Value: &tritonpb.Parameter_I32{I32: -2}},
		&tritonpb.Parameter{Value: &tritonpb.Parameter_U32{U32: 1 << 31}},
		&tritonpb.Parameter{Value: &tritonpb.Parameter_I64{I64: -3}},
		&tritonpb.Parameter{Value: &tritonpb.Parameter_U64{U64: 1 << 63}},
		&tritonpb.Parameter{Value: &tritonpb.Parameter_F32{F32: 1}},
		&tritonpb.Parameter{Value: &tritonpb.Parameter_F64{F64: 1}},
		&tritonpb.Parameter{Value: &tritonpb.Parameter_TensorDescriptor{TensorDescriptor: &tritonpb.TensorDescriptor{
			Backend: &tritonpb.TensorDescriptor_Nvidia_{Nvidia: nvidia}}}},
		&tritonpb.Parameter{Value: &tritonpb.Parameter_TensorDescriptor{TensorDescriptor: backend}},
		newer,
		&tritonpb.Parameter{},
	))
	var d Decoder
	call, err := d.Decode(request(string(TargetRaw), packed))
	require.NoError(t, err)
	assert.Equal(t, []kernel.Param{
		{Kind: kernel.Scalar, Type: "bool", Bits: 1, Size: 1},
		{Kind: kernel.Scalar, Type: "i32", Bits: 0xfffffffe, Size: 4},
		{Kind: kernel.Scalar, Type: "u32", Bits: 1 << 31, Size: 4},
		{Kind: kernel.Scalar, Type: "i64", Bits: 0xfffffffffffffffd, Size: 8},
		{Kind: kernel.Scalar, Type: "u64", Bits: 1 << 63, Size: 8},
		{Kind: kernel.Scalar, Type: "f32", Bits: 0x3f800000, Size: 4},
		{Kind: kernel.Scalar, Type: "f64", Bits: 0x3ff0000000000000, Size: 8},
		{Kind: kernel.TensorMaps, Type: "tensor_descriptor (nvidia)", Maps: []kernel.TensorMap{{ElemType: 6, Swizzle: 3,
			OOBFill: 1, Shape: []uint64{1 << 40, 64}, Strides: []uint64{64, 1}, BlockShape: []uint32{8, 64}}}},
		{Kind: kernel.Other, Buffer: 1, Type: "tensor_descriptor, field 2"},
		{Kind: kernel.Other, Buffer: 2, Type: "field 77"},
		{Kind: kernel.Other, Buffer: 3, Type: "no value"},
		{Kind: kernel.Scratch, Optional: true},
		{Kind: kernel.Null, Optional: true},
	}, call.Configurations[0].Params)
}

func TestDictionary(t *testing.T) {
	for _, tt := range []struct{ name, in, want, err string }{
		{"plain", `{opaque = "x\9C\\\"\0a"}`, "x\x9c\\\"\n", ""},
		{"quoted key", `{"opaque" = "x"}`, "x", ""},
		{"last of several", `{a = 1 : i32, b, c = [1, 2], d = {opaque = "no"}, e = "}\"", f = array<i64: 1>, g = (i32) -> i32, opaque = "yes"}`, "yes", ""},
		{"first of several", `{ opaque = "yes" , z = dense<[1]> : tensor<1xi32> }`, "yes", ""},
		{"typed string", `{opaque = "yes" : !x.y<"}">}`, "yes", ""},
		{"empty string", `{opaque = ""}`, "", ""},
		{"no opaque", `{a = "opaque"}`, "", `no string attribute "opaque"`},
		{"not a string", `{opaque = 3}`, "", `no string attribute "opaque"`},
		{"twice", `{opaque = "a", opaque = "b"}`, "", `byte 24: a second attribute "opaque"`},
		{"json", `{"opaque":"a"}`, "", "an attribute's name was expected"},
		{"not a dictionary", `x`, "", "byte 0: no attribute dictionary"},
		{"cut in the string", `{opaque = "ab`, "", "byte 10: a string that does not end"},
		{"cut in an escape", `{opaque = "ab\9`, "", "byte 13: a bad escape"},
		{"bad escape", `{opaque = "\zz"}`, "", "byte 11: a bad escape"},
		{"cut in a value", `{a = [1, 2`, "", "byte 10: a dictionary that does not end"},
		{"cut in another string", `{a = "x\"`, "", "byte 5: a string that does not end"},
		{"text after it", `{opaque = "a"} b`, "", "byte 15: text after the dictionary"},
		{"deep", "{a = " + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `, opaque = "a"}`, "a", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := attribute.String([]byte(tt.in), opaqueKey, nil)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(got))
		})
	}
}

func TestDecodeBadInput(t *testing.T) {
	good := packProto(t, oneKernel())
	message, err := proto.Marshal(oneKernel())
	require.NoError(t, err)
	corrupt := bytes.Clone(good)
	corrupt[len(corrupt)-1] ^= 1
	kernelOf := func(b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), b)
	}
	for _, tt := range []struct {
		name, target string
		config       []byte
		err          string
	}{
		{"empty", string(TargetRaw), nil, "the opaque is empty"},
		{"not zlib", string(TargetRaw), []byte("hello"), "zlib: invalid header"},
		{"checksum", string(TargetRaw), corrupt, "invalid checksum"},
		{"trailing", string(TargetRaw), append(bytes.Clone(good), 1, 2), "the last 2 follow its end"},
		{"no call", string(TargetRaw), pack(t, nil), "neither a kernel nor an autotuned one"},
		{"no configuration", string(TargetRaw), pack(t, []byte{0x12, 0}), "without configurations"},
		{"message cut", string(TargetRaw), pack(t, message[:len(message)-3]), "kernel call at byte 0, AnyKernelCall.kernel_call"},
		{"bad tag inside", string(TargetRaw), pack(t, kernelOf([]byte{0x10, 1, 0x07})), "kernel call at byte 4, KernelCall"},
		{"many parameters", string(TargetRaw), pack(t, kernelOf(bytes.Repeat([]byte{0x2a, 0}, 1<<17))), "more than 65536 messages"},
		{"many numbers", string(TargetRaw), pack(t, kernelOf(protowire.AppendBytes([]byte{0x2a},
			protowire.AppendBytes([]byte{0x4a}, protowire.AppendBytes([]byte{0x0a}, protowire.AppendBytes([]byte{0x1a}, make([]byte, 1<<20))))))),
			"Nvidia.shape: more than 262144 numbers"},
		{"dictionary", string(TargetFFI), good, "no attribute dictionary"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var d Decoder
			_, err := d.Decode(request(tt.target, tt.config))
			require.ErrorContains(t, err, tt.err)
		})
	}
}

// TestDecodeTruncated cuts a real call at every byte: each is an error, never a panic.
func TestDecodeTruncated(t *testing.T) {
	var d Decoder
	for _, raw := range dumpedCalls(t)[:1] {
		for n := range raw.Config {
			_, err := d.Decode(request(raw.Target, raw.Config[:n]))
			require.Error(t, err, "the first %d bytes", n)
		}
	}
}

// TestDecodeBomb inflates to a gigabyte, if it is let.
func TestDecodeBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	var buf bytes.Buffer
	w := zlib.NewWriter(&buf)
	zeros := make([]byte, 1<<20)
	for range 1 << 10 {
		_, err := w.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := Decoder{Limit: 1 << 20}
	_, err := d.Decode(request(string(TargetRaw), buf.Bytes()))
	runtime.ReadMemStats(&after)
	require.ErrorContains(t, err, "inflates to more than 1048576 bytes")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
}

// escape writes data as MLIR prints a string attribute.
func escape(data []byte) []byte {
	out := []byte(`{opaque = "`)
	for _, c := range data {
		switch {
		case c == '\\' || c == '"':
			out = append(out, '\\', c)
		case c >= ' ' && c < 0x7f:
			out = append(out, c)
		default:
			out = append(out, '\\')
			out = append(out, strings.ToUpper(hex.EncodeToString([]byte{c}))...)
		}
	}
	return append(out, `"}`...)
}

// FuzzOpaque holds the two conventions to the same outcome, and to no panic.
func FuzzOpaque(f *testing.F) {
	for _, raw := range dumpedCalls(f) {
		f.Add(raw.Config, raw.Target == string(TargetRaw))
		if raw.Target == string(TargetFFI) {
			packed, _ := attribute.String(raw.Config, opaqueKey, nil)
			f.Add(packed, true)
		}
	}
	f.Add([]byte(`{a = {opaque = "x"}, b = "\"", opaque = "x\9C"}`), false)
	f.Fuzz(func(t *testing.T, config []byte, raw bool) {
		d := Decoder{Limit: 1 << 20}
		if !raw {
			_, _ = d.Decode(request(string(TargetFFI), config))
			return
		}
		call, err := d.Decode(request(string(TargetRaw), config))
		again, errAgain := d.Decode(request(string(TargetFFI), escape(config)))
		require.Equal(t, err, errAgain)
		if err == nil {
			again.Early = false // the typed FFI's alone
		}
		require.Equal(t, call, again)
		if err == nil {
			for i := range call.Configurations {
				_, _ = call.Configurations[i].Geometry()
				_, _ = call.Configurations[i].Bind([]int{8, 8, 4, 8, 8}, 2)
			}
		}
	})
}

// FuzzMessage fuzzes the message past the compression.
func FuzzMessage(f *testing.F) {
	var d Decoder
	for _, raw := range dumpedCalls(f) {
		message, err := d.inflate(raw.Target, raw.Config)
		require.NoError(f, err)
		f.Add(bytes.Clone(message))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		if _, err := checkMessage(message, false); err == nil {
			require.NoError(t, proto.Unmarshal(message, &tritonpb.AnyKernelCall{}))
			short, err := checkMessage(bytes.Clone(message), true)
			require.NoError(t, err)
			require.NoError(t, proto.Unmarshal(short, &tritonpb.AnyKernelCall{}))
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, raw := range dumpedCalls(b) {
		if raw.Case != "transformer_step" {
			continue
		}
		var d Decoder
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.Decode(raw.request()); err != nil {
				b.Fatal(err)
			}
		}
		return
	}
}

// BenchmarkPeek reads every dumped call's name: what most calls cost where no kernel
// is run.
func BenchmarkPeek(b *testing.B) {
	calls := dumpedCalls(b)
	var d Decoder
	for b.Loop() {
		for _, raw := range calls {
			d.Peek(raw.Target, raw.Config)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(calls)), "ns/call")
}

// TestDecodeWithoutCode: leaving the code out leaves everything else as it was.
func TestDecodeWithoutCode(t *testing.T) {
	seen := 0
	spare := Decoder{WithoutCode: true}
	for _, call := range dumpedCalls(t) {
		var whole Decoder
		want, err := whole.Decode(call.request())
		require.NoError(t, err)
		got, err := spare.Decode(call.request())
		require.NoError(t, err, call.Case)
		for i := range want.Configurations {
			k := &want.Configurations[i]
			if len(k.PTX) > 0 {
				seen++
			}
			k.PTX, k.Cubin = nil, nil
		}
		require.Equal(t, want, got, call.Case)
	}
	require.NotZero(t, seen)
}

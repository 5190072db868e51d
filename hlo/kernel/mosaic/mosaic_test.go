package mosaic

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aliascheck/hlo/kernel"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// files are companions in memory.
type files map[string]string

func (f files) Names(prefix string) ([]string, error) {
	var out []string
	for name := range f {
		if strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (f files) Read(name string, most int64) ([]byte, error) {
	text, ok := f[name]
	if !ok || int64(len(text)) > most {
		return nil, fmt.Errorf("%s: not to be read", name)
	}
	return []byte(text), nil
}

// real are the files of a dump of testdata, in a folder of their own, and its MLIR.
func real(t testing.TB, name string) (files, []byte) {
	t.Helper()
	out := files{}
	paths, err := filepath.Glob(filepath.Join("../../../testdata/pallas", name, "mosaic", "*"))
	require.NoError(t, err)
	require.Len(t, paths, 2)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		out["mosaic/"+filepath.Base(path)] = string(data)
	}
	code, err := os.ReadFile("../mlir/testdata/mg_late_copy_apart.mlirbc")
	require.NoError(t, err)
	return out, code
}

// escape writes bytes as MLIR has them in a string.
func escape(data []byte) []byte {
	var b strings.Builder
	for _, c := range data {
		fmt.Fprintf(&b, `\%02X`, c)
	}
	return []byte(b.String())
}

func late(t testing.TB) *kernel.Request {
	t.Helper()
	f, code := real(t, "mg_late_copy_apart")
	array := kernel.Array{Element: "f32", Dims: []int64{1 << 20}, Bytes: 4 << 20}
	config := slices.Concat([]byte(`{kernel_hash = "\01\02", module = "`), escape(code), []byte(`", use_custom_barrier = false}`))
	return &kernel.Request{Target: Target, Config: config, Operands: []kernel.Array{array}, Results: []kernel.Array{array, array}, Files: f}
}

func decode(t *testing.T, r *kernel.Request) *kernel.Call {
	t.Helper()
	call, err := Source().New(kernel.Options{}).Decode(r)
	require.NoError(t, err)
	assert.Equal(t, "mosaic", call.Source)
	assert.Equal(t, "late", call.Name)
	return call
}

func TestDecode(t *testing.T) {
	r := late(t)
	call := decode(t, r)
	require.Empty(t, call.Problem)
	require.Len(t, call.Configurations, 1)
	c := call.Configurations[0]
	assert.Equal(t, r.Files.(files)["mosaic/late_6.ptx"], string(c.PTX))
	c.PTX = nil
	assert.Equal(t, kernel.Configuration{
		Entry: "late_mosaic_gpu_kernel", Kernel: "late", File: "mosaic/late_6.ptx", Capability: 90,
		Grid: [3]uint32{4096, 1, 1}, Block: [3]uint32{128, 1, 1}, Cluster: [3]uint32{1, 1, 1}, Shared: 1032,
		Params: []kernel.Param{
			{Kind: kernel.Pointer, Buffer: 1}, {Kind: kernel.Pointer, Buffer: 2},
			{Kind: kernel.TensorMaps, Maps: []kernel.TensorMap{{Buffer: 0, ElemType: 7,
				Shape: []uint64{1 << 20}, Strides: []uint64{1}, BlockShape: []uint32{256}}}},
		},
	}, c)
}

// TestLegacy reads a call of JAX before 0.7: a hash, then the module as it is.
func TestLegacy(t *testing.T) {
	r := late(t)
	_, code := real(t, "mg_late_copy_apart")
	r.Target, r.Config = targetLegacy, append(make([]byte, hashSize), code...)
	assert.Empty(t, decode(t, r).Problem)
	r.Config = r.Config[:7]
	_, err := Source().New(kernel.Options{}).Decode(r)
	require.EqualError(t, err, "kernel call of Mosaic GPU: 7 bytes of backend_config, fewer than a hash has")
}

// TestUnnamed reads calls that do not name their files, as JAX before 0.11 makes them.
func TestUnnamed(t *testing.T) {
	r := late(t)
	_, code := real(t, "mg_late_copy_apart")
	unnamed := strings.Replace(string(code), "mosaic_gpu.dump_basename", "mosaic_gpu.dump_basenane", 1)
	r.Config = slices.Concat([]byte(`{module = "`), escape([]byte(unnamed)), []byte(`"}`))
	f := r.Files.(files)
	assert.Empty(t, decode(t, r).Problem, "one kernel of the name fits")

	f["other/late_0.ptx"], f["other/late_0.mlir-passes.log"] = f["mosaic/late_6.ptx"], f["mosaic/late_6.mlir-passes.log"]
	f["other/latent_0.ptx"], f["other/late_x.ptx"], f["other/late_.ptx"] = "", "", ""
	assert.Empty(t, decode(t, r).Problem, "two fit, and are the same")

	f["other/late_0.ptx"] += "\n"
	assert.Contains(t, decode(t, r).Problem, "2 kernels named late in the dump fit this call")

	f["other/late_0.mlir-passes.log"] = strings.ReplaceAll(f["other/late_0.mlir-passes.log"], "memref<1048576xf32>", "memref<1048576xf16>")
	assert.Empty(t, decode(t, r).Problem, "the other is of other arrays")
}

func TestProblems(t *testing.T) {
	log := "mosaic/late_6.mlir-passes.log"
	for _, tt := range []struct{ name, from, to, want string }{
		{"another array", "to memref<1048576xf32> {", "to memref<1048575xf32> {", "it takes buffer 0 for 1048575xf32, which the call's is not"},
		{"a buffer too many", "getelementptr %mpmd_map3A_0[2] :", "getelementptr %mpmd_map3A_0[3] :", "parameter 1 is of buffer 3; the call has 3"},
		{"a branch", "    %10 = llvm.load", "    cf.cond_br %9\n    %10 = llvm.load", "cf.cond_br decides how the kernel is launched"},
		{"another function", "call @mosaic_gpu_init_tma_desc(", "call @nvshmem_ptr(", "it calls @nvshmem_ptr"},
		{"a grid that is computed", "%9 = llvm.mlir.constant(4096 : i64)", "%9 = llvm.udiv %8, %6", "its launch takes what llvm.udiv gives"},
		{"a box that is computed", "%3 = llvm.mlir.constant(256 : i64)", "%3 = llvm.udiv %8, %6", "tensor map 0: its sizes, strides or box are not constants"},
		{"an unknown type", "%5 = llvm.mlir.constant(6 : i64)", "%5 = llvm.mlir.constant(77 : i64)", "tensor map 0: jaxlib knows no element type 77"},
		{"an unknown swizzle", "%4 = llvm.mlir.constant(16 : i64)", "%4 = llvm.mlir.constant(17 : i64)", "tensor map 0: jaxlib knows no swizzle of 17 bytes"},
		{"more maps than were encoded", "%copy_gmem_to_smem3A_1 : !llvm.array<128 x i8>)", "%copy_gmem_to_smem3A_1 : !llvm.array<256 x i8>)", "nothing is encoded at byte 128 of its tensor maps"},
		{"two launches", "    return loc(#loc1)", "    gpu.launch_func <%a> @x::@y blocks in (%6, %6, %6) threads in (%6, %6, %6) args() loc(#loc1)\n    return loc(#loc1)", "it launches more than one kernel"},
		{"no launch", "    gpu.launch_func ", "    %z = gpu.launched ", "it launches no kernel"},
		{"a descriptor elsewhere", "init_tma_desc(%copy_gmem_to_smem3A,", "init_tma_desc(%18,", "it encodes a tensor map at buffer 1 + 0"},
		{"a map stored over", "    %copy_gmem_to_smem3A_1 = ", "    llvm.store %1, %copy_gmem_to_smem3A : i64, !llvm.ptr\n    %copy_gmem_to_smem3A_1 = ", "nothing is encoded at byte 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := late(t)
			f := r.Files.(files)
			start := strings.Index(f[log], launchPass)
			require.Contains(t, f[log][start:], tt.from)
			f[log] = f[log][:start] + strings.Replace(f[log][start:], tt.from, tt.to, 1)
			call := decode(t, r)
			assert.Contains(t, call.Problem, tt.want)
			assert.Contains(t, call.Problem, "late_6.mlir-passes.log: ")
		})
	}
}

func TestMissing(t *testing.T) {
	r := late(t)
	r.Files = nil
	assert.Contains(t, decode(t, r).Problem, "its PTX is not in the dump: set MOSAIC_GPU_DUMP_TO")
	r.Files = files{"mosaic/late_5.ptx": ""}
	assert.Contains(t, decode(t, r).Problem, "its PTX is not in the dump: set MOSAIC_GPU_DUMP_TO")
	r.Files = files{"mosaic/late_6.ptx": ""}
	assert.Equal(t, "late_6.mlir-passes.log is not in the dump: it says how the kernel is launched", decode(t, r).Problem)
	r = late(t)
	r.Config = append(r.Config[:len(r.Config)-1], `, uses_xla_collective_metadata = true}`...)
	assert.Contains(t, decode(t, r).Problem, "it talks to other devices")
}

func TestDamage(t *testing.T) {
	for _, tt := range []struct{ name, from, to, want string }{
		{"cut", "\n  gpu.binary ", "", "the function that launches the kernel is not whole"},
		{"not compiled", launchPass, "IR Dump After ", "mosaic/late_6.mlir-passes.log: no \"IR Dump Before GpuLaunchLoweringPass\""},
		{"one argument", "%mpmd_map3A_0: !llvm.ptr loc", "%mpmd_map3A_0: i64 loc", "line 10: a function of 1 pointers"},
		{"a memref of another buffer", "from_kernel_arg_idx = 0 :", "from_kernel_arg_idx = 1 :", "a buffer's memref of something else"},
		{"a launch of two dimensions", "blocks in (%9, %6, %6)", "blocks in (%9, %6)", "a launch of 2 dimensions"},
		{"an argument without a type", "args(%18 : !llvm.ptr,", "args(%18,", "an argument without a type"},
		{"a map of seven", "%24, %4, %25) :", "%24, %4) :", "a tensor map of 7 arguments"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := late(t)
			f := r.Files.(files)
			log := "mosaic/late_6.mlir-passes.log"
			start := strings.Index(f[log], launchPass)
			rest := f[log][start:]
			require.Contains(t, rest, tt.from)
			if tt.to == "" {
				rest = rest[:strings.Index(rest, "  } loc(")]
			} else {
				rest = strings.Replace(rest, tt.from, tt.to, 1)
			}
			f[log] = f[log][:start] + rest
			_, err := Source().New(kernel.Options{}).Decode(r)
			require.ErrorContains(t, err, tt.want)
			assert.ErrorContains(t, err, log)
		})
	}
	r := late(t)
	r.Config = []byte(`{module = "ML\EFR\01x\00"}`)
	_, err := Source().New(kernel.Options{}).Decode(r)
	require.ErrorContains(t, err, "kernel call of Mosaic GPU: MLIR bytecode of version 0: strings")
}

// TestElements holds the element types to what jaxlib encodes: packed ones take half or
// a quarter of the innermost dimension and of every other stride.
func TestElements(t *testing.T) {
	for code, want := range map[int64][4]int64{ // driver's type, innermost size, outer stride, innermost box
		8: {0, 64, 64, 16}, 0: {0, 128, 128, 32}, 1: {0, 256, 256, 64}, 2: {1, 256, 256, 64}, 3: {2, 256, 256, 64}, 9: {3, 256, 256, 64},
		4: {4, 256, 256, 64}, 10: {5, 256, 256, 64}, 5: {6, 256, 256, 64}, 6: {7, 256, 256, 64}, 7: {9, 256, 256, 64},
	} {
		memory := func(n ...int64) allocation {
			a := allocation{numbers: map[int64]int64{}}
			for i, v := range n {
				a.numbers[int64(8*i)] = v
			}
			return a
		}
		r := &run{memory: []allocation{memory(8, 256), memory(256, 1), memory(4, 64)}}
		at := func(i int) value { return value{kind: local, where: i} }
		num := func(n int64) value { return value{kind: number, number: n} }
		m := r.encode([8]value{{}, {kind: pointer, where: 3, number: 16}, num(code), num(2), at(0), at(1), num(64), at(2)})
		assert.Empty(t, m.why)
		assert.Equal(t, kernel.TensorMap{Buffer: 3, Offset: 16, ElemType: uint32(want[0]), Swizzle: 2,
			Shape: []uint64{8, uint64(want[1])}, Strides: []uint64{uint64(want[2]), 1}, BlockShape: []uint32{4, uint32(want[3])}}, m.TensorMap, "type %d", code)
	}
}

func FuzzLog(f *testing.F) {
	for _, name := range []string{"mg_late_copy_apart", "mg_reverse_inplace"} {
		all, _ := real(f, name)
		for file, text := range all {
			if strings.HasSuffix(file, logSuffix) {
				start := strings.Index(text, launchPass)
				f.Add([]byte(text[start : start+strings.Index(text[start:], "gpu.binary")]))
			}
		}
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		h, err := hostFunction(log)
		if err != nil {
			return
		}
		r, err := follow(h)
		if err != nil {
			return
		}
		n := 0
		for i := range r.launch.params {
			n += len(r.launch.params[i].Maps)
		}
		require.LessOrEqual(t, n, len(log))
	})
}

// TestTrim cuts a log, which then says the same, and is a small part of it.
func TestTrim(t *testing.T) {
	r := late(t)
	f := r.Files.(files)
	log := "mosaic/late_6.mlir-passes.log"
	whole := decode(t, r)
	cut, ok := Trim([]byte(f[log]))
	require.True(t, ok)
	assert.Less(t, 8*len(cut), len(f[log]))
	f[log] = string(cut)
	assert.Equal(t, whole, decode(t, r))
	_, ok = Trim(cut)
	assert.False(t, ok, "there is nothing left to cut")
	_, ok = Trim([]byte("// -----// IR Dump Before CSEPass: cse"))
	assert.False(t, ok, "it is not written so far")
}

// TestIsAnother tells kernels of one name apart by their operations, where the log has
// them still.
func TestIsAnother(t *testing.T) {
	log := "// -----// " + firstPass + ": x\nmodule @k {\n" + strings.Repeat("    // words\n", 10) +
		"    %c1 = arith.constant 1 : index\n    %c2 = arith.constant 2 : index\n    %a, %b = memref.extract_strided_metadata %m\n" +
		"    llvm.inline_asm has_side_effects \"bar.sync 0;\"\n    %0 = llvm.mlir.constant(3 : i64) : i64\n    \"nvvm.fence.proxy\"() : () -> ()\n    scf.yield\n  }\n"
	next := "// -----// IR Dump Before CSEPass: cse\n    %c9 = arith.constant 9 : index\n"
	own := map[string]int{"arith.constant": 2, "memref.extract_strided_metadata": 1, "llvm.inline_asm": 1, "llvm.mlir.constant": 1, "nvvm.fence.proxy": 1}
	assert.False(t, isAnother([]byte(log+next), own))
	assert.False(t, isAnother([]byte(log), map[string]int{}), "cut: of any")
	assert.False(t, isAnother([]byte(next), map[string]int{}), "cut: of any")
	own["arith.constant"]++
	assert.True(t, isAnother([]byte(log+next), own))
}

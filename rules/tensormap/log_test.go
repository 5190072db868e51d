package tensormap

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readAll(t *testing.T, text string) ([]Entry, LogStats) {
	t.Helper()
	var out []Entry
	stats, err := ReadLog(strings.NewReader(text), func(e Entry) { out = append(out, e) })
	require.NoError(t, err)
	return out, stats
}

// cutlassPrint is a print of CUTLASS with its error message.
func cutlassPrint(gmem, dims, strides, box string) []string {
	return []string{
		"TMA Desc Addr:   0x7ffd054484c0", "format         9", "dim            3", "gmem_address   " + gmem,
		"globalDim      " + dims, "globalStrides  " + strides, "boxDim         " + box, "elementStrides (1,1,1,1,1)",
		"interleave     0", "swizzle        3", "l2Promotion    2", "oobFill        0",
		"Error: Failed to initialize the TMA descriptor 1",
	}
}

func good() []string {
	return cutlassPrint("0x7f4c49e08800", "(128,64,32,1,1)", "(2,256,16384,0,0)", "(64,64,1,1,1)")
}

func TestRaggedFA3Print(t *testing.T) {
	text, err := os.ReadFile("testdata/ragged_fa3.log")
	require.NoError(t, err)
	got, stats := readAll(t, string(text))
	require.Len(t, got, 3)
	assert.EqualValues(t, 40, stats.Lines)
	heads := []uint64{32, 8, 8}
	for i, e := range got {
		assert.Equal(t, Printed, e.Kind)
		assert.Empty(t, e.Problems)
		assert.True(t, e.HasCode)
		assert.Equal(t, CodeInvalidValue, e.Code)
		assert.EqualValues(t, 2+13*i, e.First)
		assert.EqualValues(t, 14+13*i, e.Last)
		assert.Equal(t, u{128, 1, heads[i]}, e.Descriptor.Dims)
		assert.Equal(t, u{2, 256}, e.Descriptor.Strides, "the element's own stride is printed and not passed")
		j := e.Judgement()
		assert.Equal(t, Refused, j.Verdict)
		assert.Equal(t, []int{6}, j.Rules())
		assert.Equal(t, CauseSizeOneStride, j.Cause.Kind)
		require.NotNil(t, j.Fix)
		assert.True(t, j.Fix.Legal)
		assert.Equal(t, u{heads[i] * 256, 256}, j.Fix.Corrected.Strides)
	}
}

func TestDialects(t *testing.T) {
	cases := []struct {
		name, text, dialect string
		code                Code
		rank                int
		strides             []uint64
		rules               []int
		kind                CauseKind
	}{
		{"tilelang", `[10:00:00] /tl/src/runtime/runtime.cc:77: Failed to initialize the TMA descriptor 1
TMA Desc Addr:   0x7ffd054484c0
format         6
dim            2
gmem_address   0x7f0000000000
globalDim      [100, 64]
globalStrides  [2, 200]
boxDim         [64, 64]
elementStrides [1, 1]
interleave     0
swizzle        3
l2Promotion    2
oobFill        0
`, "CUTLASS", 1, 2, u{200}, []int{6}, CauseUnpaddedRow},
		{"tilelang, names after numbers", `TMA Desc Addr:   0x7ffd054484c0
format         9 (CU_TENSOR_MAP_DATA_TYPE_BFLOAT16)
dim            2
gmem_address   0x7f0000000000
globalDim      [128, 64]
globalStrides  [2, 256]
boxDim         [128, 64]
elementStrides [1, 1]
interleave     CU_TENSOR_MAP_INTERLEAVE_NONE
swizzle        CU_TENSOR_MAP_SWIZZLE_128B
l2Promotion    2 (CU_TENSOR_MAP_L2_PROMOTION_L2_128B)
oobFill        NONE
Error: Failed to initialize the TMA descriptor CUDA_ERROR_INVALID_VALUE
`, "CUTLASS", 1, 2, u{256}, []int{13}, CauseBoxWiderThanSwizzle},
		{"error first, the driver's names", `Error: Failed to initialize the TMA descriptor, error code: 1
TMA Desc Addr:   0x7ffd054484c0
tensorDataType 9
tensorRank     2
gmem_address   0
globalDim      (128,64,1,1,1)
globalStrides  (2,256,0,0,0)
boxDim         (64,64,1,1,1)
elementStrides (1,1,1,1,1)
interleave     0
swizzle        3
l2Promotion    2
oobFill        0
`, "CUTLASS", 1, 2, u{256}, []int{17}, CauseNullAddress},
		{"TensorRT-LLM, earlier kernel", `Error: Failed to initialize the TMA descriptor due to an illegal memory access was encountered
tmaFormat: 9 dim: 4 gmem: 0x7b4cc0000000
Shape: 128 7 2 24 1
Stride: 256 1792 3584 1041
tileShapes: 64 8 1 1 3584
tileStrides: 1 1 1 1 3584
swizzleType: 3
`, "TensorRT-LLM", 700, 4, u{256, 1792, 3584}, []int{}, CauseStaleError},
		{"TensorRT-LLM, overflowed stride", `Error: Failed to initialize the TMA descriptor due to invalid argument
tmaFormat: 9 dim: 4 gmem: 0x7b4cc0000000
Shape: 192 131072 128 1 3806834432
Stride: 49152 384 2305843007066210304 273
tileShapes: 64 128 1 1 49152
tileStrides: 1 1 1 1 32
swizzleType: 3
`, "TensorRT-LLM", 1, 4, u{49152, 384, 2305843007066210304}, []int{6}, CauseSizeOneStride},
		{"TVM", `Error in cuTensorMapEncodeTiled: invalid argument
cu_dtype: 9
TMA Desc Addr:   0x7ffd054484c0
TMA Interleave:  0
TMA L2Promotion: 2
TMA OOBFill:     0
SMEM Swizzle:    3
tensor rank: 3
global prob shape: 128 64 4 
global prob stride: 2 256 
smem box shape: 64 64 1 
smem box stride: 1 1 1 
`, "TVM", 1, 3, u{2, 256}, []int{6}, CauseElementStrideFirst},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, _ := readAll(t, "some line\n"+c.text+"other output\n")
			require.Len(t, got, 1, "%+v", got)
			e := got[0]
			assert.Equal(t, Printed, e.Kind)
			assert.Empty(t, e.Problems)
			assert.Equal(t, c.dialect, e.Dialect)
			assert.True(t, e.HasCode)
			assert.Equal(t, c.code, e.Code)
			assert.Equal(t, c.rank, e.Descriptor.Rank)
			assert.Equal(t, c.strides, e.Descriptor.Strides)
			j := e.Judgement()
			assert.Equal(t, c.rules, j.Rules())
			assert.Equal(t, c.kind, j.Cause.Kind, j.Cause.Text)
		})
	}
}

// Lines of ranks that are told apart by a prefix are read as so many prints, in
// whatever way they mingle.
func TestPrefixes(t *testing.T) {
	a, b := good(), cutlassPrint("0x7f4c49e08800", "(128,1,32,1,1)", "(2,2,256,0,0)", "(64,128,1,1,1)")
	for _, p := range [][2]string{
		{"[rank0]: ", "[rank3]: "},
		{"0: ", "3: "},
		{" 0: ", "10: "},
		{"[0]:", "[1]:"},
		{"(pid=7120) ", "(pid=7121) "},
		{"\x1b[36m(RayWorkerWrapper pid=7, ip=10.0.0.1)\x1b[0m ", "\x1b[36m(RayWorkerWrapper pid=8, ip=10.0.0.1)\x1b[0m "},
		{"[1,0]<stderr>:", "[1,3]<stderr>:"},
		{"node1: ", "node2: "},
		{"[2025-11-22 22:22:32 DP4 TP4] ", "[2025-11-22 22:22:33 DP4 TP5] "},
		{"2025-11-22T22:22:32.123Z INFO [rank1]: ", "2025-11-22T22:22:32.129Z INFO [rank2]: "},
		{"[default0]:", "[default7]:"},
		{"(EngineCore_DP0 pid=7) (Worker_TP0 pid=9) ", "(EngineCore_DP0 pid=7) (Worker_TP1 pid=10) "},
		{"[rank0]: ", ""},
	} {
		t.Run(p[0]+p[1], func(t *testing.T) {
			var text strings.Builder
			for i := range a {
				fmt.Fprintf(&text, "%s%s\n%s%s\n", p[0], a[i], p[1], b[i])
			}
			got, _ := readAll(t, text.String())
			require.Len(t, got, 2, "%+v", got)
			assert.NotEqual(t, got[0].Stream, got[1].Stream)
			verdicts := map[Verdict]int{}
			for _, e := range got {
				assert.Equal(t, Printed, e.Kind)
				assert.Empty(t, e.Problems)
				assert.Equal(t, CodeInvalidValue, e.Code)
				verdicts[e.Judgement().Verdict]++
			}
			assert.Equal(t, map[Verdict]int{Accepted: 1, Refused: 1}, verdicts)
		})
	}
}

// Every way in which two prints without prefixes can mingle is either refused, or is
// one whole print after the other.
func TestMingledPrintsAreRefused(t *testing.T) {
	a, b := good(), cutlassPrint("0x7f4c49e08800", "(128,1,32,1,1)", "(2,2,256,0,0)", "(64,128,1,1,1)")
	for cut := 1; cut < len(a)-1; cut++ {
		for run := 1; run <= len(b); run++ {
			// run lines of b stand after the first cut lines of a; b's rest after a's.
			lines := append(append(append(append([]string{}, a[:cut]...), b[:run]...), a[cut:]...), b[run:]...)
			got, _ := readAll(t, strings.Join(lines, "\n"))
			require.NotEmpty(t, got)
			for _, e := range got {
				assert.NotEqual(t, Printed, e.Kind, "cut %d, run %d: %+v", cut, run, e)
			}
		}
	}
	got, _ := readAll(t, strings.Join(append(append(append([]string{}, good()...), good()...), good()...), "\n"))
	require.Len(t, got, 3)
	for _, e := range got {
		assert.Equal(t, Printed, e.Kind)
	}
}

func TestEverydayWordsStartNothing(t *testing.T) {
	got, stats := readAll(t, "format: json\ndim 3\nformat 9\nShape: 3 4\nswizzle 3\ninterleave 1\nTraceback:\n  dim = 4\n"+
		strings.Join(good(), "\nformat: text\nloading 5/7\n")+"\ndim 3\nformat 4\nShape: 1\n")
	require.Len(t, got, 1, "%+v", got)
	assert.Equal(t, Accepted, got[0].Judgement().Verdict)
	assert.Empty(t, got[0].Problems)
	assert.Zero(t, stats.Unread)
}

func TestBareMessages(t *testing.T) {
	got, _ := readAll(t, `RuntimeError: Kernel call failed: Error: Failed to initialize the TMA descriptor data_desc
[rank1]: tvm.error.InternalError: [MXFP8 gemm] Failed to initialize the TMA descriptor 700
`)
	require.Len(t, got, 2)
	assert.Equal(t, Bare, got[0].Kind)
	assert.Equal(t, "data_desc", got[0].Name)
	assert.Equal(t, Bare, got[1].Kind)
	assert.Equal(t, "rank1", got[1].Stream)
	assert.Equal(t, CodeIllegalAddress, got[1].Code)
}

// tilelang's older code prints the addresses of its arrays.
func TestPrintedAddressesAreNoValues(t *testing.T) {
	lines := good()
	lines[4], lines[5] = "globalDim      0x7ffd05448500", "globalStrides  0x7ffd05448528"
	got, _ := readAll(t, strings.Join(lines, "\n"))
	require.Len(t, got, 1)
	require.Len(t, got[0].Problems, 2)
	assert.Contains(t, got[0].Problems[0], "address of an array")
	assert.Equal(t, Undecided, got[0].Judgement().Verdict)
}

// Ranks that print the same values, mingled without marks: who printed which line
// is not known, and what every one of them printed is.
func TestEntangledPrintsThatAgree(t *testing.T) {
	a := cutlassPrint("0x7f4c49e08800", "(128,1,32,1,1)", "(2,2,256,0,0)", "(64,128,1,1,1)")
	b := cutlassPrint("0x7f4c49e0c800", "(128,1,32,1,1)", "(2,2,256,0,0)", "(64,128,1,1,1)")
	var text strings.Builder
	for i := range a {
		fmt.Fprintf(&text, "%s\n%s\n", a[i], b[i])
	}
	got, _ := readAll(t, text.String())
	require.Len(t, got, 1)
	e := got[0]
	assert.Equal(t, Entangled, e.Kind)
	assert.Equal(t, 2, e.Prints)
	assert.True(t, e.HasCode)
	assert.False(t, e.Descriptor.Has(FieldAddress))
	j := e.Judgement()
	assert.Equal(t, []int{6}, j.Rules())
	assert.Equal(t, CauseSizeOneStride, j.Cause.Kind)

	got, _ = readAll(t, strings.Replace(text.String(), "(128,1,32,1,1)", "(128,1,8,1,1)", 1))
	require.Len(t, got, 1)
	assert.False(t, got[0].Descriptor.Has(FieldDims))
	assert.Equal(t, []int{6}, got[0].Judgement().Rules(), "all of them have the stride of 2")
}

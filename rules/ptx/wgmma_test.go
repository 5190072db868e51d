package ptx

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"aliascheck/rules/ptx/syntax"
)

// descriptor encodes bytes; mode is 0 without swizzle, 1, 2, 3 for 128, 64, 32 bytes.
func descriptor(start, leading, stride int64, mode uint64) uint64 {
	return uint64(start>>4) | uint64(leading>>4)<<16 | uint64(stride>>4)<<32 | mode<<62
}

// TestMatrixLayouts: places worked out by hand from the canonical layouts of
// PTX ISA 9.7.15.5.1.2. Rows start at 4096, a multiple of every pattern.
func TestMatrixLayouts(t *testing.T) {
	cases := []struct {
		name       string
		across     bool
		descriptor uint64
		want       map[int]int64 // part, in the order of parts, to address
	}{
		// part 2i+j is half j of row i
		{"no swizzle", false, descriptor(4096, 256, 1024, 0), map[int]int64{0: 4096, 1: 4352, 2: 4112, 15: 4096 + 7*16 + 256, 16: 5120, 19: 5120 + 16 + 256}},
		{"32 bytes", false, descriptor(4096, 16, 256, 3), map[int]int64{0: 4096, 1: 4112, 2: 4128, 8: 4096 + 128 + 16, 9: 4096 + 128, 16: 4352, 24: 4352 + 128 + 16}},
		{"64 bytes", false, descriptor(4096, 16, 512, 2), map[int]int64{0: 4096, 2: 4160, 4: 4096 + 128 + 16, 5: 4096 + 128, 8: 4096 + 256 + 32, 15: 4096 + 7*64 + 32, 16: 4608}},
		{"128 bytes", false, descriptor(4096, 16, 1024, 1), map[int]int64{0: 4096, 1: 4112, 2: 4096 + 128 + 16, 3: 4096 + 128, 4: 4096 + 256 + 32, 14: 4096 + 896 + 112, 15: 4096 + 896 + 96, 16: 5120}},
		{"128 bytes, second quarter of the row", false, descriptor(4096+32, 16, 1024, 1), map[int]int64{0: 4128, 2: 4096 + 128 + 48, 4: 4096 + 256, 15: 4096 + 896 + 64}},
		// part 16i+k is rows 8i to 8i+7 of column k
		{"across, no swizzle", true, descriptor(4096, 1024, 128, 0), map[int]int64{0: 4096, 1: 4112, 7: 4208, 8: 5120, 16: 4224, 24: 5248}},
		{"across, 32 bytes", true, descriptor(4096, 256, 1024, 3), map[int]int64{0: 4096, 1: 4128, 4: 4096 + 128 + 16, 8: 5120, 16: 4112, 20: 4096 + 128, 32: 4352}},
		{"across, 64 bytes", true, descriptor(4096, 512, 1024, 2), map[int]int64{0: 4096, 2: 4096 + 128 + 16, 8: 5120, 16: 4112, 64: 4608}},
		{"across, 128 bytes", true, descriptor(4096, 1024, 2048, 1), map[int]int64{0: 4096, 1: 4096 + 128 + 16, 8: 4096 + 2048, 17: 4096 + 128, 113: 4096 + 128 + 96, 112: 4096 + 112}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			x := sharedMatrix{64, c.across}.layout(c.descriptor)
			var got []int64
			x.parts(func(a int64) { got = append(got, a) })
			require.Len(t, got, 128)
			seen, least, most := map[int64]bool{}, got[0], got[0]
			for _, a := range got {
				assert.False(t, seen[a], "%d twice", a)
				seen[a] = true
				least, most = min(least, a), max(most, a)
			}
			lo, hi := x.span()
			assert.Equal(t, [2]int64{least &^ (x.width - 1), most&^(x.width-1) + x.width}, [2]int64{lo, hi})
			for i, a := range c.want {
				assert.Equal(t, a, got[i], "part %d", i)
			}
		})
	}
}

// TestMatricesOfLateCopies: thread 0 copies 16 bytes to one place, and wgmma
// reads its matrices: A, 64 rows from byte 3072 of smem on, B, 8 columns from
// 15360 on; both swizzled over 128 bytes, smem at address 1024.
func TestMatricesOfLateCopies(t *testing.T) {
	const wgmma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r5, %r6, %r7, %r8}, %rd20, %rd21, 1, 1, 1, 0, 0;"
	const inRegisters = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r5, %r6, %r7, %r8}, {%r1, %r1, %r1, %r1}, %rd21, 1, 1, 1, 0;"
	const bytes = "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%r5, %r6, %r7, %r8}, %rd20, %rd21, 1, 1, 1;"
	cases := []struct {
		name    string
		at      int // of the copy, in smem
		between string
		wgmma   string
		late    bool
	}{
		{"A's first bytes", 3072, "", wgmma, true},
		{"beside A's first row", 3072 + 32, "", wgmma, false},
		{"A's second row, swizzled", 3072 + 128 + 16, "", wgmma, true},
		{"where A's third row would be without", 3072 + 256, "", wgmma, false},
		{"A's last row", 3072 + 63*128 + 7*16, "", wgmma, true},
		{"after A", 3072 + 64*128, "", wgmma, false},
		{"A, waited for", 3072, "cp.async.commit_group; cp.async.wait_group 0;", wgmma, false},
		{"A, committed", 3072, "cp.async.commit_group; cp.async.wait_group 1;", wgmma, true},
		{"A's place, A in registers", 3072, "", inRegisters, false},
		{"B, A in registers", 15360 + 128, "", inRegisters, true},
		{"B", 15360 + 128, "", wgmma, true},
		{"after B", 15360 + 8*128, "", wgmma, false},
		{"A of bytes", 3072 + 16, "", bytes, true},
		{"a pattern off its boundary: not certain", 3072, "mov.b64 %rd30, 0x2000000000000; or.b64 %rd20, %rd20, %rd30; ", wgmma, false},
		{"a sparse matrix: not certain", 3072, "", strings.ReplaceAll(wgmma, ".sync", ".sp.sync"), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			body := fmt.Sprintf("mov.b32 %%r1, 0; mov.b32 %%r40, smem; setp.eq.u32 %%p1, %%tid, 5; mov.b64 %%rd20, %#x; mov.b64 %%rd21, %#x;"+
				"@%%p1 cp.async.cg.shared.global [%%r40+%d], [%%rd0], 16; %s\n bar.sync 0; %s\n cp.async.wait_all; ret;",
				descriptor(4096, 16, 1024, 1), descriptor(16384, 16, 1024, 1), c.at, c.between, c.wgmma)
			for _, mode := range []Mode{Sliced, Full} {
				l := handLaunch(kernel(t, 1, body), 1, 128, 32768, 256)
				l.Mode = mode
				o := analysed(t, l)
				require.True(t, o.Complete)
				if !c.late {
					require.Empty(t, o.LateCopies)
					continue
				}
				require.Len(t, o.LateCopies, 1)
				x := o.LateCopies[0]
				assert.Equal(t, uint64(c.at), x.Byte)
				assert.Equal(t, int64(16), x.Count)
				assert.False(t, x.Write)
				assert.Equal(t, [3]uint32{5, 0, 0}, x.Copy.Thread)
				assert.True(t, strings.HasPrefix(x.Use.Instruction, "wgmma.mma_async"))
			}
		})
	}
}

// TestMatmulThatWaitsTooLittle: a real pipeline of three stages, as it is and
// with a wait that leaves the stage outstanding which is read next.
func TestMatmulThatWaitsTooLittle(t *testing.T) {
	text, err := os.ReadFile("testdata/matmul_apart.ptx")
	require.NoError(t, err)
	for wait, late := range map[string]bool{"2": false, "3": true, "4": true} {
		changed := strings.Replace(string(text), "cp.async.wait_group \t2;", "cp.async.wait_group \t"+wait+";", 1)
		require.True(t, wait == "2" || changed != string(text))
		m, err := syntax.Parse("matmul.ptx", []byte(changed))
		require.NoError(t, err)
		l := launchOf(t, "matmul_apart.ptx", "", [3]uint32{2, 8, 1}, 8, 49152, 2*million, 2*million, 2*million)
		l.Entry = m.Entries[0]
		o := analysed(t, l)
		require.Equal(t, late, len(o.LateCopies) > 0, "wait_group %s: %+v", wait, o.LateCopies)
		for _, x := range o.LateCopies {
			assert.Equal(t, "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", x.Use.Instruction)
			assert.Equal(t, 116, x.Use.Line)
			assert.Contains(t, []int{114, 115}, x.Copy.Line)
		}
	}
}

package tensormap

import (
	"os"
	"strings"
	"testing"
)

// FuzzLog holds the reader to this: any text gives entries in order of their
// certainty, every entry is judged without a panic, and what the driver would
// refuse is repaired to what it would not, wherever a repair is offered as legal.
func FuzzLog(f *testing.F) {
	text, err := os.ReadFile("testdata/ragged_fa3.log")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(strings.Join(good(), "\n"))
	f.Add("[rank3]: tmaFormat: 9 dim: 4 gmem: 0x1\nShape: 1 2 3 4\nStride: 1 2 3\ntileShapes: 1 1 1 1\ntileStrides: 1 1 1 1\nswizzleType: 3\n")
	f.Add("Error in cuTensorMapEncodeTiled: x\ncu_dtype: 9\nTMA Desc Addr: 0x40\nTMA Interleave: 2\nTMA L2Promotion: 0\nTMA OOBFill: 1\n" +
		"SMEM Swizzle: 3\ntensor rank: 5\nglobal prob shape: 0 0 0 0 0\nglobal prob stride: 2 2 2 2\nsmem box shape: 0 999 1 1 1\nsmem box stride: 9 9 9 9 9\n")
	f.Fuzz(func(t *testing.T, text string) {
		stats, err := ReadLog(strings.NewReader(text), func(e Entry) {
			if e.First < 1 || e.Last < e.First {
				t.Errorf("lines %d to %d", e.First, e.Last)
			}
			checkRepair(t, e.Judgement())
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(strings.Count(text, "\n")); stats.Lines < want || stats.Lines > want+1 {
			t.Errorf("%d lines read of %d", stats.Lines, want)
		}
	})
}

// FuzzJudge holds rules and repairs to this for any numbers whatever: no panic, and
// every repair of known parameters is legal by the same rules.
func FuzzJudge(f *testing.F) {
	f.Add(uint8(3), uint8(9), uint64(0x7f00), uint64(128), uint64(1), uint64(32), uint64(2), uint64(256), uint64(64), uint64(128), uint64(1), uint8(0), uint8(3), uint8(0), uint8(0))
	f.Add(uint8(4), uint8(14), uint64(1), uint64(0), uint64(1<<63), uint64(1<<33), ^uint64(0), uint64(1<<40), uint64(0), uint64(999), uint64(9), uint8(2), uint8(6), uint8(1), uint8(1))
	f.Fuzz(func(t *testing.T, rank, ty uint8, address, d0, d1, d2, s0, s1, b0, b1, step uint64, interleave, swizzle, fill, mode uint8) {
		d := Descriptor{Known: TiledFields, TensorMap: address, DataType: DataType(ty % 16), Rank: int(rank%5) + 1, Address: address,
			Interleave: Interleave(interleave % 3), Swizzle: Swizzle(swizzle % 7), OOBFill: OOBFill(fill % 2)}
		for i := range d.Rank {
			d.Dims = append(d.Dims, []uint64{d0, d1, d2}[i%3])
			d.Box = append(d.Box, []uint64{b0, b1}[i%2])
			d.ElementStrides = append(d.ElementStrides, step)
			if i > 0 {
				d.Strides = append(d.Strides, []uint64{s0, s1}[i%2])
			}
		}
		if mode%2 == 1 && d.Rank >= 3 {
			d.Mode, d.Known = Im2col, Im2colFields
			for i := range d.Rank - 2 {
				d.LowerCorner = append(d.LowerCorner, int64(b0)>>i)
				d.UpperCorner = append(d.UpperCorner, int64(b1)>>i)
			}
			d.ChannelsPerPixel, d.PixelsPerColumn, d.Box = b0, b1, nil
		}
		j := Judge(d)
		checkRepair(t, j)
		if j.Verdict == Refused && d.Mode == Tiled && !(d.Interleave != InterleaveNone && d.Rank < 3) && (j.Fix == nil || !j.Fix.Legal) {
			t.Errorf("no legal repair for %+v: %+v", d, j)
		}
	})
}

func checkRepair(t *testing.T, j Judgement) {
	t.Helper()
	if j.Verdict == Refused && len(j.Rules()) == 0 || j.Verdict != Refused && len(j.Rules()) > 0 {
		t.Errorf("verdict %s with rules %v", j.Verdict, j.Rules())
	}
	if j.Fix == nil {
		return
	}
	if len(j.Fix.Changes) == 0 {
		t.Error("a repair without a change")
	}
	if again := Judge(j.Fix.Corrected); j.Fix.Legal == (again.Verdict == Refused) {
		t.Errorf("legal %v, judged %s", j.Fix.Legal, again.Verdict)
	}
}

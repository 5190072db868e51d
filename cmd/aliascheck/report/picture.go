package report

import (
	"fmt"
	"strings"

	"aliascheck/hlo"
	"aliascheck/rules"
)

// bar is one slice of a picture.
type bar struct {
	name  string
	slice hlo.Slice
}

// picture draws a finding's slices in their allocations, one bar a slice, all to
// the scale of the bytes that they span. It reports whether it drew anything.
func (t *textWriter) picture(f *rules.Finding) bool {
	bars := barsOf(f)
	names := 0
	for _, b := range bars {
		names = max(names, min(len([]rune(b.name)), maxName))
	}
	drawn := false
	for len(bars) > 0 {
		var same, rest []bar
		for _, b := range bars {
			if b.slice.Allocation == bars[0].slice.Allocation {
				same = append(same, b)
			} else {
				rest = append(rest, b)
			}
		}
		t.allocation(same, names)
		drawn = true
		bars = rest
	}
	return drawn
}

func barsOf(f *rules.Finding) []bar {
	var bars []bar
	if f.OperandSlice != nil {
		bars = append(bars, bar{operandName(f), *f.OperandSlice})
	}
	if f.ResultSlice != nil {
		bars = append(bars, bar{resultName(f), *f.ResultSlice})
	}
	for i := range f.Values {
		bars = append(bars, bar{Clean(f.Values[i].Name), f.Values[i].Slice})
	}
	for _, r := range f.Related {
		if r.Slice != nil && (f.OperandSlice == nil || *r.Slice != *f.OperandSlice) {
			bars = append(bars, bar{Clean(r.Instruction), *r.Slice})
		}
	}
	return bars
}

func operandName(f *rules.Finding) string {
	name := fmt.Sprintf("operand %d", *f.Operand)
	if len(f.OperandIndex) > 0 {
		name += " " + rules.IndexText(f.OperandIndex)
	}
	return name
}

func resultName(f *rules.Finding) string {
	if len(f.ResultIndex) == 0 {
		return "result"
	}
	return "result " + rules.IndexText(f.ResultIndex)
}

// maxName is what a picture spends on a name; longer ones are cut.
const maxName = 24

// allocation draws the bars of one allocation, and where the first two overlap.
func (t *textWriter) allocation(bars []bar, names int) {
	from, to := bars[0].slice.Offset, bars[0].slice.Offset+bars[0].slice.Size
	for _, b := range bars {
		from, to = min(from, b.slice.Offset), max(to, b.slice.Offset+b.slice.Size)
	}
	width := min(t.width, maxPicture) - 4 - names - 2 - 30
	width = max(width, 10)
	fmt.Fprintf(t.out, "    %s\n", t.paint.dim(fmt.Sprintf("allocation %d", bars[0].slice.Allocation)))
	cell := func(at int64) int { return int(float64(at-from) / float64(max(to-from, 1)) * float64(width)) }
	for _, b := range bars {
		x := cell(b.slice.Offset)
		y := max(cell(b.slice.Offset+b.slice.Size), x+1)
		y = min(y, width)
		x = min(x, y-1)
		line := strings.Repeat("·", x) + strings.Repeat("█", y-x) + strings.Repeat("·", width-y)
		name := shorten(b.name, names)
		fmt.Fprintf(t.out, "    %s%s  %s  %d–%d\n", name, strings.Repeat(" ", names-len([]rune(name))), line,
			b.slice.Offset, b.slice.Offset+b.slice.Size)
	}
	t.overlap(bars, names, width, cell)
}

func (t *textWriter) overlap(bars []bar, names, width int, cell func(int64) int) {
	if len(bars) < 2 {
		return
	}
	a, b := bars[0].slice, bars[1].slice
	lo, hi := max(a.Offset, b.Offset), min(a.Offset+a.Size, b.Offset+b.Size)
	if lo >= hi {
		return
	}
	x := min(cell(lo), width-1)
	y := min(max(cell(hi), x+1), width)
	mark := strings.Repeat(" ", x) + strings.Repeat("▲", y-x) + strings.Repeat(" ", width-y)
	fmt.Fprintf(t.out, "    %s  %s  %s shared\n", strings.Repeat(" ", names), t.paint.red(mark), rules.Bytes(hi-lo))
}

func shorten(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	return string(r[:width-1]) + "…"
}

package replay

import (
	"fmt"
	"slices"
)

// Bounds of contents in memory, in bytes: those that are made for one run, and the
// buffers of a replay, which are held a few times over.
const (
	maxMade   = 512 << 20
	maxReplay = 128 << 20
)

// Start gives every operand contents for a replay of configuration n: those that decided
// its accesses, with their recipes, those that were found, and random ones. The reason
// says why there are none.
func (p *Plan) Start(a *Analysis, n int) (operands [][]byte, inputs []Recipe, reason string) {
	if !a.Runs[n].Analysed {
		return nil, nil, a.Runs[n].Reason
	}
	var total int64
	for _, b := range p.Buffers {
		if total += b.Size; total > maxReplay {
			return nil, nil, fmt.Sprintf("its buffers take more than %s", Bytes(maxReplay))
		}
	}
	start := p.FoundContents()
	for m := range start {
		if start[m] == nil {
			start[m] = p.Made(start, []Recipe{{Operand: m, Kind: RandomInput, Seed: uint64(m) + 1}})[m]
		}
	}
	for _, r := range a.Runs[n].Inputs {
		if p.Buffers[r.Operand].Found == nil {
			start[r.Operand] = p.Made(start, []Recipe{r})[r.Operand]
		}
	}
	return start, a.Runs[n].Inputs, ""
}

// FoundContents gives the operands' contents that were found, nil for the others.
func (p *Plan) FoundContents() [][]byte {
	out := make([][]byte, p.Operands)
	for n := range out {
		out[n] = p.Buffers[n].Found
	}
	return out
}

// Made adds contents made by recipes. What is over the limit stays unknown.
func (p *Plan) Made(found [][]byte, recipes []Recipe) [][]byte {
	out := slices.Clone(found)
	var total int64
	for _, r := range recipes {
		b := &p.Buffers[r.Operand]
		if total += b.Size; total > maxMade {
			break
		}
		data := Contents(r, b.Element, b.Count())
		out[r.Operand] = append(data, make([]byte, b.Size-int64(len(data)))...)
	}
	return out
}

package tensormap

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// owned is a print in which every value names its process: a descriptor that mixes
// two processes shows it.
func owned(process int) []string {
	p := uint64(process + 1)
	return []string{
		fmt.Sprintf("TMA Desc Addr:   %#x", p*64), fmt.Sprintf("format         %d", p), fmt.Sprintf("dim            %d", 3),
		fmt.Sprintf("gmem_address   %#x", p*16), fmt.Sprintf("globalDim      (%d,%d,%d,1,1)", p, p, p),
		fmt.Sprintf("globalStrides  (2,%d,%d,0,0)", p*16, p*16), fmt.Sprintf("boxDim         (%d,%d,%d,1,1)", p, p, p),
		fmt.Sprintf("elementStrides (%d,%d,%d,1,1)", p, p, p), "interleave     0", "swizzle        3",
		fmt.Sprintf("l2Promotion    %d", p), "oobFill        0", fmt.Sprintf("Error: Failed to initialize the TMA descriptor %d", p),
	}
}

// owner is the process whose every value a descriptor has, or -1.
func owner(d *Descriptor) int {
	p := uint64(d.DataType)
	if d.Has(FieldTensorMap) && d.TensorMap != p*64 || d.Address != p*16 || uint64(d.L2Promotion) != p {
		return -1
	}
	for _, a := range [][]uint64{d.Dims, d.Box, d.ElementStrides, {d.Strides[0] / 16, d.Strides[1] / 16}} {
		for _, v := range a {
			if v != p {
				return -1
			}
		}
	}
	return int(p) - 1
}

// Prints of several processes, mingled line by line at random, some of them cut off
// because their process died: what is judged was printed by one process.
func TestNothingMixedIsJudged(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	const trials = 30000
	r := rand.New(rand.NewPCG(1, 2))
	clean, entangled := 0, 0
	for range trials {
		lines := mingled(r, 2+r.IntN(3), r.IntN(3) == 0)
		text := strings.Join(lines, "\n")
		got, _ := readAll(t, text)
		for _, e := range got {
			if e.Kind == Entangled {
				entangled++
				agrees(t, &e, lines)
			}
			if e.Kind != Printed || len(e.Problems) > 0 {
				continue
			}
			clean++
			p := owner(&e.Descriptor)
			if p < 0 {
				t.Fatalf("a mixed print was judged: %+v\n%s", e, text)
			}
		}
	}
	assert.Positive(t, clean, "some prints stand alone and are judged")
	assert.Positive(t, entangled)
}

// agrees checks that entangled lines are said to agree on a value only where every
// one of them has it.
func agrees(t *testing.T, e *Entry, lines []string) {
	t.Helper()
	for _, line := range lines[e.First-1 : e.Last] {
		if strings.HasPrefix(line, "format ") && e.Descriptor.Has(FieldDataType) && line != fmt.Sprintf("format         %d", int(e.Descriptor.DataType)) {
			t.Fatalf("entangled lines were said to agree: %+v\n%s", e, strings.Join(lines, "\n"))
		}
	}
}

// mingled merges the prints of some processes, each print's lines in order.
func mingled(r *rand.Rand, processes int, cut bool) []string {
	queues := make([][]string, processes)
	for i := range queues {
		for range 1 + r.IntN(2) {
			queues[i] = append(queues[i], owned(i)...)
		}
		if cut && r.IntN(2) == 0 {
			queues[i] = queues[i][:r.IntN(len(queues[i]))+1]
		}
	}
	var out []string
	stay := r.IntN(12) // how long one process tends to keep the log
	for i := r.IntN(processes); ; {
		if len(queues[i]) > 0 {
			out = append(out, queues[i][0])
			queues[i] = queues[i][1:]
		}
		if len(queues[i]) > 0 && r.IntN(stay+1) > 0 {
			continue
		}
		left := []int{}
		for j, q := range queues {
			if len(q) > 0 {
				left = append(left, j)
			}
		}
		if len(left) == 0 {
			return out
		}
		i = left[r.IntN(len(left))]
	}
}

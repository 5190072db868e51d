package replay

import (
	"fmt"

	"aliascheck/alias"
	"aliascheck/hlo/kernel"
)

// NotSaved says why the autotuner does not save operand leaf n, or nothing. It
// saves what an entry names as input, if the two buffers that the entry names
// have the same address (jaxlib/gpu/triton_kernels.cc).
func NotSaved(c *alias.Call, k *kernel.Call, n int) string {
	why := "the autotuner's table has no entry for it"
	x := &c.Operands[n]
	for _, e := range k.Saved {
		if e.Input != int64(n) {
			continue
		}
		out := LeafOf(c, e.Output)
		switch {
		case out == nil:
			why = fmt.Sprintf("its entry's output number %d is no buffer of the call", e.Output)
		case out.Allocation != x.Allocation || out.Slice.Offset != x.Slice.Offset:
			why = fmt.Sprintf("its entry's output number %d names another buffer, so jaxlib takes the pair for separate", e.Output)
		case x.Slice.Size > 0 && e.Size < uint64(x.Slice.Size):
			why = fmt.Sprintf("its entry saves %d of %d bytes", e.Size, x.Slice.Size)
		default:
			return ""
		}
	}
	return why
}

// LeafOf returns the leaf that a buffer's number names: operands,
// then results, flattened. nil where there is none.
func LeafOf(c *alias.Call, n int64) *alias.Leaf {
	ops := int64(len(c.Operands))
	switch {
	case n < 0 || n >= ops+int64(len(c.Results)):
		return nil
	case n < ops:
		return &c.Operands[n]
	}
	return &c.Results[n-ops]
}

package mosaic

import (
	"fmt"
	"strings"

	"aliascheck/hlo/kernel"
)

// tensorMap is a tensor map that the host function encodes, or why it is not known.
type tensorMap struct {
	kernel.TensorMap
	why string
}

// elements translates jaxlib's codes of element types to the driver's
// (CUtensorMapDataType), with the bits of an element (jaxlib/mosaic/gpu/runtime.cc; 9 and
// 10, the signed integers, in LaunchContext's _tma_dma_type).
func element(code int64) (driver uint32, bits int64, ok bool) {
	switch code {
	case 8:
		return 0, 2, true // uint8 for four int2
	case 0:
		return 0, 4, true // uint8 for two int4
	case 1:
		return 0, 8, true
	case 2:
		return 1, 16, true
	case 3:
		return 2, 32, true
	case 9:
		return 3, 32, true
	case 4:
		return 4, 64, true
	case 10:
		return 5, 64, true
	case 5:
		return 6, 16, true
	case 6:
		return 7, 32, true
	case 7:
		return 9, 16, true
	}
	return 0, 0, false
}

// swizzle translates a swizzle in bytes to the driver's number.
func swizzle(bytes int64) (uint32, bool) {
	switch bytes {
	case 16:
		return 0, true
	case 32:
		return 1, true
	case 64:
		return 2, true
	case 128:
		return 3, true
	}
	return 0, false
}

const encoder = "@mosaic_gpu_init_tma_desc("

// call follows a call of the function that encodes a tensor map.
func (r *run) call(rest string) error {
	text, ok := strings.CutPrefix(rest, encoder)
	if !ok {
		name, _, _ := strings.Cut(rest, "(")
		return problem(fmt.Sprintf("line %d: it calls %s", r.host.number+r.line, name))
	}
	text, _, _ = strings.Cut(text, ")")
	names := strings.Split(text, ", ")
	if len(names) != 8 {
		return r.wrong("a tensor map of %d arguments, 8 were expected", len(names))
	}
	var v [8]value
	for i, name := range names {
		v[i] = r.operand(name)
	}
	if v[0].kind != local {
		return problem(fmt.Sprintf("line %d: it encodes a tensor map at %s", r.host.number+r.line, v[0]))
	}
	r.memory[v[0].where].maps[v[0].number] = r.encode(v)
	return nil
}

// encode gives a tensor map as jaxlib encodes it: where, base address, type, rank, sizes,
// strides in elements, swizzle, box; outermost dimension first.
func (r *run) encode(v [8]value) tensorMap {
	fail := func(format string, args ...any) tensorMap { return tensorMap{why: fmt.Sprintf(format, args...)} }
	if v[1].kind != pointer {
		return fail("its address is %s", v[1])
	}
	if v[2].kind != number || v[3].kind != number || v[6].kind != number {
		return fail("its type, rank or swizzle is not a constant")
	}
	code, bits, known := element(v[2].number)
	mode, good := swizzle(v[6].number)
	rank := v[3].number
	switch {
	case !known:
		return fail("jaxlib knows no element type %d", v[2].number)
	case !good:
		return fail("jaxlib knows no swizzle of %d bytes", v[6].number)
	case rank < 1 || rank > 5:
		return fail("its rank is %d", rank)
	}
	t := tensorMap{TensorMap: kernel.TensorMap{Buffer: v[1].where, Offset: v[1].number, ElemType: code, Swizzle: mode}}
	for i := range rank {
		size, a := r.number(v[4], i)
		stride, b := r.number(v[5], i)
		box, c := r.number(v[7], i)
		if !a || !b || !c || size < 0 || stride < 0 || box < 0 || box > 1<<31 {
			return fail("its sizes, strides or box are not constants")
		}
		// Elements smaller than a byte are packed along the innermost dimension.
		if packing := 8 / bits; packing > 1 {
			if i == rank-1 {
				size, box = size/packing, box/packing
			} else {
				stride /= packing
			}
		}
		t.Shape = append(t.Shape, uint64(size))
		t.Strides = append(t.Strides, uint64(stride))
		t.BlockShape = append(t.BlockShape, uint32(box))
	}
	return t
}

// number is the i-th of the numbers at an address.
func (r *run) number(at value, i int64) (int64, bool) {
	if at.kind != local {
		return 0, false
	}
	n, ok := r.memory[at.where].numbers[at.number+8*i]
	return n, ok
}

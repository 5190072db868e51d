package replay

import (
	"fmt"

	"aliascheck/hlo/kernel"
	"aliascheck/rules/ptx/syntax"
	"aliascheck/rules/tensormap"
)

// ParseEntry reads a configuration's PTX and finds its entry.
func ParseEntry(k *kernel.Configuration) (*syntax.Entry, error) {
	if len(k.PTX) == 0 {
		return nil, fmt.Errorf("kernel %s: the call holds no PTX", k.Entry)
	}
	module, err := syntax.Parse(k.FileName(), k.PTX)
	if err != nil {
		return nil, err
	}
	entry := module.Entry(k.Entry)
	if entry == nil {
		return nil, fmt.Errorf("kernel %s: the PTX has no entry of this name", k.Entry)
	}
	return entry, nil
}

// Bind holds a configuration's parameters to those of its entry, and to the number of
// the call's buffers.
func Bind(k *kernel.Configuration, entry *syntax.Entry, buffers int) ([]kernel.Param, error) {
	sizes := make([]int, 0, len(entry.Params))
	for _, param := range entry.Params {
		sizes = append(sizes, param.Size)
	}
	return k.Bind(sizes, buffers)
}

// JudgeTensorMap holds a descriptor that the host encodes before the launch to the
// rules for descriptors.
func JudgeTensorMap(t *kernel.TensorMap) (tensormap.Descriptor, tensormap.Judgement) {
	box := make([]uint64, len(t.BlockShape))
	for i, v := range t.BlockShape {
		box[i] = uint64(v)
	}
	return tensormap.JudgeTriton(tensormap.TritonFields{
		ElemType: uint64(t.ElemType), Swizzle: uint64(t.Swizzle), OOBFill: uint64(t.OOBFill),
		Shape: t.Shape, Strides: t.Strides, BlockShape: box})
}

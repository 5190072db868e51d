package triton

import (
	"fmt"
	"math"

	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/triton/tritonpb"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// newParams turns a kernel's parameters into the plain model. Each that takes a buffer
// takes the next one, operands first; one of an unknown kind is taken to do so, too.
func newParams(list []*tritonpb.Parameter, scratch, align uint32, blocks int64) []kernel.Param {
	params := make([]kernel.Param, 0, len(list)+2)
	next := 0
	for _, p := range list {
		param := newParam(p, next)
		if param.Kind != kernel.Scalar {
			next++
		}
		params = append(params, param)
	}
	// What follows the kernel's own parameters in newer jaxlib: the launch's global
	// scratch, and the profiler's buffer, for which jaxlib passes null.
	return append(params,
		kernel.Param{Kind: kernel.Scratch, Bytes: blocks * int64(scratch), Align: align, Optional: true},
		kernel.Param{Kind: kernel.Null, Optional: true})
}

// newParam turns a parameter's message into the plain model. A kind newer than
// our proto becomes Other with its field number: a kernel with such a parameter
// cannot be launched by us, but its call can still be audited.
func newParam(p *tritonpb.Parameter, buffer int) kernel.Param {
	switch v := p.GetValue().(type) {
	case *tritonpb.Parameter_Array_:
		return kernel.Param{Kind: kernel.Pointer, Buffer: buffer, Zero: v.Array.GetBytesToZero(), Divisibility: v.Array.GetPtrDivisibility()}
	case *tritonpb.Parameter_Bool_:
		if v.Bool_ {
			return scalar("bool", 1, 1)
		}
		return scalar("bool", 0, 1)
	case *tritonpb.Parameter_I32:
		return scalar("i32", uint64(uint32(v.I32)), 4)
	case *tritonpb.Parameter_U32:
		return scalar("u32", uint64(v.U32), 4)
	case *tritonpb.Parameter_I64:
		return scalar("i64", uint64(v.I64), 8)
	case *tritonpb.Parameter_U64:
		return scalar("u64", v.U64, 8)
	case *tritonpb.Parameter_F32:
		return scalar("f32", uint64(math.Float32bits(v.F32)), 4)
	case *tritonpb.Parameter_F64:
		return scalar("f64", math.Float64bits(v.F64), 8)
	case *tritonpb.Parameter_TensorDescriptor:
		return newDescriptor(v.TensorDescriptor, buffer)
	}
	return kernel.Param{Kind: kernel.Other, Buffer: buffer, Type: unknownField(p.ProtoReflect())}
}

func newDescriptor(d *tritonpb.TensorDescriptor, buffer int) kernel.Param {
	n := d.GetNvidia()
	if n == nil {
		return kernel.Param{Kind: kernel.Other, Buffer: buffer, Type: "tensor_descriptor, " + unknownField(d.ProtoReflect())}
	}
	return kernel.Param{Kind: kernel.TensorMaps, Type: "tensor_descriptor (nvidia)", Maps: []kernel.TensorMap{{
		Buffer: buffer, ElemType: n.GetElemType(), Swizzle: n.GetSwizzle(), OOBFill: n.GetOobFill(),
		Shape: n.GetShape(), Strides: n.GetStrides(), BlockShape: n.GetBlockShape(),
	}}}
}

// unknownField names the field of m that our proto does not know.
func unknownField(m protoreflect.Message) string {
	number, _, n := protowire.ConsumeTag(m.GetUnknown())
	if n < 0 {
		return "no value"
	}
	return fmt.Sprintf("field %d", number)
}

func scalar(name string, bits uint64, size uint8) kernel.Param {
	return kernel.Param{Kind: kernel.Scalar, Type: name, Bits: bits, Size: size}
}

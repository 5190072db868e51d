package tensormap

import (
	"fmt"
	"strconv"
	"strings"
)

// The driver's enumerators share these stems; logs print them with or without.
const (
	stemDataType   = "CU_TENSOR_MAP_DATA_TYPE_"
	stemInterleave = "CU_TENSOR_MAP_INTERLEAVE_"
	stemSwizzle    = "CU_TENSOR_MAP_SWIZZLE_"
	stemPromotion  = "CU_TENSOR_MAP_L2_PROMOTION_"
	stemFill       = "CU_TENSOR_MAP_FLOAT_OOB_FILL_"
)

func dataTypeNames() []string {
	return []string{"UINT8", "UINT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT16", "FLOAT32", "FLOAT64",
		"BFLOAT16", "FLOAT32_FTZ", "TFLOAT32", "TFLOAT32_FTZ", "16U4_ALIGN8B", "16U4_ALIGN16B", "16U6_ALIGN16B"}
}

// dataTypeShort are the names that people type, in the same order.
func dataTypeShort() []string {
	return []string{"u8", "u16", "u32", "i32", "u64", "i64", "f16", "f32", "f64",
		"bf16", "f32_ftz", "tf32", "tf32_ftz", "16u4_align8b", "16u4_align16b", "16u6_align16b"}
}

func interleaveNames() []string { return []string{"NONE", "16B", "32B"} }

func swizzleNames() []string {
	return []string{"NONE", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B"}
}

func promotionNames() []string { return []string{"NONE", "L2_64B", "L2_128B", "L2_256B"} }

func fillNames() []string { return []string{"NONE", "NAN_REQUEST_ZERO_FMA"} }

func nameOf(names []string, v int) string {
	if v >= 0 && v < len(names) {
		return names[v]
	}
	return strconv.Itoa(v)
}

func (t DataType) String() string    { return nameOf(dataTypeNames(), int(t)) }
func (i Interleave) String() string  { return nameOf(interleaveNames(), int(i)) }
func (p L2Promotion) String() string { return nameOf(promotionNames(), int(p)) }
func (f OOBFill) String() string     { return nameOf(fillNames(), int(f)) }

func (s Swizzle) String() string {
	if s == Swizzle96B {
		return "96B"
	}
	return nameOf(swizzleNames(), int(s))
}

// parseEnum reads a number, an enumerator, or an enumerator without its stem, in
// any case. A number past the table is an error only where strict.
func parseEnum(what, text, stem string, strict bool, tables ...[]string) (int, error) {
	t := strings.TrimSpace(text)
	if n, err := strconv.ParseUint(t, 10, 31); err == nil {
		if strict && n >= uint64(len(tables[0])) {
			return 0, fmt.Errorf("%s: %d is not one of 0 to %d", what, n, len(tables[0])-1)
		}
		return int(n), nil
	}
	t = strings.ToUpper(t)
	t = strings.TrimPrefix(t, stem)
	for _, names := range tables {
		for i, name := range names {
			if strings.EqualFold(name, t) {
				return i, nil
			}
		}
	}
	return 0, fmt.Errorf("%s: %q is none of %s", what, clip(text), strings.Join(tables[len(tables)-1], ", "))
}

// ParseDataType reads a data type: the driver's number (9), its enumerator with or
// without CU_TENSOR_MAP_DATA_TYPE_, or a short name such as bf16.
func ParseDataType(s string) (DataType, error) {
	alias := map[string]string{"UINT8_T": "u8", "S32": "i32", "S64": "i64", "HALF": "f16", "FLOAT": "f32", "DOUBLE": "f64",
		"BFLOAT": "bf16", "FP16": "f16", "FP32": "f32", "FP64": "f64", "FP8": "u8", "E4M3": "u8", "E5M2": "u8"}
	if a, ok := alias[strings.ToUpper(strings.TrimSpace(s))]; ok {
		s = a
	}
	v, err := parseEnum("data type", s, stemDataType, true, dataTypeNames(), dataTypeShort())
	return DataType(v), err
}

// ParseInterleave reads an interleaved layout: none, 16B, 32B, or the driver's number.
func ParseInterleave(s string) (Interleave, error) {
	v, err := parseEnum("interleave", s, stemInterleave, true, interleaveNames())
	return Interleave(v), err
}

// ParseSwizzle reads a swizzle mode: none, 32B, 64B, 128B, 128B_ATOM_32B,
// 128B_ATOM_32B_FLIP_8B, 128B_ATOM_64B, or the driver's number.
func ParseSwizzle(s string) (Swizzle, error) {
	v, err := parseEnum("swizzle", s, stemSwizzle, true, swizzleNames())
	return Swizzle(v), err
}

// ParseL2Promotion reads an L2 promotion: none, 64B, 128B, 256B, or the driver's number.
func ParseL2Promotion(s string) (L2Promotion, error) {
	v, err := parseEnum("l2Promotion", s, stemPromotion, true, promotionNames(), []string{"none", "64B", "128B", "256B"})
	return L2Promotion(v), err
}

// ParseOOBFill reads an out-of-bounds fill: none, nan, or the driver's number.
func ParseOOBFill(s string) (OOBFill, error) {
	v, err := parseEnum("oobFill", s, stemFill, true, fillNames(), []string{"none", "nan"})
	return OOBFill(v), err
}

// names lists the fields of a set as the driver's documentation calls them.
func (f Field) names() []string {
	all := []string{"tensorMap", "tensorDataType", "tensorRank", "globalAddress", "globalDim", "globalStrides", "boxDim",
		"elementStrides", "interleave", "swizzle", "l2Promotion", "oobFill", "pixelBoxLowerCorner", "pixelBoxUpperCorner",
		"channelsPerPixel", "pixelsPerColumn"}
	var out []string
	for i, name := range all {
		if f&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

func (f Field) String() string { return strings.Join(f.names(), ", ") }

// clip shortens text from outside for a message.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

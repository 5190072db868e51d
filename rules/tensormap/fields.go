package tensormap

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// dialect is the way in which a library prints a descriptor.
type dialect int

const (
	cutlass  dialect = iota // CUTLASS, and tilelang and early TVM after it
	trtllm                  // TensorRT-LLM, and FlashInfer's kernels from it
	tvm                     // TVM's runtime.cuTensorMapEncodeTiled
	dialects                // how many there are
)

func (d dialect) String() string { return [...]string{"CUTLASS", "TensorRT-LLM", "TVM"}[d] }

// spelling is one way to print a parameter.
type spelling struct {
	text    string
	dialect dialect
	field   Field // several where one line carries several
	weak    bool  // an everyday word: alone it starts nothing
}

// vocabulary holds the spellings by their first byte, longer ones before their own
// beginnings.
type vocabulary [256][]spelling

func newVocabulary() *vocabulary {
	var v vocabulary
	add := func(d dialect, f Field, weak bool, texts ...string) {
		for _, t := range texts {
			v[t[0]] = append(v[t[0]], spelling{t, d, f, weak})
		}
	}
	add(cutlass, FieldTensorMap, false, "TMA Desc Addr", "tensorMap")
	add(cutlass, FieldDataType, true, "format", "dataType")
	add(cutlass, FieldDataType, false, "tensorDataType")
	add(cutlass, FieldRank, true, "dim")
	add(cutlass, FieldRank, false, "tensorRank")
	add(cutlass, FieldAddress, false, "gmem_address", "globalAddress")
	add(cutlass, FieldDims, false, "globalDim")
	add(cutlass, FieldStrides, false, "globalStrides", "globalStride")
	add(cutlass, FieldBox, false, "boxDim")
	add(cutlass, FieldElementStrides, false, "elementStrides", "elementStride")
	add(cutlass, FieldInterleave, true, "interleave")
	add(cutlass, FieldSwizzle, true, "swizzle")
	add(cutlass, FieldL2Promotion, false, "l2Promotion")
	add(cutlass, FieldOOBFill, false, "oobFill")
	add(trtllm, FieldDataType|FieldRank|FieldAddress, false, "tmaFormat")
	add(trtllm, FieldDims, true, "Shape")
	add(trtllm, FieldStrides, true, "Stride")
	add(trtllm, FieldBox, false, "tileShapes")
	add(trtllm, FieldElementStrides, false, "tileStrides")
	add(trtllm, FieldSwizzle, false, "swizzleType")
	add(tvm, FieldDataType, false, "cu_dtype")
	add(tvm, FieldInterleave, false, "TMA Interleave")
	add(tvm, FieldL2Promotion, false, "TMA L2Promotion")
	add(tvm, FieldOOBFill, false, "TMA OOBFill")
	add(tvm, FieldSwizzle, false, "SMEM Swizzle")
	add(tvm, FieldRank, true, "tensor rank")
	add(tvm, FieldDims, false, "global prob shape")
	add(tvm, FieldStrides, false, "global prob stride")
	add(tvm, FieldBox, false, "smem box shape")
	add(tvm, FieldElementStrides, false, "smem box stride")
	return &v
}

// at recognizes a parameter at the start of s: its spelling, and what follows it
// without the separator. A spelling must end where a word ends.
func (v *vocabulary) at(s []byte) (spelling, []byte, bool) {
	if len(s) == 0 {
		return spelling{}, nil, false
	}
	for _, sp := range v[s[0]] {
		rest, ok := bytes.CutPrefix(s, []byte(sp.text))
		if !ok || len(rest) == 0 || !isSpace(rest[0]) && rest[0] != ':' && rest[0] != '=' {
			continue
		}
		rest = bytes.TrimLeft(rest, " \t")
		if len(rest) > 0 && (rest[0] == ':' || rest[0] == '=') {
			rest = rest[1:]
		}
		return sp, bytes.TrimSpace(rest), true
	}
	return spelling{}, nil, false
}

// required are the parameters without which a print is cut short. What a dialect
// never prints is implied or stays unknown.
func (d dialect) required() Field {
	switch d {
	case trtllm:
		return FieldDataType | FieldRank | FieldAddress | FieldDims | FieldStrides | FieldBox | FieldElementStrides | FieldSwizzle
	case tvm:
		return TiledFields &^ (FieldAddress | FieldTensorMap | FieldL2Promotion)
	}
	return TiledFields &^ (FieldTensorMap | FieldL2Promotion)
}

// order is where a parameter stands in a print, from 0.
func (d dialect) order(f Field) int {
	if d != tvm {
		return bits.TrailingZeros32(uint32(f)) // as the driver's arguments
	}
	for i, g := range [...]Field{FieldDataType, FieldTensorMap, FieldInterleave, FieldL2Promotion, FieldOOBFill, FieldSwizzle,
		FieldRank, FieldDims, FieldStrides, FieldBox, FieldElementStrides} {
		if f == g {
			return i
		}
	}
	return -1
}

// final is the parameter that ends a print.
func (d dialect) final() Field {
	switch d {
	case trtllm:
		return FieldSwizzle
	case tvm:
		return FieldElementStrides
	}
	return FieldOOBFill
}

// maxEntries is the most entries of a printed array that are kept: real prints have
// up to five.
const maxEntries = 8

// values are the parameters of a print as they stand in it, not yet cut to its rank.
type values struct {
	tensorMap, address                         uint64
	dataType, interleave, swizzle, promo, fill int
	rank                                       int
	dims, strides, box, steps                  []uint64
}

// set reads the value of a parameter. An error says what is wrong with the text.
func (v *values) set(sp spelling, text string) error {
	text = strings.TrimSpace(cutRepeated(text))
	var err error
	switch sp.field {
	case FieldTensorMap:
		v.tensorMap, err = parsePointer(text)
	case FieldAddress:
		v.address, err = parsePointer(text)
	case FieldDataType:
		v.dataType, err = parsePrinted(text, stemDataType, dataTypeNames(), dataTypeShort())
	case FieldInterleave:
		v.interleave, err = parsePrinted(text, stemInterleave, interleaveNames())
	case FieldSwizzle:
		v.swizzle, err = parsePrinted(text, stemSwizzle, swizzleNames())
	case FieldL2Promotion:
		v.promo, err = parsePrinted(text, stemPromotion, promotionNames())
	case FieldOOBFill:
		v.fill, err = parsePrinted(text, stemFill, fillNames())
	case FieldRank:
		v.rank, err = parsePrinted(text, "", nil)
	case FieldDims:
		v.dims, err = parseArray(text)
	case FieldStrides:
		v.strides, err = parseArray(text)
	case FieldBox:
		v.box, err = parseArray(text)
	case FieldElementStrides:
		v.steps, err = parseArray(text)
	default:
		err = v.setHead(text)
	}
	return err
}

// setHead reads TensorRT-LLM's first line: "9 dim: 4 gmem: 0x7b4cc0000000".
func (v *values) setHead(text string) error {
	w := strings.Fields(text)
	if len(w) != 5 || w[1] != "dim:" || w[3] != "gmem:" {
		return fmt.Errorf("%q is not FORMAT dim: RANK gmem: ADDRESS", clip(text))
	}
	var err [3]error
	v.dataType, err[0] = parsePrinted(w[0], stemDataType, dataTypeNames())
	v.rank, err[1] = parsePrinted(w[2], "", nil)
	v.address, err[2] = parsePointer(w[4])
	for _, e := range err {
		if e != nil {
			return e
		}
	}
	return nil
}

// cutRepeated takes off Ray's "[repeated 7x across cluster]".
func cutRepeated(s string) string {
	if i := strings.Index(s, "[repeated "); i > 0 {
		return s[:i]
	}
	return s
}

// parsePrinted reads a printed enumeration or count: a number, an enumerator, or a
// number with its enumerator after it, which must agree.
func parsePrinted(text, stem string, tables ...[]string) (int, error) {
	w := strings.Fields(text)
	if len(w) == 0 || len(w) > 2 {
		return 0, fmt.Errorf("%q is not one value", clip(text))
	}
	if len(tables) == 0 || tables[0] == nil {
		n, err := strconv.ParseUint(w[0], 10, 31)
		if err != nil || len(w) > 1 {
			return 0, fmt.Errorf("%q is not a number", clip(text))
		}
		return int(n), nil
	}
	v, err := parseEnum("value", strings.Trim(w[0], "(),"), stem, false, tables...)
	if err != nil || len(w) == 1 {
		return v, err
	}
	named, err := parseEnum("value", strings.Trim(w[1], "()[],"), stem, false, tables...)
	if err == nil && named != v {
		err = fmt.Errorf("%q names two values", clip(text))
	}
	return v, err
}

// parsePointer reads an address as C++ streams and printf write it.
func parsePointer(text string) (uint64, error) {
	switch strings.ToLower(text) {
	case "0", "(nil)", "nil", "null", "nullptr", "none":
		return 0, nil
	}
	if hexText, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		return strconv.ParseUint(hexText, 16, 64)
	}
	if len(text) == 16 { // Windows
		return strconv.ParseUint(text, 16, 64)
	}
	return 0, fmt.Errorf("%q is not an address", clip(text))
}

// parseArray reads (128,1,32,1,1), [128, 1, 32] or 128 1 32.
func parseArray(text string) ([]uint64, error) {
	inner := text
	for _, pair := range []string{"()", "[]", "{}"} {
		if s, ok := strings.CutPrefix(text, pair[:1]); ok {
			if inner, ok = strings.CutSuffix(s, pair[1:]); !ok {
				return nil, fmt.Errorf("%q has no closing bracket", clip(text))
			}
			break
		}
	}
	if strings.HasPrefix(inner, "0x") {
		return nil, fmt.Errorf("%q is the address of an array, not its values", clip(text))
	}
	inner = strings.TrimSpace(inner)
	var words []string
	if strings.Contains(inner, ",") {
		words = strings.Split(inner, ",")
	} else {
		words = strings.Fields(inner)
	}
	if len(words) == 0 || len(words) > maxEntries {
		return nil, fmt.Errorf("%q is not 1 to %d numbers", clip(text), maxEntries)
	}
	out := make([]uint64, 0, len(words))
	for _, w := range words {
		n, err := strconv.ParseUint(strings.TrimSpace(w), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", clip(w))
		}
		out = append(out, n)
	}
	return out, nil
}

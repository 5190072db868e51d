package tensormap

// MaxRank is the most dimensions that a descriptor can have.
const MaxRank = 5

// Mode says which function of the driver a descriptor is for.
type Mode int

// The modes.
const (
	Tiled  Mode = iota // cuTensorMapEncodeTiled
	Im2col             // cuTensorMapEncodeIm2col
)

// Function is the driver's function for the mode.
func (m Mode) Function() string {
	if m == Im2col {
		return "cuTensorMapEncodeIm2col"
	}
	return "cuTensorMapEncodeTiled"
}

// DataType is CUtensorMapDataType, in the driver's numbers. The PTX ISA numbers
// the same types otherwise: see [FromReplace].
type DataType int

// The data types.
const (
	UInt8 DataType = iota
	UInt16
	UInt32
	Int32
	UInt64
	Int64
	Float16
	Float32
	Float64
	BFloat16
	Float32FTZ
	TFloat32
	TFloat32FTZ
	Packed16U4Align8B
	Packed16U4Align16B
	Packed16U6Align16B
)

// Bits is the size of one element in bits, or 0 for a type that is not known.
func (t DataType) Bits() uint64 {
	switch t {
	case UInt8:
		return 8
	case UInt16, Float16, BFloat16:
		return 16
	case UInt32, Int32, Float32, Float32FTZ, TFloat32, TFloat32FTZ:
		return 32
	case UInt64, Int64, Float64:
		return 64
	case Packed16U4Align8B, Packed16U4Align16B:
		return 4
	case Packed16U6Align16B:
		return 6
	}
	return 0
}

// Float reports whether out-of-bounds elements of the type can be filled with NaN.
func (t DataType) Float() bool { return t >= Float16 && t <= TFloat32FTZ }

// padded reports whether the type is one of the two packed types that stand in
// shared memory with gaps and have rules of their own (types 14 and 15).
func (t DataType) padded() bool { return t == Packed16U4Align16B || t == Packed16U6Align16B }

// Interleave is CUtensorMapInterleave.
type Interleave int

// The interleaved layouts.
const (
	InterleaveNone Interleave = iota
	Interleave16B
	Interleave32B
)

// Swizzle is CUtensorMapSwizzle, and one mode that only the PTX ISA has.
type Swizzle int

// The swizzle modes.
const (
	SwizzleNone Swizzle = iota
	Swizzle32B
	Swizzle64B
	Swizzle128B
	Swizzle128BAtom32B
	Swizzle128BAtom32BFlip8B
	Swizzle128BAtom64B

	// Swizzle96B exists in tensormap.replace only (PTX ISA, swizzle_mode 4): the
	// driver has no number for it, and this one is out of its range on purpose.
	Swizzle96B Swizzle = 96
)

// Span is the width of the swizzle pattern in bytes; 0 for none and for a mode
// that is not known.
func (s Swizzle) Span() uint64 {
	switch s {
	case Swizzle32B:
		return 32
	case Swizzle64B:
		return 64
	case Swizzle96B:
		return 96
	case Swizzle128B, Swizzle128BAtom32B, Swizzle128BAtom32BFlip8B, Swizzle128BAtom64B:
		return 128
	}
	return 0
}

// L2Promotion is CUtensorMapL2promotion: 0 none, 1 64 bytes, 2 128, 3 256.
type L2Promotion int

// OOBFill is CUtensorMapFloatOOBfill.
type OOBFill int

// The out-of-bounds fills.
const (
	FillZero OOBFill = iota // CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
	FillNaN                 // CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
)

// Field is a set of parameters of a descriptor.
type Field uint32

// The parameters, one bit each, in the order of the driver's arguments.
const (
	FieldTensorMap Field = 1 << iota
	FieldDataType
	FieldRank
	FieldAddress
	FieldDims
	FieldStrides
	FieldBox
	FieldElementStrides
	FieldInterleave
	FieldSwizzle
	FieldL2Promotion
	FieldOOBFill
	FieldLowerCorner
	FieldUpperCorner
	FieldChannelsPerPixel
	FieldPixelsPerColumn
)

// TiledFields are the parameters of cuTensorMapEncodeTiled.
const TiledFields = FieldTensorMap | FieldDataType | FieldRank | FieldAddress | FieldDims | FieldStrides |
	FieldBox | FieldElementStrides | FieldInterleave | FieldSwizzle | FieldL2Promotion | FieldOOBFill

// Im2colFields are the parameters of cuTensorMapEncodeIm2col.
const Im2colFields = TiledFields&^FieldBox | FieldLowerCorner | FieldUpperCorner | FieldChannelsPerPixel | FieldPixelsPerColumn

// Descriptor is one set of parameters. Known says which of them are: the others
// hold nothing. Arrays hold exactly the entries that the driver reads, given a
// rank in its range: Rank of Dims, Box and ElementStrides, Rank-1 of Strides,
// Rank-2 corners.
type Descriptor struct {
	Mode  Mode
	Known Field

	TensorMap      uint64 // address of the CUtensorMap itself
	DataType       DataType
	Rank           int
	Address        uint64   // globalAddress
	Dims           []uint64 // globalDim: elements, innermost first
	Strides        []uint64 // globalStrides: bytes, of dimensions 1 to Rank-1
	Box            []uint64 // boxDim: elements
	ElementStrides []uint64 // elementStrides: elements
	Interleave     Interleave
	Swizzle        Swizzle
	L2Promotion    L2Promotion
	OOBFill        OOBFill

	// Im2col only.
	LowerCorner      []int64 // pixelBoxLowerCorner: W, then H, then D
	UpperCorner      []int64 // pixelBoxUpperCorner, counted from the far edge
	ChannelsPerPixel uint64
	PixelsPerColumn  uint64
}

// Has reports whether all of the fields are known.
func (d *Descriptor) Has(f Field) bool { return d.Known&f == f }

// Missing are the parameters that the driver would be given and that are not known.
func (d *Descriptor) Missing() Field {
	if d.Mode == Im2col {
		return Im2colFields &^ d.Known
	}
	return TiledFields &^ d.Known
}

// innerBytes is the width in bytes of n elements, rounded up to whole bytes.
// The second result is false for a type that is not known, or a size past 2^61.
func (d *Descriptor) innerBytes(n uint64) (uint64, bool) {
	bits := d.DataType.Bits()
	if bits == 0 || n > 1<<55 {
		return 0, false
	}
	return (n*bits + 7) / 8, true
}

// clone copies the descriptor and its arrays.
func (d *Descriptor) clone() Descriptor {
	c := *d
	c.Dims = append([]uint64(nil), d.Dims...)
	c.Strides = append([]uint64(nil), d.Strides...)
	c.Box = append([]uint64(nil), d.Box...)
	c.ElementStrides = append([]uint64(nil), d.ElementStrides...)
	c.LowerCorner = append([]int64(nil), d.LowerCorner...)
	c.UpperCorner = append([]int64(nil), d.UpperCorner...)
	return c
}

package cudarun

import (
	"encoding/binary"
	"math"
)

// elementKind says how the bits of an element are a number. The values are those
// of the compare kernel.
type elementKind uint32

const (
	kindBits     elementKind = iota // no number that we know: compared as bits only
	kindHalf                        // f16
	kindBrain                       // bf16
	kindFloat                       // f32
	kindDouble                      // f64
	kindSigned                      // s8 to s64
	kindUnsigned                    // u8 to u64, pred
)

// element is how a result is compared: a kind, and the size as a power of two.
type element struct {
	kind elementKind
	log  uint32
}

func (e element) bytes() int64 { return 1 << e.log }

// elementOf knows XLA's element types by name (xla/xla_data.proto, lower case).
// A complex number counts as two elements, a type that we do not know as bytes.
func elementOf(name string) element {
	switch name {
	case "f16":
		return element{kindHalf, 1}
	case "bf16":
		return element{kindBrain, 1}
	case "f32", "c64":
		return element{kindFloat, 2}
	case "f64", "c128":
		return element{kindDouble, 3}
	case "s8":
		return element{kindSigned, 0}
	case "s16":
		return element{kindSigned, 1}
	case "s32":
		return element{kindSigned, 2}
	case "s64":
		return element{kindSigned, 3}
	case "u8", "pred":
		return element{kindUnsigned, 0}
	case "u16":
		return element{kindUnsigned, 1}
	case "u32":
		return element{kindUnsigned, 2}
	case "u64":
		return element{kindUnsigned, 3}
	}
	return element{kindBits, 0}
}

// fit is the element, or bytes where the buffer is no whole number of elements.
func (e element) fit(bytes int64) element {
	if bytes%e.bytes() != 0 {
		return element{kindBits, 0}
	}
	return e
}

// tolerance is how far elements may be apart and still be the same; the zero
// value compares bits.
type tolerance struct {
	relative float64 // of the larger magnitude of the two
	absolute float64
}

// number reads one little-endian element.
func (e element) number(b []byte) float64 {
	switch e.kind {
	case kindBits:
		return 0
	case kindHalf:
		return halfToFloat(binary.LittleEndian.Uint16(b))
	case kindBrain:
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
	case kindFloat:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case kindDouble:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	bits := uint64(0)
	for i := range e.bytes() {
		bits |= uint64(b[i]) << (8 * i)
	}
	if e.kind == kindSigned {
		shift := 64 - 8*e.bytes()
		return float64(int64(bits<<shift) >> shift)
	}
	return float64(bits)
}

// unequal compares one element of a with one of b, as the kernel of that name
// does: whether they differ, and by what finite number (NaN: by none).
func (e element) unequal(a, b []byte, t tolerance) (bool, float64) {
	n := e.bytes()
	if string(a[:n]) == string(b[:n]) {
		return false, 0
	}
	if e.kind == kindBits {
		return true, 0
	}
	x, y := e.number(a), e.number(b)
	by := math.Abs(x - y)
	if math.IsNaN(by) || math.IsInf(by, 0) {
		return true, math.NaN()
	}
	limit := max(t.relative*max(math.Abs(x), math.Abs(y)), t.absolute)
	return !(limit > 0 && by <= limit), by
}

// halfToFloat widens an IEEE half.
func halfToFloat(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	exponent, fraction := int(h>>10&31), float64(h&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

package goldens

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
)

// Buffer is what a launch left in one of its buffers.
type Buffer struct {
	Buffer  int    `json:"buffer"`
	Element string `json:"element"` // XLA's name
	Count   int    `json:"count"`   // elements

	// SHA256 is of the bytes, little endian and dense, where every bit is the same on
	// the machine. Else Close says how near the machine must come to Sample: elements
	// at even distances, the first and the last among them, as they lie in memory.
	SHA256 string    `json:"sha256,omitempty"`
	Close  *Distance `json:"close,omitempty"`
	Sample []byte    `json:"sample,omitempty"`
}

// samples bounds the elements of a sample.
const samples = 4096

// NewBuffer takes down a buffer's bytes; exactly where near is nil.
func NewBuffer(n int, element string, width int, data []byte, near *Distance) (Buffer, error) {
	b := Buffer{Buffer: n, Element: element, Count: len(data) / max(width, 1), Close: near}
	if near == nil {
		b.SHA256 = Sum(data)
		return b, nil
	}
	if _, err := float(element, nil); err != nil {
		return b, err
	}
	for i := range min(b.Count, samples) {
		at := b.at(i) * width
		b.Sample = append(b.Sample, data[at:at+width]...)
	}
	return b, nil
}

// Sum is the SHA-256 of data as goldens have it.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// at is the element that stands at place i of the sample.
func (b *Buffer) at(i int) int {
	n := min(b.Count, samples)
	if n < 2 {
		return 0
	}
	return i * (b.Count - 1) / (n - 1)
}

// Check holds computed bytes to the golden. The error names the worst element.
func (b *Buffer) Check(data []byte) error {
	if b.Close == nil {
		if got := Sum(data); got != b.SHA256 {
			return fmt.Errorf("buffer %d: %d bytes with SHA-256 %s, a GPU has %s", b.Buffer, len(data), got, b.SHA256)
		}
		return nil
	}
	n := min(b.Count, samples)
	if b.Count == 0 || len(b.Sample)%n != 0 || len(data) != b.Count*(len(b.Sample)/n) {
		return fmt.Errorf("buffer %d: %d bytes for %d elements of %s", b.Buffer, len(data), b.Count, b.Element)
	}
	width := len(b.Sample) / n
	worst, text := 0.0, ""
	for i := range n {
		at := b.at(i) * width
		want, err := float(b.Element, b.Sample[i*width:(i+1)*width])
		if err != nil {
			return err
		}
		got, _ := float(b.Element, data[at:at+width])
		if over := b.over(got, want); over > worst || math.IsNaN(over) {
			worst, text = over, fmt.Sprintf("element %d is %v, a GPU has %v, which is %.3g times too far", b.at(i), got, want, over)
		}
	}
	if text != "" {
		return fmt.Errorf("buffer %d: %s", b.Buffer, text)
	}
	return nil
}

// over is by how much two values are too far from each other: 0 where they are not.
func (b *Buffer) over(got, want float64) float64 {
	if got == want || math.IsNaN(got) && math.IsNaN(want) {
		return 0
	}
	allowed := max(float64(b.Close.Units)*unit(b.Element, want), b.Close.Absolute)
	if over := math.Abs(got-want) / allowed; !(over <= 1) {
		return over
	}
	return 0
}

// unit is one in the last place of v in an element type: of zero, and where v is not
// normal, the smallest number of the type.
func unit(element string, v float64) float64 {
	digits, least := 53, -1074
	switch element {
	case "f32":
		digits, least = 24, -149
	case "f16":
		digits, least = 11, -24
	case "bf16":
		digits, least = 8, -133
	}
	_, exponent := math.Frexp(v)
	if v == 0 {
		return math.Ldexp(1, least)
	}
	return math.Ldexp(1, max(exponent-digits, least))
}

// float reads one element, of the types that a sample can be of; nil reads as zero.
func float(element string, data []byte) (float64, error) {
	var b [8]byte
	copy(b[:], data)
	switch element {
	case "f64":
		return math.Float64frombits(binary.LittleEndian.Uint64(b[:])), nil
	case "f32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[:]))), nil
	case "bf16":
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[:])) << 16)), nil
	case "f16":
		return half(binary.LittleEndian.Uint16(b[:])), nil
	}
	return 0, fmt.Errorf("no sample of %s", element)
}

// half is the value of an IEEE binary16.
func half(v uint16) float64 {
	mantissa, exponent := float64(v&0x3ff), int(v>>10&0x1f)
	value := math.Ldexp(mantissa, -24)
	switch exponent {
	case 0:
	case 31:
		value = math.Inf(1)
		if mantissa != 0 {
			value = math.NaN()
		}
	default:
		value = math.Ldexp(1024+mantissa, exponent-25)
	}
	return math.Copysign(value, 1-2*float64(v>>15))
}

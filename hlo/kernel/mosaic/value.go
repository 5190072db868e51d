package mosaic

import "fmt"

// value is what a name in the host function stands for.
type value struct {
	kind   valueKind
	number int64  // of a number; bytes from the start, of an address
	where  int    // of a pointer: which buffer; of local memory or maps: which allocation
	why    string // of what is not known: the operation that gave it
}

type valueKind uint8

const (
	unknown   valueKind = iota
	number              // an integer
	pointer             // an address in a buffer of the call
	array               // an address in the array of the buffers' addresses
	local               // an address in memory of the function's own
	encoded             // tensor maps, by value
	stream              // what the kernel is launched on
	aggregate           // what memref descriptors are made of: of them all only the aligned pointer counts
)

func (v value) String() string {
	switch v.kind {
	case number:
		return fmt.Sprint(v.number)
	case pointer:
		return fmt.Sprintf("buffer %d + %d", v.where, v.number)
	case unknown:
		return "what " + v.why + " gives"
	}
	return "an address on the host"
}

// allocation is memory of the function's own: numbers that were stored to it, and the
// tensor maps that were encoded in it, each by its offset in bytes.
type allocation struct {
	numbers map[int64]int64
	maps    map[int64]tensorMap
}

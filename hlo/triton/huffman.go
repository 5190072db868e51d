package triton

import "math/bits"

const (
	endOfBlock   = 256 // literals lie below it, lengths of matches above
	maxLiterals  = 286
	maxDistances = 30
	maxMatch     = 258 // bytes
)

// huffman is a canonical code. It is made as the lengths of its codes are read, and a
// symbol is found by the length of its code: slow for many symbols, and there at once
// for few.
type huffman struct {
	least   int             // the shortest code's length
	end     [16]uint32      // by length: one above the last code, as if it had 16 bits
	first   [16]uint16      // by length: the first code
	count   [16]uint16      // by length: how many codes
	symbols [16][288]uint16 // by length, in the order of the codes
}

func (h *huffman) reset() { h.count = [16]uint16{} }

// add gives the next symbol a code of n bits. Symbols come in their order.
func (h *huffman) add(symbol int, n uint8) {
	n &= 15
	h.symbols[n][h.count[n]] = uint16(symbol)
	h.count[n]++
}

// finish makes the codes. It reports false where they are too many, or too few: what
// is complete has every code, has one code of one bit, or none.
func (h *huffman) finish() bool {
	code, most := uint32(0), 0
	h.least = 0
	for n := 1; n < 16; n++ {
		code <<= 1
		h.first[n] = uint16(code)
		if h.count[n] > 0 {
			most = n
			if h.least == 0 {
				h.least = n
			}
		}
		if code += uint32(h.count[n]); code > 1<<n {
			return false
		}
		h.end[n] = code << (16 - n)
	}
	return code == 1<<15 || most <= 1
}

// of gives the symbols whose codes have n bits, in their order.
func (h *huffman) of(n uint) []uint16 { return h.symbols[n][:h.count[n]] }

// code reads one symbol: its code is the shortest whose end lies above the bits that
// follow.
func (f *inflater) code(h *huffman) int {
	f.fill()
	next := uint32(bits.Reverse16(uint16(f.bits)))
	for n := h.least & 15; n < 16; n++ {
		if next < h.end[n] {
			f.drop(uint(n))
			return int(h.symbols[n][uint16(next>>(16-n))-h.first[n]])
		}
	}
	f.corrupt()
	return 0
}

// dynamic reads a block's own codes.
func (f *inflater) dynamic() {
	literals, distances, codes := f.take(5)+257, f.take(5)+1, f.take(4)+4
	order := [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	var lengths [19]uint8
	for i := range codes {
		lengths[order[i]] = uint8(f.take(3))
	}
	if literals > maxLiterals || distances > maxDistances || !f.lengths.make(&lengths) {
		f.corrupt()
		return
	}
	f.literals.reset()
	f.distances.reset()
	length, repeat := uint8(16), 0 // nothing to repeat yet
	for i := 0; i < literals+distances; i += repeat {
		length, repeat = f.codeLength(length)
		if f.err != nil || repeat > literals+distances-i || repeat == 0 || length == 16 {
			f.corrupt()
			return
		}
		if length == 0 {
			continue
		}
		for at := i; at < i+repeat; at++ {
			if at < literals {
				f.literals.add(at, length)
			} else {
				f.distances.add(at-literals, length)
			}
		}
	}
	f.coded, f.tabled = true, false
	if !f.literals.finish() || !f.distances.finish() {
		f.corrupt()
	}
}

// codeLength reads the length of a code, and how many codes have it one after the
// other. last is the length of the code before.
func (f *inflater) codeLength(last uint8) (length uint8, repeat int) {
	f.fill()
	entry := f.lengths[f.bits&127]
	f.drop(uint(entry & 7))
	switch length = entry >> 3; length {
	case 16:
		return last, 3 + f.take(2)
	case 17:
		return 0, 3 + f.take(3)
	case 18:
		return 0, 11 + f.take(7)
	}
	if entry == 0 { // no code begins so
		return 0, 0
	}
	return length, 1
}

// lengthCode is the code of code lengths, whose codes have at most 7 bits: what the
// next 7 bits begin with, symbol<<3 | length, 0 for nothing.
type lengthCode [128]uint8

// make makes the code, and reports false where it is not complete.
func (t *lengthCode) make(lengths *[19]uint8) bool {
	var count, next [8]int // by length
	for _, n := range lengths {
		count[n&7]++
	}
	code, most := 0, 0
	for n := 1; n < 8; n++ {
		code <<= 1
		next[n] = code
		if code += count[n]; count[n] > 0 {
			most = n
		}
	}
	if code != 1<<7 && (code != 1<<6 || most != 1) {
		return false
	}
	*t = lengthCode{}
	for symbol, n := range lengths {
		if n &= 7; n != 0 {
			first := bits.Reverse8(uint8(next[n])) >> (8 - n)
			next[n]++
			for i := int(first); i < len(t); i += 1 << n {
				t[i] = uint8(symbol)<<3 | n
			}
		}
	}
	return true
}

// lengthOf and distanceOf tell what a symbol stands for: the number, and how many bits
// follow that are added to it; 0 where it stands for nothing. Numbers go up in steps
// that double every four and every two symbols (RFC 1951, 3.2.5).
func lengthOf(symbol int) (base int, extra uint) {
	switch n := symbol - endOfBlock - 1; {
	case n < 0 || symbol >= maxLiterals:
		return 0, 0
	case symbol == maxLiterals-1:
		return maxMatch, 0
	case n < 8:
		return 3 + n, 0
	default:
		extra = uint(n)/4 - 1
		return 3 + (4+n%4)<<extra, extra
	}
}

func distanceOf(symbol int) (base int, extra uint) {
	switch {
	case symbol >= maxDistances:
		return 0, 0
	case symbol < 4:
		return 1 + symbol, 0
	}
	extra = uint(symbol)/2 - 1
	return 1 + (2+symbol%2)<<extra, extra
}

// fixed makes the codes of RFC 1951, 3.2.6.
func (f *inflater) fixed() {
	f.literals.reset()
	f.distances.reset()
	for symbol := range 288 {
		switch {
		case symbol < 144 || symbol >= 280:
			f.literals.add(symbol, 8)
		case symbol < 256:
			f.literals.add(symbol, 9)
		default:
			f.literals.add(symbol, 7)
		}
	}
	for symbol := range 32 {
		f.distances.add(symbol, 5)
	}
	f.coded, f.tabled = true, false
	f.literals.finish()
	f.distances.finish()
}

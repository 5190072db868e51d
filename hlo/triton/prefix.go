package triton

import (
	"encoding/binary"
	"math/bits"
)

// prefixInflater inflates the beginning of a zlib stream (RFC 1950, RFC 1951) and
// stops. Libraries inflate a window ahead: a whole kernel for its first hundred
// bytes. This one finds a symbol by the length of its code, which is slow for a whole
// stream and needs next to no tables for a short one.
type prefixInflater struct {
	in   []byte
	pos  int
	bits uint64 // not yet used, the next one lowest; nothing above the have lowest
	have uint   // how many
	bad  bool   // the input ended, or is no stream of this kind
	out  []byte
	n    int

	literals, distances huffman // of the block
}

// inflate fills out and returns how many bytes came: fewer where the stream is
// shorter or damaged. It never reads outside of in.
func (p *prefixInflater) inflate(in, out []byte) int {
	p.in, p.out = in, out
	p.pos, p.bits, p.have, p.bad, p.n = 2, 0, 0, false, 0
	if len(in) < 2 || in[0]&0xF != 8 || in[1]&0x20 != 0 {
		return 0
	}
	for last := uint32(0); last == 0 && !p.bad && p.n < len(p.out); {
		last = p.take(1)
		switch p.take(2) {
		case 0:
			p.stored()
		case 1:
			lengths := fixedLengths()
			p.codes(lengths[:], 288)
		case 2:
			p.dynamic()
		default:
			p.bad = true
		}
	}
	return p.n
}

// fill makes 32 bits ready, or all that are left.
func (p *prefixInflater) fill() {
	if p.have >= 32 {
		return
	}
	if p.pos+4 <= len(p.in) {
		p.bits |= uint64(binary.LittleEndian.Uint32(p.in[p.pos:])) << p.have
		p.pos += 4
		p.have += 32
		return
	}
	for ; p.pos < len(p.in) && p.have < 32; p.pos++ {
		p.bits |= uint64(p.in[p.pos]) << p.have
		p.have += 8
	}
}

// take returns the next n bits, at most 16.
func (p *prefixInflater) take(n uint) uint32 {
	p.fill()
	v := uint32(p.bits) & (1<<n - 1)
	p.drop(n)
	return v
}

// drop passes over n bits.
func (p *prefixInflater) drop(n uint) {
	if n > p.have {
		p.bad = true
		return
	}
	p.bits >>= n
	p.have -= n
}

func (p *prefixInflater) stored() {
	p.drop(p.have & 7) // up to the next byte
	size := int(p.take(16))
	p.take(16) // its complement
	for ; size > 0 && p.n < len(p.out); size-- {
		c := p.take(8)
		if p.bad {
			return
		}
		p.put(byte(c))
	}
}

func (p *prefixInflater) put(c byte) {
	p.out[p.n] = c
	p.n++
}

// dynamic reads a block's own codes, then the block.
func (p *prefixInflater) dynamic() {
	literals, distances, codes := int(p.take(5))+257, int(p.take(5))+1, int(p.take(4))+4
	order := [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	var short [19]uint8
	for i := range codes {
		short[order[i]] = uint8(p.take(3))
	}
	table := newLookup(&short)
	var lengths [288 + 32]uint8
	for i := 0; i < literals+distances && !p.bad; {
		p.fill()
		entry := table[p.bits&127]
		p.drop(uint(entry & 7))
		repeat, value := 1, entry>>3
		switch {
		case entry == 0: // no code begins so
			p.bad = true
		case value < 16:
			lengths[i] = value
			i++
			continue
		case value == 16 && i > 0:
			value, repeat = lengths[i-1], 3+int(p.take(2))
		case value == 17:
			value, repeat = 0, 3+int(p.take(3))
		case value == 18:
			value, repeat = 0, 11+int(p.take(7))
		default:
			p.bad = true
		}
		for ; repeat > 0 && i < literals+distances; repeat-- {
			lengths[i] = value
			i++
		}
	}
	if !p.bad {
		p.codes(lengths[:literals+distances], literals)
	}
}

// codes makes the codes of a block from the lengths of so many literals, and of the
// distances behind them, and decodes it.
func (p *prefixInflater) codes(lengths []uint8, literals int) {
	if !p.literals.build(lengths[:literals]) || !p.distances.build(lengths[literals:]) {
		p.bad = true
		return
	}
	p.block()
}

// newLookup is the code of code lengths, whose codes have at most 7 bits: what the
// next 7 bits begin with, symbol<<3 | length, 0 for nothing.
func newLookup(lengths *[19]uint8) [128]uint8 {
	var table [128]uint8
	code := 0
	for n := uint8(1); n <= 7; n++ {
		for symbol, l := range lengths {
			if l != n {
				continue
			}
			first := bits.Reverse8(uint8(code)) >> (8 - n)
			for i := int(first); i < len(table); i += 1 << n {
				table[i] = uint8(symbol)<<3 | n
			}
			code++
		}
		code <<= 1
	}
	return table
}

// block decodes literals and matches until the block ends or out is full.
func (p *prefixInflater) block() {
	for !p.bad && p.n < len(p.out) {
		switch symbol := p.symbol(&p.literals); {
		case p.bad || symbol == 256:
			return
		case symbol < 256:
			p.put(byte(symbol))
		default:
			p.match(symbol)
		}
	}
}

// match copies what stood before. Lengths and distances go up in steps that double
// every four and every two codes (RFC 1951, 3.2.5).
func (p *prefixInflater) match(symbol int) {
	length := symbol - 254
	if symbol >= 265 && symbol < 285 {
		extra := uint(symbol-261) / 4
		length = 3 + (4+(symbol-261)%4)<<extra + int(p.take(extra))
	} else if symbol >= 285 {
		length = 258
	}
	code := p.symbol(&p.distances)
	distance := code + 1
	if code >= 4 {
		extra := uint(code)/2 - 1
		distance = 1 + (2+code%2)<<extra + int(p.take(extra))
	}
	if p.bad || distance > p.n {
		p.bad = true
		return
	}
	for ; length > 0 && p.n < len(p.out); length-- {
		p.put(p.out[p.n-distance])
	}
}

// huffman is a canonical code: its symbols in the order of the codes, and for every
// length the first code, where its symbol stands, and where the codes end.
type huffman struct {
	least   int        // the shortest code's length
	end     [16]uint32 // one above the last code, as if it had 16 bits
	first   [16]uint16
	index   [16]uint16 // into symbols
	symbols [288]uint16
}

// build makes the code of symbols with these lengths, 0 for none. It reports false
// where there are more codes than fit.
func (h *huffman) build(lengths []uint8) bool {
	var count, at [16]uint16
	for _, n := range lengths {
		count[n&15]++
	}
	h.least = 1
	for h.least < 15 && count[h.least] == 0 {
		h.least++
	}
	code, sum := uint32(0), uint16(0)
	for n := 1; n < 16; n++ {
		code <<= 1
		h.first[n], h.index[n], at[n] = uint16(code), sum, sum
		code += uint32(count[n])
		sum += count[n]
		if code > 1<<n {
			return false
		}
		h.end[n] = code << (16 - n)
	}
	for symbol, n := range lengths {
		if n != 0 {
			h.symbols[at[n&15]] = uint16(symbol)
			at[n&15]++
		}
	}
	return true
}

// symbol reads one code: the shortest whose end lies above the bits that follow.
func (p *prefixInflater) symbol(h *huffman) int {
	p.fill()
	next := uint32(bits.Reverse16(uint16(p.bits)))
	for n := h.least; n < 16; n++ {
		if next < h.end[n] {
			p.drop(uint(n))
			return int(h.symbols[h.index[n]+uint16(next>>(16-n))-h.first[n]])
		}
	}
	p.bad = true
	return 0
}

// fixedLengths are the code lengths of RFC 1951, 3.2.6: 288 for literals and
// lengths, 32 for distances.
func fixedLengths() [288 + 32]uint8 {
	var l [288 + 32]uint8
	for i := range l {
		switch {
		case i < 144:
			l[i] = 8
		case i < 256:
			l[i] = 9
		case i < 280:
			l[i] = 7
		case i < 288:
			l[i] = 8
		default:
			l[i] = 5
		}
	}
	return l
}

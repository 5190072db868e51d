package triton

import (
	"encoding/binary"
	"math/bits"
)

// The bits that a table is asked by. Two literals and a match whose codes are not
// longer have 56 bits at most: what fast reads at once.
const (
	literalBits  = 10
	distanceBits = 8
)

// tables tell of the next bits what symbol they begin with, and everything about it.
// Longer codes, the end of the block, and what is no code are 0 there.
type tables struct {
	literals  [1 << literalBits]entry
	distances [1 << distanceBits]entry
}

// worthTables is how many bytes have to be wanted of a block before its tables pay.
const worthTables = 1 << 10

// entry is a symbol of a table: from bit 0 how many bits its code and the number behind
// the code have, from bit 5 how many the code has, from bit 9 the literal, or what is to
// be added to the number.
type entry uint32

const isLiteral entry = 1 << 31

func newEntry(code, extra uint, base int) entry {
	return entry(code+extra) | entry(code)<<5 | entry(base)<<9
}

// size is how many bits the symbol and its number have.
func (e entry) size() uint { return uint(e & 31) }

// number is a match's length or distance, whose code begins bits.
func (e entry) number(bits uint64) int {
	behind := bits & (1<<e.size() - 1) >> (e >> 5 & 15)
	return int(e>>9) + int(behind)
}

// makeTables makes the block's tables.
func (f *inflater) makeTables() {
	f.tabled = true
	f.tables = tables{}
	for n := uint(1); n <= literalBits; n++ {
		for k, symbol := range f.literals.of(n) {
			var e entry
			if symbol < endOfBlock {
				e = isLiteral | newEntry(n, 0, int(symbol))
			} else if base, extra := lengthOf(int(symbol)); base > 0 {
				e = newEntry(n, extra, base)
			}
			f.literals.enter(f.tables.literals[:], n, k, e)
		}
	}
	for n := uint(1); n <= distanceBits; n++ {
		for k, symbol := range f.distances.of(n) {
			if base, extra := distanceOf(int(symbol)); base > 0 {
				f.distances.enter(f.tables.distances[:], n, k, newEntry(n, extra, base))
			}
		}
	}
}

// enter puts a symbol wherever an index ends in its code, the k-th of n bits. Codes
// come with their highest bit first, and other things with their lowest.
func (h *huffman) enter(table []entry, n uint, k int, e entry) {
	code := bits.Reverse16(h.first[n]+uint16(k)) >> (16 - n)
	for i := int(code); i < len(table); i += 1 << n {
		table[i] = e
	}
}

// fast decodes symbols that the tables know, up to n bytes and not quite: while in and
// out have room for two literals and a match, and for a word that is read or copied
// beyond what is needed.
func (f *inflater) fast(n int) {
	in, out, at := f.in, f.out[:n], f.n
	pos, held, have := f.pos, f.bits, f.have
	for pos+8 <= len(in) && at+2+maxMatch+8 <= len(out) {
		held |= binary.LittleEndian.Uint64(in[pos:]) << (have & 63)
		pos += int(63-have) >> 3 // whole bytes: of one that is there in part, the same bits come again
		have |= 56
		e := f.tables.literals[held&(1<<literalBits-1)]
		for range 2 {
			if e&isLiteral == 0 {
				break
			}
			out[at] = byte(e >> 9)
			at++
			held >>= e.size()
			have -= e.size()
			e = f.tables.literals[held&(1<<literalBits-1)]
		}
		if e&isLiteral != 0 {
			continue
		}
		behind := held >> e.size()
		d := f.tables.distances[behind&(1<<distanceBits-1)]
		length, distance := e.number(held), d.number(behind)
		if e == 0 || d == 0 || distance > at {
			break // for symbol to say what it is
		}
		held = behind >> d.size()
		have -= e.size() + d.size()
		copyMatch(out[:at+length+8], at, distance)
		at += length
	}
	f.pos, f.bits, f.have, f.n = pos, held, have, at
}

// copyMatch copies what stood so far before at, up to 8 bytes before the end of out:
// those it may overwrite.
func copyMatch(out []byte, at, distance int) {
	if distance < 8 {
		for i := at; i < len(out)-8; i++ {
			out[i] = out[i-distance]
		}
		return
	}
	for i := at; i < len(out)-8; i += 8 {
		binary.LittleEndian.PutUint64(out[i:], binary.LittleEndian.Uint64(out[i-distance:]))
	}
}

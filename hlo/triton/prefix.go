package triton

// prefixInflater inflates the beginning of a zlib stream (RFC 1950, RFC 1951) and
// stops. Libraries inflate a window ahead: a whole kernel for its first hundred
// bytes. This one decodes a symbol at a time from the counts of code lengths, which
// is slow for a whole stream and needs no tables for a short one.
type prefixInflater struct {
	in   []byte
	pos  int
	bits uint32 // not yet used, the next one lowest
	have uint   // how many
	bad  bool   // the input ended, or is no stream of this kind
	out  []byte
	n    int
}

// inflate fills out and returns how many bytes came: fewer where the stream is
// shorter or damaged. It never reads outside of in.
func (p *prefixInflater) inflate(in, out []byte) int {
	p.in, p.out = in, out
	if len(in) < 2 || in[0]&0xF != 8 || in[1]&0x20 != 0 {
		return 0
	}
	p.pos = 2
	for last := uint32(0); last == 0 && !p.bad && p.n < len(p.out); {
		last = p.take(1)
		switch p.take(2) {
		case 0:
			p.stored()
		case 1:
			lengths := fixedLengths()
			p.block(newHuffman(lengths[:288]), newHuffman(lengths[288:]))
		case 2:
			p.dynamic()
		default:
			p.bad = true
		}
	}
	return p.n
}

// take returns the next n bits, at most 16.
func (p *prefixInflater) take(n uint) uint32 {
	for p.have < n {
		if p.pos >= len(p.in) {
			p.bad = true
			return 0
		}
		p.bits |= uint32(p.in[p.pos]) << p.have
		p.pos++
		p.have += 8
	}
	v := p.bits & (1<<n - 1)
	p.bits >>= n
	p.have -= n
	return v
}

func (p *prefixInflater) stored() {
	p.bits, p.have = 0, 0
	size := int(p.take(16))
	p.take(16) // its complement
	for ; size > 0 && p.n < len(p.out); size-- {
		if c := p.take(8); !p.bad {
			p.put(byte(c))
		}
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
	var lengths [288 + 32]uint8
	for i := range codes {
		lengths[order[i]] = uint8(p.take(3))
	}
	code := newHuffman(lengths[:19])
	clear(lengths[:19])
	for i := 0; i < literals+distances && !p.bad; {
		symbol := p.symbol(&code)
		repeat, value := 1, uint8(symbol)
		switch {
		case symbol == 16 && i > 0:
			value, repeat = lengths[i-1], 3+int(p.take(2))
		case symbol == 17:
			value, repeat = 0, 3+int(p.take(3))
		case symbol == 18:
			value, repeat = 0, 11+int(p.take(7))
		case symbol >= 16:
			p.bad = true
		}
		for ; repeat > 0 && i < literals+distances; repeat-- {
			lengths[i] = value
			i++
		}
	}
	if !p.bad {
		p.block(newHuffman(lengths[:literals]), newHuffman(lengths[literals:literals+distances]))
	}
}

// block decodes literals and matches until the block ends or out is full.
func (p *prefixInflater) block(literals, distances huffman) {
	for !p.bad && p.n < len(p.out) {
		switch symbol := p.symbol(&literals); {
		case p.bad || symbol == 256:
			return
		case symbol < 256:
			p.put(byte(symbol))
		default:
			p.match(symbol, &distances)
		}
	}
}

// match copies what stood before. Lengths and distances go up in steps that double
// every four and every two codes (RFC 1951, 3.2.5).
func (p *prefixInflater) match(symbol int, distances *huffman) {
	length := symbol - 254
	if symbol >= 265 && symbol < 285 {
		extra := uint(symbol-261) / 4
		length = 3 + (4+(symbol-261)%4)<<extra + int(p.take(extra))
	} else if symbol >= 285 {
		length = 258
	}
	code := p.symbol(distances)
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

// huffman is a canonical code: how many codes of each length, and their symbols in
// the order of the codes.
type huffman struct {
	count   [16]uint16
	symbols [288]uint16
}

func newHuffman(lengths []uint8) huffman {
	var h huffman
	for _, n := range lengths {
		h.count[n&15]++
	}
	h.count[0] = 0
	var at [16]uint16
	for n := 1; n < 15; n++ {
		at[n+1] = at[n] + h.count[n]
	}
	for symbol, n := range lengths {
		if n != 0 && int(at[n&15]) < len(h.symbols) {
			h.symbols[at[n&15]] = uint16(symbol)
			at[n&15]++
		}
	}
	return h
}

// symbol reads one code, a bit at a time: below the first code of the next length
// lie all codes of this one.
func (p *prefixInflater) symbol(h *huffman) int {
	code, first, index := 0, 0, 0
	for n := 1; n < 16; n++ {
		code |= int(p.take(1))
		if p.bad {
			return 0
		}
		count := int(h.count[n])
		if code-count < first {
			return int(h.symbols[index+code-first])
		}
		index += count
		first = (first + count) << 1
		code <<= 1
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

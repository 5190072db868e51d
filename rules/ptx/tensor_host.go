package ptx

import "encoding/binary"

// paramLog is the distance of parameters in their window, as a power of two.
const paramLog = 20

// hostMap gives the tensor map that a parameter holds, by its address in the
// window of parameters; without the magic where it holds none.
func (s *launchState) hostMap(a uint64) (raw [mapSize]byte) {
	i, n := a>>paramLog, a&(1<<paramLog-1)
	if n%mapSize != 0 || i >= uint64(len(s.l.Args)) || n/mapSize >= uint64(len(s.l.Args[i].Tensors)) {
		return raw
	}
	h := &s.l.Args[i].Tensors[n/mapSize]
	return encodeMap(h.Map, s.bufs[h.Buffer].base+uint64(h.Offset))
}

// encodeMap is the inverse of decodeMap, for a map of which every field is set.
func encodeMap(d *Descriptor, address uint64) (raw [mapSize]byte) {
	little := binary.LittleEndian
	little.PutUint64(raw[mapAddress:], address)
	for i, v := range [...]uint32{uint32(d.Rank - 1), d.ElemType, d.Interleave, d.Swizzle, d.SwizzleAtom, d.Fill} {
		raw[mapBytes+i] = byte(min(v, 255))
	}
	for i := range d.GlobalDim {
		little.PutUint32(raw[mapDims+4*i:], uint32(d.GlobalDim[i]))
		little.PutUint32(raw[mapBoxes+4*i:], d.BoxDim[i])
		little.PutUint32(raw[mapSteps+4*i:], d.ElementStride[i])
	}
	for i := range d.GlobalStride {
		little.PutUint64(raw[mapStrides+8*i:], d.GlobalStride[i])
	}
	little.PutUint32(raw[mapSet:], 1<<32-1)
	little.PutUint64(raw[mapMagic:], magic)
	return raw
}

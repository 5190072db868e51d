package transcode

// wireWriter writes protobuf messages. The lengths of messages are padded to five
// bytes, so that nothing moves when a message ends.
type wireWriter struct{ buf []byte }

// lengthBytes is the width of a padded length: 35 bits.
const lengthBytes = 5

// varint appends a varint.
func (w *wireWriter) varint(v uint64) {
	for v >= 0x80 {
		w.buf = append(w.buf, byte(v)|0x80)
		v >>= 7
	}
	w.buf = append(w.buf, byte(v))
}

// tag appends a field's tag.
func (w *wireWriter) tag(field, wireType uint64) { w.varint(field<<3 | wireType) }

// int64 appends a field of type int64, int32 or enum.
func (w *wireWriter) int64(field uint64, v int64) {
	w.tag(field, wireVarint)
	w.varint(uint64(v))
}

// bool appends a field that is true.
func (w *wireWriter) bool(field uint64, v bool) {
	if v {
		w.int64(field, 1)
	}
}

// bytes appends a field of type bytes, string, or a message already written.
func (w *wireWriter) bytes(field uint64, v []byte) {
	w.tag(field, wireBytes)
	w.varint(uint64(len(v)))
	w.buf = append(w.buf, v...)
}

// string appends a field of type string.
func (w *wireWriter) string(field uint64, v string) {
	w.tag(field, wireBytes)
	w.varint(uint64(len(v)))
	w.buf = append(w.buf, v...)
}

// ints appends a packed field of type int64; none where there are no numbers.
func (w *wireWriter) ints(field uint64, list []int64) {
	if len(list) == 0 {
		return
	}
	mark := w.begin(field)
	for _, v := range list {
		w.varint(uint64(v))
	}
	w.end(mark)
}

// begin starts a message and returns what end needs.
func (w *wireWriter) begin(field uint64) int {
	w.tag(field, wireBytes)
	w.buf = append(w.buf, 0, 0, 0, 0, 0)
	return len(w.buf)
}

// end gives the message that began at mark its length in bytes.
func (w *wireWriter) end(mark int) {
	n := uint64(len(w.buf) - mark)
	for i := range lengthBytes {
		w.buf[mark-lengthBytes+i] = byte(n)&0x7f | 0x80
		n >>= 7
	}
	w.buf[mark-1] &= 0x7f
}

// of is the interval s of what was written.
func (s span) of(buf []byte) []byte { return buf[s.start:s.end] }

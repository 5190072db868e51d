package transcode

import (
	"bytes"
	"slices"
)

// usedValues holds the values of the assignment to the list that XLA prints of them,
// behind the allocations in older releases and in a file of its own in newer ones:
//
//	Total bytes used: 2056 (2.0KiB)
//
//	Used values:
//	<5 copy.5{1} (phi) @0>
//	 positions:
//	  copy.5 {1}
//	 uses:
//	  tuple.1, operand 0
//	 from instruction: %copy.5 = f32[256]{0} copy(%p)
//
// Each of the two lists shows where the other was cut off. What older releases print
// behind it (live ranges) is not read.
func (t *Transcoder) usedValues() {
	s := &t.scan
	if !s.acceptText("Total bytes used: ") {
		s.failed(s.pos, `"Total bytes used" expected: cut off?`)
	}
	at := s.pos
	if total := s.number(); s.problem == "" && total != t.total {
		s.failed(at, "total is not the allocations' %d bytes: cut off?", t.total)
	}
	s.enclosed()
	if !s.acceptText("Used values:\n") {
		s.failed(s.pos, `"Used values" expected: cut off?`)
	}
	if s.problem == "" {
		t.checkListed(s.pos)
	}
}

// checkListed holds the ids of the list that begins at start to those that the
// allocations have.
func (t *Transcoder) checkListed(start int) {
	s := &t.scan
	list, _, _ := bytes.Cut(s.text[start:], []byte("\n\n"))
	end := start + len(list)
	slices.Sort(t.valueIDs)
	left, instruction := t.valueIDs, end
	for s.pos = start; ; {
		n := bytes.Index(s.text[s.pos:end], []byte("\n positions:\n"))
		if n < 0 {
			break
		}
		next := s.pos + n
		// Some releases forget the line's end behind the instruction before.
		s.pos += bytes.LastIndexByte(s.text[s.pos:next], '<') + 1
		at := s.pos
		id := s.number()
		switch {
		case s.problem != "":
			return
		case len(left) == 0 || left[0] != id:
			s.failed(at, "value %d lies in no allocation, or stands out of order: the assignment is not whole", id)
			return
		}
		left, instruction = left[1:], next
		s.pos = next + len("\n positions:\n") - 1
	}
	switch {
	case len(left) > 0:
		s.failed(end, "value %d is not listed: cut off?", left[0])
	case !bytes.HasSuffix(s.text, []byte("\n")),
		len(t.valueIDs) > 0 && !bytes.Contains(s.text[instruction:end], []byte("\n from instruction:")):
		s.failed(end, "list of values does not end: cut off?")
	}
}

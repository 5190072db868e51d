package cudarun

import "encoding/hex"

// judge asks whether the three references agree, and if not, why: equal poison
// gives different bits (not deterministic), bytes are never written, or the
// result changes with the poison.
func (r *configRun) judge(o *ApartOutcome, at placed) error {
	moved, err := r.moved()
	if err != nil || len(moved) == 0 {
		return err
	}
	r.unstable = true
	if err := r.again(o, at); err != nil {
		return err
	}
	for _, i := range moved {
		unwritten, poisoned, err := r.scan(i)
		if err != nil {
			return err
		}
		if unwritten.Count > 0 {
			o.Unwritten = append(o.Unwritten, unwritten)
		}
		if poisoned.Count > 0 && len(o.Unstable) == 0 {
			o.Poisoned = append(o.Poisoned, poisoned)
		}
	}
	return nil
}

// moved are the results whose references do not all agree bit for bit.
func (r *configRun) moved() ([]int, error) {
	var moved []int
	for i, b := range r.plan.Buffers {
		if b.Role != Result || b.Bytes == 0 {
			continue
		}
		for _, other := range r.refs[i][1:] {
			d, err := r.difference(i, other, r.refs[i][:1], tolerance{})
			if err != nil {
				return nil, err
			}
			if d.Count > 0 {
				moved = append(moved, i)
				break
			}
		}
	}
	return moved, nil
}

// again repeats the first run with the first poison: what differs now differs
// without a cause.
func (r *configRun) again(o *ApartOutcome, at placed) error {
	o.WithinTolerance = r.plan.FloatAtomics
	for range repeatRuns {
		if err := r.apartOnce(o, at, poisons()[0]); err != nil {
			return err
		}
		for i, b := range r.plan.Buffers {
			if b.Role != Result || b.Bytes == 0 {
				continue
			}
			bits, err := r.difference(i, at.buffers[i], r.refs[i][:1], tolerance{})
			if err != nil {
				return err
			}
			o.Unstable = keepWorst(o.Unstable, bits)
			if bits.Count == 0 || !o.WithinTolerance {
				continue
			}
			beyond, err := r.difference(i, at.buffers[i], r.refs[i][:1], r.limits[i])
			if err != nil {
				return err
			}
			o.WithinTolerance = beyond.Count == 0
		}
	}
	o.WithinTolerance = o.WithinTolerance && len(o.Unstable) > 0
	return nil
}

// scanBytes is how much of the references scan looks at at once.
const scanBytes = 1 << 20

// scan goes through a result's three references on the host: this is rare, and
// telling unwritten bytes from poisoned elements takes all three.
func (r *configRun) scan(i int) (unwritten, poisoned Difference, err error) {
	b := r.plan.Buffers[i]
	s := poisonScan{
		element: elementOf(b.Element).fit(b.Bytes), total: b.Bytes, claimed: b.Claims != NoBuffer,
		unwritten: Difference{Buffer: i, Label: b.Label, Unit: "bytes", Of: b.Bytes, First: -1, Map: make([]int64, mapCells)},
	}
	s.poisoned = Difference{Buffer: i, Label: b.Label, Unit: "elements", Of: b.Bytes / s.element.bytes(), First: -1, Map: make([]int64, mapCells)}
	for from := int64(0); from < b.Bytes; from += scanBytes {
		_, three, err := r.compare.fetch(r.refs[i][0], r.refs[i], from, min(from+scanBytes, b.Bytes))
		if err != nil {
			return unwritten, poisoned, err
		}
		s.window(from, three)
	}
	return s.unwritten, s.poisoned, nil
}

// poisonScan looks at three runs of one result, byte by byte.
type poisonScan struct {
	element   element
	total     int64
	claimed   bool // a claimed result starts as its operand, not poisoned
	unwritten Difference
	poisoned  Difference
}

// window looks at bytes from the given offset on.
func (s *poisonScan) window(from int64, three [][]byte) {
	step := s.element.bytes()
	for i := int64(0); i < int64(len(three[0])); i += step {
		a, b, c := three[0][i:i+step], three[1][i:i+step], three[2][i:i+step]
		if string(a) == string(b) && string(b) == string(c) {
			continue
		}
		if s.claimed || !holdsPoison(a, b, c) {
			s.poisoned.mark((from+i)/step, s.total/step)
			s.poisoned.spot((from+i)/step, a, b)
			continue
		}
		for k := range a {
			if a[k] != b[k] {
				s.unwritten.mark(from+i+int64(k), s.total)
			}
		}
	}
}

// holdsPoison says that an element that moved was not written, or only in part:
// each of its bytes is either the poison in all three runs or equal in all.
func holdsPoison(a, b, c []byte) bool {
	poison := poisons()
	for k := range a {
		if (a[k] != b[k] || b[k] != c[k]) && (a[k] != poison[0] || b[k] != poison[1] || c[k] != poison[2]) {
			return false
		}
	}
	return true
}

// mark counts one unit of a buffer of so many.
func (d *Difference) mark(unit, of int64) {
	if d.First < 0 {
		d.First = unit
	}
	d.Count++
	d.Map[unit*mapCells/max(of, 1)]++
}

// spot lists a place while there is room.
func (d *Difference) spot(unit int64, want, got []byte) {
	if len(d.Places) < maxSpots {
		d.Places = append(d.Places, Spot{Index: unit, Want: hex.EncodeToString(want), Got: hex.EncodeToString(got)})
	}
}

package cudarun

import (
	"fmt"
	"time"

	"aliascheck/cudarun/driver"
)

// apart runs the kernel with separate buffers under three poisons: the reference.
func (r *configRun) apart() error {
	o := &ApartOutcome{}
	r.out.Apart = o
	r.unstable = false
	at := r.plan.apartLayout(r.kernel).at(r.region)
	for i := range r.plan.Buffers {
		r.limits[i] = tolerance{}
		if r.plan.isItsOperand(r.kernel, i) {
			o.NoApart = append(o.NoApart, i)
		}
	}
	for i, poison := range poisons() {
		if err := r.apartOnce(o, at, poison); err != nil {
			return err
		}
		if err := r.capture(at, i); err != nil {
			return err
		}
		if err := r.watch(o, at); err != nil {
			return err
		}
	}
	if err := r.setLimits(); err != nil {
		return err
	}
	return r.judge(o, at)
}

// apartOnce is one run with separate buffers.
func (r *configRun) apartOnce(o *ApartOutcome, at placed, poison byte) error {
	o.Runs++
	r.progress(fmt.Sprintf("%s %d", ModeApart, o.Runs))
	if err := r.prepare(at, poison); err != nil {
		return err
	}
	return r.once(at, driver.WholeCard, ModeApart, o.Runs)
}

// prepare fills the layout as a run finds it: guards, poison, contents, and with
// the buffers apart each claimed result as a copy of its operand, because many
// kernels write only part of it or add to it.
func (r *rerun) prepare(at placed, poison byte) error {
	begin := time.Now()
	defer func() { r.out.Times.Compare += time.Since(begin) }()
	if err := r.dev.Fill(at.base, guardValue, at.span()); err != nil {
		return err
	}
	if err := r.dev.Fill(r.scratch, 0, r.plan.scratchBytes()); err != nil {
		return err
	}
	for i, b := range r.plan.Buffers {
		if b.Contents == nil {
			if err := r.dev.Fill(at.buffers[i], poison, b.Bytes); err != nil {
				return err
			}
		}
	}
	for _, role := range []Role{Bystander, Operand} { // an operand may lie over a dead bystander
		if err := r.restore(at, role); err != nil {
			return err
		}
	}
	if !at.apart {
		return nil
	}
	for i, b := range r.plan.Buffers {
		if b.Role == Result && b.Claims != NoBuffer && at.buffers[i] != at.buffers[b.Claims] {
			if err := r.dev.Copy(at.buffers[i], at.buffers[b.Claims], b.Bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// restore puts the contents of all buffers of a role in place.
func (r *rerun) restore(at placed, role Role) error {
	for i, b := range r.plan.Buffers {
		if b.Role == role && b.Contents != nil {
			if err := r.dev.Copy(at.buffers[i], r.contents[i], b.Bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// capture keeps the results as the n-th reference.
func (r *rerun) capture(at placed, n int) error {
	for i, b := range r.plan.Buffers {
		if b.Role == Result {
			if err := r.dev.Copy(r.refs[i][n], at.buffers[i], b.Bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// watch looks for changed operands and broken guards after a run.
func (r *configRun) watch(o *ApartOutcome, at placed) error {
	begin := time.Now()
	defer func() { r.rerun.out.Times.Compare += time.Since(begin) }()
	for i, b := range r.plan.Buffers {
		if b.Role != Operand || b.Contents == nil || b.Bytes == 0 || r.plan.claimed(i) {
			continue
		}
		d, err := r.difference(i, at.buffers[i], reference{r.contents[i]}, tolerance{})
		if err != nil {
			return err
		}
		o.Changed = keepWorst(o.Changed, d)
	}
	for _, b := range at.bands() {
		if err := r.watchBand(o, at, b); err != nil {
			return err
		}
	}
	return nil
}

// keepWorst keeps the largest difference of each buffer.
func keepWorst(list []Difference, d Difference) []Difference {
	if d.Count == 0 {
		return list
	}
	for i := range list {
		if list[i].Buffer == d.Buffer {
			if d.Count > list[i].Count {
				list[i] = d
			}
			return list
		}
	}
	return append(list, d)
}

// watchBand says which group a break of a band belongs to: the one whose edge is
// nearer.
func (r *configRun) watchBand(o *ApartOutcome, at placed, b band) error {
	bytes := int64(b.to - b.from)
	count, first, last, err := r.compare.band(b.from, bytes, guardValue)
	if err != nil || count == 0 {
		return err
	}
	half := bytes / 2
	switch {
	case b.before < 0, b.after >= 0 && first >= half:
		o.Guards = keepBreak(o.Guards, r.broken(at, b.after, "before", count, bytes-last))
		return nil
	case b.after < 0, last < half:
		o.Guards = keepBreak(o.Guards, r.broken(at, b.before, "after", count, first+1))
		return nil
	}
	low, first, _, err := r.compare.band(b.from, half, guardValue)
	if err != nil {
		return err
	}
	o.Guards = keepBreak(o.Guards, r.broken(at, b.before, "after", low, first+1))
	o.Guards = keepBreak(o.Guards, r.broken(at, b.after, "before", count-low, bytes-last))
	return nil
}

// broken names the buffer of a group that is nearest to its edge.
func (r *configRun) broken(at placed, group int, side string, count, nearest int64) GuardBreak {
	i := at.groups[group].members[0]
	return GuardBreak{Buffer: i, Label: r.plan.Buffers[i].Label, Side: side, Bytes: count, Nearest: nearest}
}

func keepBreak(list []GuardBreak, g GuardBreak) []GuardBreak {
	for i := range list {
		if list[i].Buffer == g.Buffer && list[i].Side == g.Side {
			if g.Bytes > list[i].Bytes {
				list[i] = g
			}
			return list
		}
	}
	return append(list, g)
}

// setLimits gives results of floating-point atomics their tolerance: relative, and
// absolute by the largest magnitude, since sums near zero have no small relative error.
func (r *rerun) setLimits() error {
	if !r.plan.FloatAtomics {
		return nil
	}
	relative := r.plan.Tolerance
	if relative == 0 {
		relative = DefaultTolerance
	}
	for i, b := range r.plan.Buffers {
		e := elementOf(b.Element).fit(b.Bytes)
		if b.Role != Result || e.kind < kindHalf || e.kind > kindDouble {
			continue
		}
		largest, err := r.compare.largest(r.refs[i][0], b.Bytes, e)
		if err != nil {
			return err
		}
		r.limits[i] = tolerance{relative: relative, absolute: relative * largest}
	}
	return nil
}

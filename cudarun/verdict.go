package cudarun

import (
	"fmt"

	"aliascheck/cudarun/driver"
	"aliascheck/rules/replay"
)

// Verdict is what an outcome says about a finding. Confirmation is one of
// "confirmed", "unconfirmed" (tried and not seen) and "unchecked" (not tried).
type Verdict struct {
	Confirmation string `json:"confirmation"`
	Reason       string `json:"reason"`
}

func confirmed(format string, args ...any) Verdict {
	return Verdict{"confirmed", fmt.Sprintf(format, args...)}
}

func unconfirmed(format string, args ...any) Verdict {
	return Verdict{"unconfirmed", fmt.Sprintf(format, args...)}
}

func unchecked(format string, args ...any) Verdict {
	return Verdict{"unchecked", fmt.Sprintf(format, args...)}
}

// Verdict judges a finding by the outcome of its plan: what it asks, and the buffer that
// it is about, an operand or bystander (replay.Changed, Overwrites) or a result
// (Unwritten, ReadFirst); NoBuffer: any.
//
// Where a plan shares several pairs, a difference is theirs together: to judge
// one pair, share only that one.
func (o *Outcome) Verdict(q replay.Question, buffer int) Verdict {
	if o.Skipped != "" {
		return unchecked("not replayed on a GPU: %s", o.Skipped)
	}
	switch q {
	case replay.PairShared, replay.PairForced, replay.AllShared:
		return o.best(sharingVerdict)
	case replay.Changed, replay.Unwritten, replay.ReadFirst, replay.Outside:
		return o.best(func(c *ConfigOutcome) Verdict { return apartVerdict(c, q, buffer) })
	case replay.Tuning:
		return o.Trials.tuning()
	case replay.Overwrites:
		return o.Trials.overwrites(buffer)
	case replay.RunsWild:
		return o.Trials.faults()
	case replay.Unstable, replay.Hangs, replay.Faults:
		return o.best(func(c *ConfigOutcome) Verdict { return conductVerdict(c, q) })
	case replay.LateCopy:
		return o.best(lateCopyVerdict)
	}
	return unchecked("a replay on a GPU does not show it")
}

// best is the first confirmation over all configurations, else the first verdict
// of one that was tried.
func (o *Outcome) best(judge func(*ConfigOutcome) Verdict) Verdict {
	chosen := unchecked("nothing was run")
	for i := range o.Configurations {
		v := judge(&o.Configurations[i])
		if len(o.Configurations) > 1 {
			v.Reason = fmt.Sprintf("configuration %d: %s", i, v.Reason)
		}
		switch {
		case v.Confirmation == "confirmed":
			return v
		case i == 0, v.Confirmation == "unconfirmed" && chosen.Confirmation == "unchecked":
			chosen = v
		}
	}
	return chosen
}

// clearly is how many times more elements than the same kernel changes by itself,
// with its buffers apart, a difference needs to be the sharing's.
const clearly = 10

// sharingVerdict asks whether sharing changed the results.
func sharingVerdict(c *ConfigOutcome) Verdict {
	switch {
	case c.Reason != "":
		return unchecked("%s", c.Reason)
	case c.Stop != nil && c.Stop.Mode == ModeApart:
		return unchecked("the kernel's %s with its buffers apart leaves nothing to compare with", c.Stop.Kind)
	case c.Shared == nil:
		return unchecked("the plan has no shared layout")
	}
	if s := c.Stop; s != nil && (s.Mode == ModeShared || s.Mode == ModeConfined) {
		if s.Mode == ModeConfined && s.Kind == StopHang {
			// Blocks that wait for each other need not fit on a part of the card.
			return c.differs("; confined to a part of the card it hangs, which can be our doing")
		}
		return confirmed("%s with its buffers shared (%s, run %d), none with them apart: %s", s.Kind, s.Mode, s.Run, s.Error)
	}
	return c.differs("")
}

// differs judges the counts of the shared modes.
func (c *ConfigOutcome) differs(note string) Verdict {
	counts := c.Shared.counts("whole card")
	if c.Confined != nil {
		counts += "; " + c.Confined.counts(fmt.Sprintf("%d multiprocessors", c.Confined.SMs))
	}
	counts += note
	if !c.Shared.differs() && (c.Confined == nil || !c.Confined.differs()) {
		if masked := c.masked(); masked > 0 {
			counts += fmt.Sprintf("; up to %d differing elements are not counted: the kernel changes them with its buffers apart too", masked)
		}
		return unconfirmed("equal in every run: %s", counts)
	}
	noise := int64(0)
	unsteady := c.Apart != nil && len(c.Apart.Unstable) > 0 && !c.Apart.WithinTolerance
	if c.Control != nil {
		noise = c.Control.Most
		unsteady = unsteady || c.Control.differs()
	}
	if c.Stop != nil && c.Stop.Mode == ModeControl {
		return unconfirmed("%s; but the control with its buffers apart ended in a %s", counts, c.Stop.Kind)
	}
	if !unsteady {
		return confirmed("%s; with the buffers apart no run differed", counts)
	}
	if c.Shared.beyond(noise) || c.Confined.beyond(noise) {
		return confirmed("%s; the kernel is not deterministic, but apart at most %d elements changed", counts, noise)
	}
	return unconfirmed("%s; but the kernel is not deterministic: with its buffers apart up to %d elements changed too", counts, noise)
}

// masked is the most that was left out of account.
func (c *ConfigOutcome) masked() int64 {
	n := c.Shared.Masked
	if c.Confined != nil {
		n = max(n, c.Confined.Masked)
	}
	return n
}

func (m *ModeOutcome) differs() bool { return m != nil && m.Differing > 0 }

// beyond says that every run differed, and clearly more than noise.
func (m *ModeOutcome) beyond(noise int64) bool {
	return m.differs() && m.Differing == m.Runs && m.Least > clearly*max(noise, 1)
}

func (m *ModeOutcome) counts(where string) string {
	if m.Reason != "" {
		return "not confined: " + m.Reason
	}
	text := fmt.Sprintf("%s: %d of %d runs differ", where, m.Differing, m.Runs)
	for _, d := range m.Worst {
		text += fmt.Sprintf(", %s %d of %d %s", labelOf(d), d.Count, d.Of, d.Unit)
	}
	return text
}

func labelOf(d Difference) string {
	if d.Label != "" {
		return d.Label
	}
	return fmt.Sprintf("buffer %d", d.Buffer)
}

// apartVerdict judges what the runs with separate buffers show.
func apartVerdict(c *ConfigOutcome, q replay.Question, buffer int) Verdict {
	if c.Apart == nil || c.Reason != "" {
		return unchecked("%s", c.Reason)
	}
	if s := c.Stop; s != nil && s.Mode == ModeApart {
		if q == replay.Outside && s.Code == driver.CodeIllegalAddress {
			return confirmed("an access outside all memory, with the buffers apart, run %d", s.Run)
		}
		return unchecked("the kernel's %s with its buffers apart leaves nothing to look at", s.Kind)
	}
	if q == replay.Outside {
		for _, g := range c.Apart.Guards {
			return confirmed("%d bytes written %s buffer %d (%s), the nearest %d bytes from it", g.Bytes, g.Side, g.Buffer, g.Label, g.Nearest)
		}
		return unconfirmed("no byte was written within %d bytes of the buffers; reads do not show", guardBytes)
	}
	list, what := c.Apart.Changed, "changed by the kernel"
	switch q {
	case replay.Unwritten:
		list, what = c.Apart.Unwritten, "never written"
	case replay.ReadFirst:
		list, what = c.Apart.Poisoned, "change with what the result held before"
	}
	for _, d := range list {
		if d.Buffer == buffer || buffer == NoBuffer {
			return confirmed("%s: %d of %d %s %s, from %d on", labelOf(d), d.Count, d.Of, d.Unit, what, d.First)
		}
	}
	return unconfirmed("not seen in %d runs", c.Apart.Runs)
}

// lateCopyVerdict judges a late copy: a run shows what a late copy does, but not that it
// was one.
func lateCopyVerdict(c *ConfigOutcome) Verdict {
	v := conductVerdict(c, replay.Unstable)
	if v.Confirmation == "confirmed" {
		return unconfirmed("what a late copy does is seen (%s); racecheck of compute-sanitizer tells whether it is one", v.Reason)
	}
	return v
}

// conductVerdict judges how the kernel behaves by itself.
func conductVerdict(c *ConfigOutcome, q replay.Question) Verdict {
	if c.Apart == nil || c.Reason != "" {
		return unchecked("%s", c.Reason)
	}
	s := c.Stop
	byItself := s != nil && (s.Mode == ModeApart || s.Mode == ModeControl)
	if q == replay.Unstable && s != nil && s.Mode == ModeApart {
		return unchecked("the kernel's %s with its buffers apart leaves nothing to compare", s.Kind)
	}
	switch {
	case q == replay.Hangs && byItself && s.Kind == StopHang, q == replay.Faults && byItself && s.Kind == StopFault:
		return confirmed("%s with its buffers apart, run %d: %s", s.Kind, s.Run, s.Error)
	case q != replay.Unstable:
		return unconfirmed("the runs with separate buffers ended well")
	case len(c.Apart.Unstable) > 0:
		d := c.Apart.Unstable[0]
		note := ""
		if c.Apart.WithinTolerance {
			note = "; floating-point atomics explain it"
		}
		return confirmed("%s: up to %d of %d %s differ between equal runs%s", labelOf(d), d.Count, d.Of, d.Unit, note)
	case c.Control.differs():
		return confirmed("%d of %d equal runs differ, by up to %d elements", c.Control.Differing, c.Control.Runs, c.Control.Most)
	}
	return unconfirmed("equal bits in %d runs", c.Apart.Runs)
}

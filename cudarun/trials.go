package cudarun

import (
	"errors"
	"fmt"
	"time"

	"aliascheck/cudarun/driver"
)

// trialGarbage is what memory that the program has yet to fill holds during
// trials in the initialize phase: as an index it is far out of bounds.
const trialGarbage = 0x5A

// trials replays the autotuner's sequence three times: restoring what the entries
// save, then every operand (the control), then nothing. The real launch is that
// of configuration 0, and so is the reference.
func (r *rerun) trials(o *TrialOutcome) error {
	for i := range r.kernels {
		if r.kernels[i].Handle == 0 {
			o.Reason = fmt.Sprintf("configuration %d could not be loaded", i)
			return nil
		}
	}
	clean := configRun{rerun: r, kernel: &r.plan.Kernels[0], out: &ConfigOutcome{}, times: new([]time.Duration)}
	if err := clean.apart(); err != nil {
		return err
	}
	at := r.plan.sharedLayout().at(r.region)
	written := r.effective(o, at)
	sequences := []struct {
		saves []SaveEntry
		to    **TrialRun
	}{{written, &o.AsWritten}, {r.everything(), &o.AllSaved}, {nil, &o.NoneSaved}}
	for _, s := range sequences {
		r.progress("trials")
		run := &TrialRun{}
		*s.to = run
		launches, err := r.sequence(run, at, s.saves)
		o.Launches = max(o.Launches, launches)
		if err != nil {
			return err
		}
	}
	return nil
}

// effective sorts the plan's entries into those that save something and those
// that do not: jaxlib copies a buffer only where both numbers have one address.
func (r *rerun) effective(o *TrialOutcome, at placed) []SaveEntry {
	for _, e := range r.plan.Trials.Entries {
		if reason := r.idle(e, at); reason != "" {
			o.Idle = append(o.Idle, IdleEntry{e, reason})
			continue
		}
		o.Saved = append(o.Saved, e)
	}
	return o.Saved
}

func (r *rerun) idle(e SaveEntry, at placed) string {
	buffers := int64(0) // bystanders have no number
	for _, b := range r.plan.Buffers {
		if b.Role != Bystander {
			buffers++
		}
	}
	switch {
	case e.Input < 0 || e.Input >= buffers || e.Output < 0 || e.Output >= buffers:
		return fmt.Sprintf("the call has %d buffers", buffers)
	case r.plan.Buffers[e.Input].Role != Operand:
		return fmt.Sprintf("buffer %d is no operand", e.Input)
	case at.buffers[e.Input] != at.buffers[e.Output]:
		return fmt.Sprintf("buffers %d and %d lie at different addresses", e.Input, e.Output)
	case e.Bytes <= 0 || e.Bytes > r.plan.Buffers[e.Input].Bytes:
		return fmt.Sprintf("%d bytes of a buffer of %d", e.Bytes, r.plan.Buffers[e.Input].Bytes)
	}
	return ""
}

// everything saves each operand whole.
func (r *rerun) everything() []SaveEntry {
	var all []SaveEntry
	for i, b := range r.plan.Buffers {
		if b.Role == Operand {
			all = append(all, SaveEntry{Input: int64(i), Output: int64(i), Bytes: b.Bytes})
		}
	}
	return all
}

// sequence is one tuning and the real launch after it.
func (r *rerun) sequence(run *TrialRun, at placed, saves []SaveEntry) (launches int, err error) {
	if err := r.beforeTrials(at); err != nil {
		return 0, err
	}
	for _, s := range saves {
		if err := r.dev.Copy(r.saves[s.Input], at.buffers[s.Input], s.Bytes); err != nil {
			return 0, err
		}
	}
	launches, err = r.rounds(run, at)
	if err != nil {
		return launches, err
	}
	for _, s := range saves {
		if err := r.dev.Copy(at.buffers[s.Input], r.saves[s.Input], s.Bytes); err != nil {
			return launches, err
		}
	}
	if run.Overwritten, err = r.overwritten(at); err != nil {
		return launches, err
	}
	if r.plan.Trials.Phase == PhaseInitialize { // the program runs now, and computes these
		if err := r.compute(at); err != nil {
			return launches, err
		}
	}
	if err := r.trial(run, 0, at, launches+1); err != nil {
		return launches, err
	}
	found, err := r.results(at)
	for _, d := range found {
		if d.Count > 0 {
			run.Results = append(run.Results, d)
		}
	}
	return launches, err
}

// beforeTrials fills the memory as the trials find it.
func (r *rerun) beforeTrials(at placed) error {
	if err := r.prepare(at, trialGarbage); err != nil || r.plan.Trials.Phase == PhaseExecute {
		return err
	}
	for i, b := range r.plan.Buffers { // what is not computed yet is garbage
		if b.Role != Result && !b.Ready {
			if err := r.dev.Fill(at.buffers[i], trialGarbage, b.Bytes); err != nil {
				return err
			}
		}
	}
	for i, b := range r.plan.Buffers { // and may have lain over what is there
		if b.Ready && b.Contents != nil {
			if err := r.dev.Copy(at.buffers[i], r.contents[i], b.Bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// rounds runs every configuration twice (a warm-up and a timed run), then each
// again with its warm-up and repeats.
func (r *rerun) rounds(run *TrialRun, at placed) (launches int, err error) {
	repeats := r.plan.Trials.Repeats
	if repeats == 0 {
		repeats = DefaultRepeats
	}
	for _, each := range []int{2, 1 + repeats} {
		for k := range r.kernels {
			for range each {
				launches++
				if err := r.trial(run, k, at, launches); err != nil {
					return launches, err
				}
			}
		}
	}
	return launches, nil
}

// trial is one launch of the sequence; a fault or a hang is recorded.
func (r *rerun) trial(run *TrialRun, k int, at placed, number int) error {
	_, err := r.launch(k, at, driver.WholeCard)
	if err == nil {
		return nil
	}
	if run.Stop = stopOf(err, ModeTrials, number); run.Stop != nil {
		return errLost
	}
	return fmt.Errorf("trial %d: %w", number, err)
}

// overwritten compares what was there before the trials with what is there now.
func (r *rerun) overwritten(at placed) ([]Difference, error) {
	var found []Difference
	var failed error
	for i, b := range r.plan.Buffers {
		there := b.Ready || r.plan.Trials.Phase == PhaseExecute
		if b.Role == Result || b.Contents == nil || b.Bytes == 0 || !there {
			continue
		}
		d, err := r.difference(i, at.buffers[i], reference{r.contents[i]}, tolerance{})
		failed = errors.Join(failed, err)
		if d.Count > 0 {
			found = append(found, d)
		}
	}
	return found, failed
}

// compute gives the operands that the program computes their contents.
func (r *rerun) compute(at placed) error {
	for i, b := range r.plan.Buffers {
		if b.Role == Operand && !b.Ready && b.Contents != nil {
			if err := r.dev.Copy(at.buffers[i], r.contents[i], b.Bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

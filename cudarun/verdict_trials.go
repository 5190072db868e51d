package cudarun

// tuning judges AC301: the trials, with what their entries save, change the first
// call's results; with everything saved they do not.
func (o *TrialOutcome) tuning() Verdict {
	if v, ok := o.tried(); !ok {
		return v
	}
	if s := o.AsWritten.Stop; s != nil {
		if o.Phase == PhaseInitialize {
			return unchecked("the trials end in a %s before the program runs", s.Kind)
		}
		return confirmed("the trials end in a %s at launch %d: %s", s.Kind, s.Run, s.Error)
	}
	if len(o.AsWritten.Results) == 0 {
		return unconfirmed("after %d trials the first call's results are right", o.Launches)
	}
	if o.AllSaved == nil || o.AllSaved.Stop != nil {
		return unconfirmed("the results differ, but the control did not end")
	}
	if len(o.AllSaved.Results) > 0 {
		return unconfirmed("the results differ also where every operand is restored: not the trials' doing alone")
	}
	d := o.AsWritten.Results[0]
	return confirmed("after %d trials %s has %d of %d %s wrong on the first call; with every operand restored none", o.Launches, labelOf(d), d.Count, d.Of, d.Unit)
}

// overwrites judges AC302: memory that held a parameter or constant before the
// program ran does not hold it after the trials.
func (o *TrialOutcome) overwrites(buffer int) Verdict {
	if v, ok := o.early(); !ok {
		return v
	}
	for _, d := range o.AsWritten.Overwritten {
		if d.Buffer == buffer || buffer == NoBuffer {
			return confirmed("%d trials overwrite %d of %d %s of %s before the program reads it", o.Launches, d.Count, d.Of, d.Unit, labelOf(d))
		}
	}
	return unconfirmed("%d trials left it as it was", o.Launches)
}

// faults judges AC303: trials on operands that are not computed yet run wild.
func (o *TrialOutcome) faults() Verdict {
	if v, ok := o.early(); !ok {
		return v
	}
	if s := o.AsWritten.Stop; s != nil {
		return confirmed("with garbage where the program has computed nothing yet, trial %d ends in a %s: %s", s.Run, s.Kind, s.Error)
	}
	return unconfirmed("%d trials with garbage where the program has computed nothing yet did not fault", o.Launches)
}

// early says whether there are trials that run before the program does.
func (o *TrialOutcome) early() (Verdict, bool) {
	v, ok := o.tried()
	if ok && o.Phase != PhaseInitialize {
		return unchecked("the call is tuned when it executes: its operands are there"), false
	}
	return v, ok
}

// tried says whether there is anything to judge.
func (o *TrialOutcome) tried() (Verdict, bool) {
	switch {
	case o == nil:
		return unchecked("the trials were not replayed"), false
	case o.AsWritten == nil:
		return unchecked("the trials were not replayed: %s", o.Reason), false
	}
	return Verdict{}, true
}

package cudarun

import (
	"fmt"
	"time"

	"aliascheck/cudarun/driver"
)

// configRun is the replay of one configuration under way.
type configRun struct {
	*rerun
	index  int
	kernel *Kernel
	out    *ConfigOutcome
	times  *[]time.Duration
}

// modes runs apart, shared, confined, and the control where they differ.
func (r *configRun) modes() error {
	if err := r.apart(); err != nil || r.out.Reason != "" {
		return err
	}
	if r.plan.Shared == nil {
		return nil
	}
	shared := r.plan.sharedLayout().at(r.region)
	r.out.Shared = &ModeOutcome{SMs: r.dev.Info().SMs}
	if err := r.repeat(r.out.Shared, ModeShared, shared, driver.WholeCard); err != nil {
		return err
	}
	r.out.Confined = &ModeOutcome{}
	sms, err := r.dev.Confine()
	if err != nil {
		r.out.Confined.Reason = err.Error()
	} else {
		r.out.Confined.SMs = sms
		if err := r.repeat(r.out.Confined, ModeConfined, shared, driver.ConfinedPart); err != nil {
			return err
		}
	}
	if r.out.Shared.Differing+r.out.Confined.Differing == 0 {
		return nil
	}
	return r.control()
}

// control repeats with the buffers apart what differed with them shared.
func (r *configRun) control() error {
	apart := r.plan.apartLayout(r.kernel).at(r.region)
	r.out.Control = &ModeOutcome{SMs: r.out.Shared.SMs}
	if err := r.repeat(r.out.Control, ModeControl, apart, driver.WholeCard); err != nil {
		return err
	}
	if r.out.Confined.Runs == 0 {
		return nil
	}
	return r.repeat(r.out.Control, ModeControl, apart, driver.ConfinedPart)
}

// repeat runs a mode sharedRuns times and compares each run with the reference.
func (r *configRun) repeat(m *ModeOutcome, mode Mode, at placed, where driver.Part) error {
	for range sharedRuns {
		m.Runs++
		r.progress(fmt.Sprintf("%s %d", mode, m.Runs))
		if err := r.prepare(at, poisons()[0]); err != nil {
			return err
		}
		if err := r.once(at, where, mode, m.Runs); err != nil {
			return err
		}
		found, err := r.results(at)
		if err != nil {
			return err
		}
		m.add(found)
	}
	return nil
}

// add counts one run's differences.
func (m *ModeOutcome) add(found []Difference) {
	wrong, masked := int64(0), int64(0)
	for _, d := range found {
		wrong += d.Count
		masked += d.Masked
	}
	m.Masked = max(m.Masked, masked)
	if m.Runs == 1 || wrong < m.Least {
		m.Least = wrong
	}
	if wrong > 0 {
		m.Differing++
	}
	if wrong > m.Most {
		m.Most, m.Worst = wrong, found
	}
}

// results compares every result in place with its reference; only what differs,
// counted or masked, is returned.
func (r *rerun) results(at placed) ([]Difference, error) {
	begin := time.Now()
	defer func() { r.out.Times.Compare += time.Since(begin) }()
	var found []Difference
	for i, b := range r.plan.Buffers {
		if b.Role != Result || b.Bytes == 0 {
			continue
		}
		ref := r.refs[i]
		if !r.unstable {
			ref = ref[:1]
		}
		d, err := r.difference(i, at.buffers[i], ref, r.limits[i])
		if err != nil {
			return nil, err
		}
		if d.Count+d.Masked > 0 {
			found = append(found, d)
		}
	}
	return found, nil
}

// difference compares buffer i at an address with references.
func (r *rerun) difference(i int, at driver.Address, ref reference, t tolerance) (Difference, error) {
	b := r.plan.Buffers[i]
	if at%chunkBytes != 0 {
		if err := r.dev.Copy(r.staging, at, b.Bytes); err != nil {
			return Difference{}, err
		}
		at = r.staging
	}
	d, err := r.compare.bytes(at, ref, b.Bytes, elementOf(b.Element), t)
	d.Buffer, d.Label = i, b.Label
	if err != nil {
		return d, fmt.Errorf("comparing buffer %d: %w", i, err)
	}
	return d, nil
}

// once launches the kernel with its buffers at their places. A fault or a hang is
// recorded and returned as errLost.
func (r *configRun) once(at placed, where driver.Part, mode Mode, run int) error {
	took, err := r.launch(r.index, at, where)
	if err != nil {
		if r.out.Stop = stopOf(err, mode, run); r.out.Stop != nil {
			return errLost
		}
		return fmt.Errorf("%s: %w", r.kernel.Entry, err)
	}
	*r.times = append(*r.times, took)
	return nil
}

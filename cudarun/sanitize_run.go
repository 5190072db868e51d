package cudarun

import (
	"errors"
	"fmt"
	"time"

	"aliascheck/cudarun/driver"
)

// sanitizeRun launches each configuration once, for a tool that watches: every
// buffer has an allocation of exactly its size, so that bounds are real ones, and
// unclaimed results are not filled, so that reads of unwritten memory show.
func sanitizeRun(dev driver.Device, plan *Plan, deadline time.Duration, out *Outcome) error {
	if err := plan.Check(); err != nil {
		return err
	}
	for i := range plan.Kernels {
		c := ConfigOutcome{Kernel: plan.Kernels[i].Entry, Description: plan.Kernels[i].Description}
		err := sanitizeConfig(dev, plan, i, deadline, out, &c)
		out.Configurations = append(out.Configurations, c)
		if err != nil {
			return err
		}
	}
	return nil
}

func sanitizeConfig(dev driver.Device, plan *Plan, i int, deadline time.Duration, out *Outcome, c *ConfigOutcome) (failed error) {
	r := &rerun{dev: dev, plan: plan, deadline: deadline, progress: func(string) {}, out: out, lines: true}
	r.images, r.kernels = make([]driver.Module, len(plan.Kernels)), make([]driver.Function, len(plan.Kernels))
	reason, err := r.load(i, c)
	if reason != "" || err != nil {
		c.Reason = reason
		return err
	}
	var owned []driver.Address
	defer func() {
		if errors.Is(failed, errLost) {
			return
		}
		for _, at := range owned {
			failed = errors.Join(failed, dev.Free(at))
		}
		failed = errors.Join(failed, dev.Unload(r.images[i]))
	}()
	take := func(bytes int64) (driver.Address, error) {
		at, err := dev.Alloc(bytes)
		if err == nil {
			owned = append(owned, at)
		}
		return at, err
	}
	at := placed{buffers: make([]driver.Address, len(plan.Buffers))}
	if err := r.fillExact(&plan.Kernels[i], at, take); err != nil {
		return err
	}
	if scratch := plan.scratchBytes(); scratch > 0 {
		if r.scratch, err = take(scratch); err != nil {
			return err
		}
	}
	took, err := r.launch(i, at, driver.WholeCard)
	c.KernelTime = took
	if err != nil {
		if c.Stop = stopOf(err, ModeSanitize, 1); c.Stop != nil {
			return errLost
		}
		return fmt.Errorf("%s: %w", plan.Kernels[i].Entry, err)
	}
	return nil
}

// fillExact gives every buffer its own allocation and its contents.
func (r *rerun) fillExact(k *Kernel, at placed, take func(int64) (driver.Address, error)) error {
	for i, b := range r.plan.Buffers {
		if r.plan.isItsOperand(k, i) {
			continue
		}
		var err error
		if at.buffers[i], err = take(b.Bytes); err != nil {
			return err
		}
		contents := b.Contents
		if b.Role == Result && b.Claims != NoBuffer {
			contents = r.plan.Buffers[b.Claims].Contents
		}
		if err := r.dev.Upload(at.buffers[i], contents); err != nil {
			return err
		}
	}
	for i, b := range r.plan.Buffers {
		if r.plan.isItsOperand(k, i) {
			at.buffers[i] = at.buffers[b.Claims]
		}
	}
	return nil
}

package cudarun

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"time"

	"aliascheck/cudarun/driver"
)

// Runs of each mode.
const (
	apartRuns  = 3 // one a poison
	repeatRuns = 3 // with the first poison again, where the three disagree
	sharedRuns = 5
)

// poisons are the bytes that unclaimed results start with. The first makes
// floats NaN and integers -1, the second large numbers, the third small negative
// ones: a value that was read cannot look right in all.
func poisons() [apartRuns]byte { return [apartRuns]byte{0xFF, 0x5A, 0xA5} }

// rerun is the work on one plan.
type rerun struct {
	dev      driver.Device
	plan     *Plan
	deadline time.Duration // a launch
	progress func(stage string)

	out     *Outcome
	memory  *arena
	compare *comparer

	contents []driver.Address // pristine, by buffer; 0: none
	saves    []driver.Address // room to save operands, by buffer; 0: none
	refs     []reference      // three, by result buffer
	staging  driver.Address   // for results that are not 16-aligned
	region   driver.Address   // where layouts are put
	scratch  driver.Address
	images   []driver.Module   // by kernel
	kernels  []driver.Function // by kernel
	lines    bool              // load code with its source lines
	unstable bool              // the references of the present kernel disagree somewhere
	limits   []tolerance       // by buffer
}

// errLost is a replay that ended with the device unusable: the outcome says why.
const errLost = driver.ErrorText("the device is lost")

// newReplay checks the plan and takes its memory.
func newReplay(dev driver.Device, plan *Plan, deadline time.Duration, progress func(string), out *Outcome) (*rerun, error) {
	r := &rerun{dev: dev, plan: plan, deadline: deadline, progress: progress, out: out}
	if err := plan.Check(); err != nil {
		return nil, err
	}
	var err error
	if r.memory, err = newArena(dev, plan.memoryPlan()); err != nil {
		return nil, err
	}
	if err := r.lay(); err != nil {
		return nil, errors.Join(err, r.memory.close())
	}
	return r, nil
}

// lay divides the memory, loads the helper kernels and uploads the contents.
func (r *rerun) lay() error {
	n := len(r.plan.Buffers)
	r.contents, r.saves, r.refs, r.limits = make([]driver.Address, n), make([]driver.Address, n), make([]reference, n), make([]tolerance, n)
	var failed error
	take := func(bytes int64) driver.Address {
		at, err := r.memory.take(bytes)
		failed = errors.Join(failed, err)
		return at
	}
	report := take(reportBytes)
	r.region = take(r.plan.regionBytes())
	most := int64(0)
	for i, b := range r.plan.Buffers {
		if b.Role == Result {
			r.refs[i] = reference{take(b.Bytes), take(b.Bytes), take(b.Bytes)}
			most = max(most, b.Bytes)
		} else if b.Contents != nil {
			r.contents[i] = take(b.Bytes)
			most = max(most, b.Bytes)
		}
		if b.Role == Operand && r.plan.Trials != nil {
			r.saves[i] = take(b.Bytes)
		}
	}
	r.staging = take(most)
	r.scratch = take(r.plan.scratchBytes())
	if failed != nil {
		return failed
	}
	begin := time.Now()
	for i, b := range r.plan.Buffers {
		if b.Contents != nil {
			if err := r.dev.Upload(r.contents[i], b.Contents); err != nil {
				return fmt.Errorf("contents of buffer %d: %w", i, err)
			}
		}
	}
	r.out.Times.Upload += time.Since(begin)
	var err error
	r.compare, err = newComparer(r.dev, report)
	return err
}

// close gives everything back. On a lost device that is the process's end.
func (r *rerun) close() error {
	var failed error
	for _, m := range r.images {
		if m != 0 {
			failed = errors.Join(failed, r.dev.Unload(m))
		}
	}
	return errors.Join(failed, r.compare.close(), r.memory.close())
}

// all replays every configuration, then the trials.
func (r *rerun) all() error {
	r.images, r.kernels = make([]driver.Module, len(r.plan.Kernels)), make([]driver.Function, len(r.plan.Kernels))
	for i := range r.plan.Kernels {
		c := ConfigOutcome{Kernel: r.plan.Kernels[i].Entry, Description: r.plan.Kernels[i].Description}
		err := r.config(i, &c)
		r.out.Configurations = append(r.out.Configurations, c)
		if err != nil {
			return err
		}
	}
	if r.plan.Trials == nil {
		return nil
	}
	r.out.Trials = &TrialOutcome{Phase: r.plan.Trials.Phase}
	return r.trials(r.out.Trials)
}

// config replays one configuration; an error is errLost, or one of the driver
// that has nothing to do with the kernel.
func (r *rerun) config(i int, c *ConfigOutcome) error {
	if reason, err := r.load(i, c); reason != "" || err != nil {
		c.Reason = reason
		return err
	}
	var times []time.Duration
	run := configRun{rerun: r, index: i, kernel: &r.plan.Kernels[i], out: c, times: &times}
	err := run.modes()
	sort.Slice(times, func(a, b int) bool { return times[a] < times[b] })
	if len(times) > 0 {
		c.KernelTime = times[len(times)/2]
	}
	return err
}

// launch runs kernel k with its buffers at their places.
func (r *rerun) launch(k int, at placed, where driver.Part) (time.Duration, error) {
	l, err := r.bind(&r.plan.Kernels[k], at)
	if err != nil {
		return 0, err
	}
	l.Function = r.kernels[k]
	took, err := r.dev.Run(l, where, r.deadline)
	r.out.Times.Kernel += took
	return took, err
}

// bind turns a kernel's parameters into bytes.
func (r *rerun) bind(k *Kernel, at placed) (driver.Launch, error) {
	l := driver.Launch{Grid: k.Grid, Block: k.Block, Cluster: k.Cluster, Shared: k.Shared}
	scratch := r.scratch
	for n, param := range k.Params {
		value := uint64(0)
		switch param.Kind {
		case ParamScalar:
			l.Params = append(l.Params, param.Scalar)
			continue
		case ParamBuffer:
			value = uint64(at.buffers[param.Buffer]) + uint64(param.Offset)
			if param.Divisibility > 0 && value%uint64(param.Divisibility) != 0 {
				return l, fmt.Errorf("parameter %d (buffer %d): its address is not divisible by %d, jaxlib refuses the call", n, param.Buffer, param.Divisibility)
			}
		case ParamTensor:
			var descriptors []byte
			for _, t := range param.Tensors {
				d, err := r.dev.Encode(t.Map, at.buffers[t.Buffer]+driver.Address(t.Offset))
				if err != nil {
					return l, fmt.Errorf("parameter %d: %w", n, err)
				}
				descriptors = append(descriptors, d...)
			}
			l.Params = append(l.Params, descriptors)
			continue
		case ParamScratch:
			if param.Bytes > 0 {
				align := driver.Address(max(param.Align, layoutAlign))
				scratch = (scratch + align - 1) / align * align
				value = uint64(scratch)
				scratch += driver.Address(param.Bytes)
			}
		}
		l.Params = append(l.Params, binary.LittleEndian.AppendUint64(nil, value))
	}
	for _, z := range k.Zero {
		l.Zero = append(l.Zero, driver.FillRange{At: at.buffers[z.Buffer], Bytes: z.Bytes})
	}
	return l, nil
}

// stopOf says how a kernel stopped, nil where err is about something else.
func stopOf(err error, mode Mode, run int) *Stop {
	switch {
	case errors.Is(err, driver.ErrHang):
		return &Stop{Kind: StopHang, Mode: mode, Run: run, Error: err.Error()}
	case driver.IsFault(err):
		return &Stop{Kind: StopFault, Mode: mode, Run: run, Error: err.Error(), Code: driver.CodeOf(err)}
	}
	return nil
}

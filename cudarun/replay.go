package cudarun

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"time"
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

// replay is the work on one plan.
type replay struct {
	dev      device
	plan     *Plan
	deadline time.Duration // a launch
	progress func(stage string)

	out     *Outcome
	memory  *arena
	compare *comparer

	contents []address   // pristine, by buffer; 0: none
	saves    []address   // room to save operands, by buffer; 0: none
	refs     []reference // three, by result buffer
	staging  address     // for results that are not 16-aligned
	region   address     // where layouts are put
	scratch  address
	images   []module    // by kernel
	kernels  []function  // by kernel
	lines    bool        // load code with its source lines
	unstable bool        // the references of the present kernel disagree somewhere
	limits   []tolerance // by buffer
}

// errLost is a replay that ended with the device unusable: the outcome says why.
const errLost = errorText("the device is lost")

// newReplay checks the plan and takes its memory.
func newReplay(dev device, plan *Plan, deadline time.Duration, progress func(string), out *Outcome) (*replay, error) {
	r := &replay{dev: dev, plan: plan, deadline: deadline, progress: progress, out: out}
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
func (r *replay) lay() error {
	n := len(r.plan.Buffers)
	r.contents, r.saves, r.refs, r.limits = make([]address, n), make([]address, n), make([]reference, n), make([]tolerance, n)
	var failed error
	take := func(bytes int64) address {
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
			if err := r.dev.upload(r.contents[i], b.Contents); err != nil {
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
func (r *replay) close() error {
	var failed error
	for _, m := range r.images {
		if m != 0 {
			failed = errors.Join(failed, r.dev.unload(m))
		}
	}
	return errors.Join(failed, r.compare.close(), r.memory.close())
}

// all replays every configuration, then the trials.
func (r *replay) all() error {
	r.images, r.kernels = make([]module, len(r.plan.Kernels)), make([]function, len(r.plan.Kernels))
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
func (r *replay) config(i int, c *ConfigOutcome) error {
	if reason, err := r.load(i, c); reason != "" || err != nil {
		c.Reason = reason
		return err
	}
	var times []time.Duration
	run := configRun{replay: r, index: i, kernel: &r.plan.Kernels[i], out: c, times: &times}
	err := run.modes()
	sort.Slice(times, func(a, b int) bool { return times[a] < times[b] })
	if len(times) > 0 {
		c.KernelTime = times[len(times)/2]
	}
	return err
}

// configRun is the replay of one configuration under way.
type configRun struct {
	*replay
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
	r.out.Shared = &ModeOutcome{SMs: r.dev.info().SMs}
	if err := r.repeat(r.out.Shared, ModeShared, shared, wholeCard); err != nil {
		return err
	}
	r.out.Confined = &ModeOutcome{}
	sms, err := r.dev.confine()
	if err != nil {
		r.out.Confined.Reason = err.Error()
	} else {
		r.out.Confined.SMs = sms
		if err := r.repeat(r.out.Confined, ModeConfined, shared, confinedPart); err != nil {
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
	if err := r.repeat(r.out.Control, ModeControl, apart, wholeCard); err != nil {
		return err
	}
	if r.out.Confined.Runs == 0 {
		return nil
	}
	return r.repeat(r.out.Control, ModeControl, apart, confinedPart)
}

// repeat runs a mode sharedRuns times and compares each run with the reference.
func (r *configRun) repeat(m *ModeOutcome, mode Mode, at placed, where part) error {
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
func (r *replay) results(at placed) ([]Difference, error) {
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
func (r *replay) difference(i int, at address, ref reference, t tolerance) (Difference, error) {
	b := r.plan.Buffers[i]
	if at%chunkBytes != 0 {
		if err := r.dev.copy(r.staging, at, b.Bytes); err != nil {
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
func (r *configRun) once(at placed, where part, mode Mode, run int) error {
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

// launch runs kernel k with its buffers at their places.
func (r *replay) launch(k int, at placed, where part) (time.Duration, error) {
	l, err := r.bind(&r.plan.Kernels[k], at)
	if err != nil {
		return 0, err
	}
	l.fn = r.kernels[k]
	took, err := r.dev.run(l, where, r.deadline)
	r.out.Times.Kernel += took
	return took, err
}

// bind turns a kernel's parameters into bytes.
func (r *replay) bind(k *Kernel, at placed) (launch, error) {
	l := launch{grid: k.Grid, block: k.Block, cluster: k.Cluster, shared: k.Shared}
	scratch := r.scratch
	for n, param := range k.Params {
		value := uint64(0)
		switch param.Kind {
		case ParamScalar:
			l.params = append(l.params, param.Scalar)
			continue
		case ParamBuffer:
			value = uint64(at.buffers[param.Buffer]) + uint64(param.Offset)
			if param.Divisibility > 0 && value%uint64(param.Divisibility) != 0 {
				return l, fmt.Errorf("parameter %d (buffer %d): its address is not divisible by %d, jaxlib refuses the call", n, param.Buffer, param.Divisibility)
			}
		case ParamTensor:
			descriptor, err := r.dev.encode(param.Tensor, at.buffers[param.Buffer])
			if err != nil {
				return l, fmt.Errorf("parameter %d: %w", n, err)
			}
			l.params = append(l.params, descriptor)
			continue
		case ParamScratch:
			if param.Bytes > 0 {
				align := address(max(param.Align, layoutAlign))
				scratch = (scratch + align - 1) / align * align
				value = uint64(scratch)
				scratch += address(param.Bytes)
			}
		}
		l.params = append(l.params, binary.LittleEndian.AppendUint64(nil, value))
	}
	for _, z := range k.Zero {
		l.zero = append(l.zero, fillRange{at.buffers[z.Buffer], z.Bytes})
	}
	return l, nil
}

// stopOf says how a kernel stopped, nil where err is about something else.
func stopOf(err error, mode Mode, run int) *Stop {
	switch {
	case errors.Is(err, errHang):
		return &Stop{Kind: StopHang, Mode: mode, Run: run, Error: err.Error()}
	case isFault(err):
		return &Stop{Kind: StopFault, Mode: mode, Run: run, Error: err.Error(), Code: codeOf(err)}
	}
	return nil
}

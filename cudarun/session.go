package cudarun

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// HiddenCommand is the argument that makes this program's binary a worker.
const HiddenCommand = "__gpu-worker"

// Defaults of Options.
const (
	DefaultLaunchDeadline = 10 * time.Second
	DefaultSilence        = 60 * time.Second
)

// Options say how plans are replayed. The zero value uses device 0 and this
// program's own binary as the worker.
type Options struct {
	Worker []string // command and arguments; nil: this binary and HiddenCommand
	Env    []string // the workers' environment; nil: this process's

	// Devices are ordinals among those that CUDA_VISIBLE_DEVICES shows; one
	// worker runs on each. nil: device 0.
	Devices []int

	// LaunchDeadline bounds one launch; 0: DefaultLaunchDeadline.
	LaunchDeadline time.Duration
	// Silence is how long a worker may work without a word beyond a launch's
	// deadline (the driver compiles, contents are copied) before it is killed;
	// 0: DefaultSilence.
	Silence time.Duration
	// Budget bounds all replays of one Run together; 0: none.
	Budget time.Duration

	// Progress is called before each replay, at each of its stages, and after
	// it, from several goroutines in turn, never at once.
	Progress func(Progress)
}

// Progress is how far a Run is.
type Progress struct {
	Plan  string // name
	Stage string // "start", "load NAME", "apart 1", ..., "end"
	Done  int    // replays that ended
	Of    int    // replays to do: equal plans count once
}

// Session holds the workers, one a device.
type Session struct {
	options Options
	clients []*client
	mu      sync.Mutex // Progress
}

// complete fills in the defaults.
func (o Options) complete() (Options, error) {
	if o.LaunchDeadline <= 0 {
		o.LaunchDeadline = DefaultLaunchDeadline
	}
	if o.Silence <= 0 {
		o.Silence = DefaultSilence
	}
	if o.Worker == nil {
		self, err := os.Executable()
		if err != nil {
			return o, err
		}
		o.Worker = []string{self, HiddenCommand}
	}
	if len(o.Devices) == 0 {
		o.Devices = []int{0}
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o, nil
}

// Open starts a worker on each device. The error says in one line why kernels
// cannot be replayed: no driver, no device.
func Open(ctx context.Context, o Options) (*Session, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	s := &Session{options: o}
	for _, ordinal := range o.Devices {
		c, err := s.start(ctx, ordinal)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.clients = append(s.clients, c)
	}
	return s, nil
}

func (s *Session) start(ctx context.Context, ordinal int) (*client, error) {
	return startClient(ctx, s.options.Worker, s.options.Env, ordinal, s.options.Silence+s.options.LaunchDeadline)
}

// Devices are the cards in use.
func (s *Session) Devices() []DeviceInfo {
	all := make([]DeviceInfo, 0, len(s.clients))
	for _, c := range s.clients {
		if c != nil {
			all = append(all, c.device)
		}
	}
	return all
}

// closeGrace is how long an idle worker may take to end.
const closeGrace = 5 * time.Second

// Close ends all workers; when it returns none is left.
func (s *Session) Close() {
	for _, c := range s.clients {
		if c != nil {
			c.close(closeGrace)
		}
	}
	s.clients = nil
}

// Run replays the plans and returns an outcome for each, in order. Plans of equal
// content are replayed once. What the budget, an interruption or the loss of all
// workers cut off is Skipped, with that reason; it is never an error.
func (s *Session) Run(ctx context.Context, plans []Plan) []Outcome {
	run := newRun(s, plans)
	whole := ctx
	if s.options.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.options.Budget)
		defer cancel()
	}
	run.cutOff = func() string {
		if whole.Err() != nil {
			return "interrupted"
		}
		return fmt.Sprintf("the GPU budget of %s was used up", s.options.Budget)
	}
	queue := make(chan int)
	var workers sync.WaitGroup
	for i := range s.clients {
		workers.Go(func() {
			for n := range queue {
				run.one(ctx, i, n)
			}
		})
	}
	for _, n := range run.unique {
		queue <- n
	}
	close(queue)
	workers.Wait()
	return run.spread()
}

// sessionRun is one Run under way.
type sessionRun struct {
	*Session
	plans    []Plan
	outcomes []Outcome
	first    map[string]int // key to plan number
	keys     []string
	unique   []int
	cutOff   func() string
	done     int
}

func newRun(s *Session, plans []Plan) *sessionRun {
	r := &sessionRun{Session: s, plans: plans, outcomes: make([]Outcome, len(plans)), first: map[string]int{}, keys: make([]string, len(plans))}
	for i := range plans {
		r.keys[i] = plans[i].Key()
		if _, seen := r.first[r.keys[i]]; !seen {
			r.first[r.keys[i]] = i
			r.unique = append(r.unique, i)
		}
	}
	return r
}

// one replays plan n on the i-th device, with a fresh worker where the last was lost.
func (r *sessionRun) one(ctx context.Context, i, n int) {
	plan := &r.plans[n]
	out := Outcome{Plan: plan.Name}
	defer func() {
		r.outcomes[n] = out
		r.tell(plan.Name, "end", 1)
	}()
	if ctx.Err() != nil {
		out.Skipped = r.cutOff()
		return
	}
	if err := plan.Check(); err != nil {
		out.Skipped = err.Error()
		return
	}
	r.tell(plan.Name, "start", 0)
	if r.clients[i] == nil {
		c, err := r.start(ctx, r.device(i))
		if err != nil {
			out.Skipped = r.reason(ctx, fmt.Errorf("no new worker: %w", err))
			return
		}
		r.clients[i] = c
	}
	request := runRequest{Deadline: r.options.LaunchDeadline}
	got, lost, err := r.clients[i].replay(ctx, plan, request, func(stage string) { r.tell(plan.Name, stage, 0) })
	if err != nil {
		out.Skipped = r.reason(ctx, err)
	} else {
		out = got
		out.Plan = plan.Name
	}
	if lost || err != nil {
		r.clients[i].close(closeGrace)
		r.clients[i] = nil
	}
}

func (r *sessionRun) device(i int) int { return r.options.Devices[i] }

// reason is why a replay did not happen.
func (r *sessionRun) reason(ctx context.Context, err error) string {
	if ctx.Err() != nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return r.cutOff()
	}
	return err.Error()
}

// tell reports progress.
func (r *sessionRun) tell(plan, stage string, ended int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += ended
	r.options.Progress(Progress{Plan: plan, Stage: stage, Done: r.done, Of: len(r.unique)})
}

// spread gives every plan its outcome, equal plans the same.
func (r *sessionRun) spread() []Outcome {
	for i := range r.plans {
		first := r.first[r.keys[i]]
		if i != first {
			r.outcomes[i] = r.outcomes[first]
			r.outcomes[i].Plan = r.plans[i].Name
		}
		r.outcomes[i].Key = r.keys[i]
	}
	return r.outcomes
}

// Key is a hash of all that a replay depends on; the plan's name and the words
// for people are not among it.
func (p *Plan) Key() string {
	plain := *p
	plain.Name = ""
	plain.Buffers = make([]Buffer, len(p.Buffers))
	h := sha256.New()
	for i, b := range p.Buffers {
		fmt.Fprintf(h, "%d %d %v\n", i, len(b.Contents), b.Contents == nil)
		h.Write(b.Contents)
		b.Label, b.Origin, b.Contents = "", "", nil
		plain.Buffers[i] = b
	}
	if err := json.NewEncoder(h).Encode(plain); err != nil {
		return "" // only numbers that no Check passes (NaN) cannot be written
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

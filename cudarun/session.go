package cudarun

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	"aliascheck/cudarun/driver"
)

// Session holds the workers, one a device. It is safe for concurrent use: replays
// wait for a device, and plans of equal content are replayed once.
type Session struct {
	options Options
	clients []*client // nil where the last worker was lost
	idle    chan int  // the clients that nobody uses

	mu      sync.Mutex // guards what follows, and Progress
	known   map[string]*sessionReplay
	done    int
	spent   time.Duration // by all replays together
	refusal error         // why the last worker did not start; nil where it did
}

// sessionReplay is one replay that was asked for.
type sessionReplay struct {
	once sync.Once
	out  Outcome
}

// Open starts a worker on each device. The error says in one line why kernels
// cannot be replayed: no driver, no device.
func Open(ctx context.Context, o Options) (*Session, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	s := &Session{options: o, known: map[string]*sessionReplay{}, idle: make(chan int, len(o.Devices))}
	for i, ordinal := range o.Devices {
		c, err := s.start(ctx, ordinal)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.clients = append(s.clients, c)
		s.idle <- i
	}
	return s, nil
}

func (s *Session) start(ctx context.Context, ordinal int) (*client, error) {
	return startClient(ctx, s.options.Worker, s.options.Env, ordinal, s.options.Silence+s.options.LaunchDeadline)
}

// Devices are the cards in use.
func (s *Session) Devices() []driver.DeviceInfo {
	all := make([]driver.DeviceInfo, 0, len(s.clients))
	for _, c := range s.clients {
		if c != nil {
			all = append(all, c.device)
		}
	}
	return all
}

// closeGrace is how long an idle worker may take to end.
const closeGrace = 5 * time.Second

// Close ends all workers; when it returns none is left. No replay may be under way.
func (s *Session) Close() {
	for _, c := range s.clients {
		if c != nil {
			c.close(closeGrace)
		}
	}
	s.clients = nil
}

// Replay replays a plan, or gives the outcome of an equal one. What the budget, an
// interruption or the loss of the device cut off is Skipped, with that reason; it
// is never an error.
func (s *Session) Replay(ctx context.Context, plan *Plan) Outcome {
	key := plan.Key()
	r := s.ask(key)
	r.once.Do(func() {
		r.out = s.first(ctx, plan)
		r.out.Key = key
		s.tell(plan.Name, "end", 1)
	})
	out := r.out
	out.Plan = plan.Name
	return out
}

// ask notes a replay to do.
func (s *Session) ask(key string) *sessionReplay {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[key] == nil {
		s.known[key] = &sessionReplay{}
	}
	return s.known[key]
}

// Run replays the plans, as many at a time as there are devices, and returns an
// outcome for each, in order.
func (s *Session) Run(ctx context.Context, plans []Plan) []Outcome {
	for i := range plans { // so that progress knows how many there are
		s.ask(plans[i].Key())
	}
	outcomes := make([]Outcome, len(plans))
	queue := make(chan int)
	var workers sync.WaitGroup
	for range s.clients {
		workers.Go(func() {
			for n := range queue {
				outcomes[n] = s.Replay(ctx, &plans[n])
			}
		})
	}
	for n := range plans {
		queue <- n
	}
	close(queue)
	workers.Wait()
	return outcomes
}

// first replays a plan that nobody replayed yet.
func (s *Session) first(ctx context.Context, plan *Plan) Outcome {
	out := Outcome{Plan: plan.Name}
	if err := plan.Check(); err != nil {
		out.Skipped = err.Error()
		return out
	}
	var i int
	select {
	case i = <-s.idle:
	case <-ctx.Done():
		out.Skipped = interrupted
		return out
	}
	defer func() { s.idle <- i }()
	left, reason := s.left(ctx)
	if reason != "" {
		out.Skipped = reason
		return out
	}
	begin := time.Now()
	defer func() { s.spend(time.Since(begin)) }()
	within, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	got, err := s.on(within, i, plan)
	switch {
	case err == nil:
		return got
	case ctx.Err() != nil:
		out.Skipped = interrupted
	case within.Err() != nil:
		out.Skipped = s.usedUp()
	default:
		out.Skipped = err.Error()
	}
	return out
}

const interrupted = "interrupted"

func (s *Session) usedUp() string {
	return fmt.Sprintf("the GPU budget of %s was used up", s.options.Budget)
}

// left says how much time a replay may take, or why there is none.
func (s *Session) left(ctx context.Context) (time.Duration, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return 0, interrupted
	case s.refusal != nil:
		return 0, fmt.Sprintf("no new worker: %v", s.refusal)
	case s.options.Budget <= 0:
		return math.MaxInt64, ""
	case s.spent >= s.options.Budget:
		return 0, s.usedUp()
	}
	return s.options.Budget - s.spent, ""
}

func (s *Session) spend(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent += d
}

// on replays a plan on the i-th device, with a fresh worker where the last was lost.
func (s *Session) on(ctx context.Context, i int, plan *Plan) (Outcome, error) {
	s.tell(plan.Name, "start", 0)
	if s.clients[i] == nil {
		c, err := s.start(ctx, s.options.Devices[i])
		if err != nil {
			s.refuse(ctx, err)
			return Outcome{}, fmt.Errorf("no new worker: %w", err)
		}
		s.clients[i] = c
	}
	request := runRequest{Deadline: s.options.LaunchDeadline}
	out, lost, err := s.clients[i].replay(ctx, plan, request, func(stage string) { s.tell(plan.Name, stage, 0) })
	if lost || err != nil {
		s.clients[i].close(closeGrace)
		s.clients[i] = nil
	}
	return out, err
}

// refuse notes that a device does not come back: the rest need not wait for it.
func (s *Session) refuse(ctx context.Context, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() == nil {
		s.refusal = err
	}
}

// tell reports progress.
func (s *Session) tell(plan, stage string, ended int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done += ended
	s.options.Progress(Progress{Plan: plan, Stage: stage, Done: s.done, Of: len(s.known)})
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

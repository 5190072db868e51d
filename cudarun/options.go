package cudarun

import (
	"os"
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
	Env    []string // the workers' environment; nil: what they need of this process's

	// Devices are ordinals among those that CUDA_VISIBLE_DEVICES shows; one
	// worker runs on each. nil: device 0.
	Devices []int

	// LaunchDeadline bounds one launch; 0: DefaultLaunchDeadline.
	LaunchDeadline time.Duration
	// Silence is how long a worker may work without a word beyond a launch's
	// deadline (the driver compiles, contents are copied) before it is killed;
	// 0: DefaultSilence.
	Silence time.Duration
	// Budget bounds the time of all replays of a session together; 0: none.
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
	Of    int    // replays asked for so far: equal plans count once
}

// complete fills in the defaults.
func (o Options) complete() (Options, error) {
	if o.Env == nil {
		o.Env = workerEnvironment()
	}
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

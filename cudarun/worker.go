package cudarun

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"aliascheck/cudarun/driver"
	"aliascheck/cudarun/internal/process"
	"aliascheck/cudarun/kernels"
)

// ServeWorker is the hidden command's work: it opens a card when it is told to,
// replays the plans that come on stdin and answers on stdout, until stdin ends or
// a kernel costs it the card. If stdin ends in the middle of a replay the parent
// is gone, and the process ends at once, whatever the driver is doing.
func ServeWorker(stdin io.Reader, stdout io.Writer) error {
	w := worker{
		open: func(ordinal int) (driver.Device, error) {
			lib, err := driver.OpenLibrary(driver.LibraryName)
			if err != nil {
				return nil, err
			}
			return driver.OpenCard(lib, ordinal)
		},
		abort: process.EndSelf,
	}
	return w.serve(stdin, stdout)
}

// worker is the process's one replayer.
type worker struct {
	open  func(ordinal int) (driver.Device, error)
	abort func() // ends the process at once
	dev   driver.Device
	warm  bool // first uses are behind it
	out   io.Writer

	garbage error // what came that was no frame

	// working says that an answer is being worked on: stdin must not end then.
	working atomic.Bool
}

// serve speaks the protocol. The device belongs to this goroutine's OS thread.
func (w *worker) serve(stdin io.Reader, stdout io.Writer) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w.out = stdout
	if err := writeJSON(w.out, frameHello, hello{protocolName, protocolVersion}); err != nil {
		return err
	}
	frames := make(chan frame)
	go w.receive(stdin, frames)
	var plan *Plan
	for f := range frames {
		if lost, err := w.handle(f, &plan); err != nil || lost {
			return err
		}
	}
	if w.dev != nil {
		return errors.Join(w.garbage, w.dev.Close())
	}
	return w.garbage
}

// receive reads frames until stdin ends.
func (w *worker) receive(stdin io.Reader, frames chan<- frame) {
	defer close(frames)
	r := bufio.NewReaderSize(stdin, 1<<20)
	for {
		f, err := readFrame(r)
		if err != nil {
			if w.working.Load() {
				w.abort()
			}
			if err != io.EOF {
				w.garbage = err // read after frames is closed
			}
			return
		}
		frames <- f
	}
}

// answer sends what a request asked for; the parent may go away after it.
func (w *worker) answer(kind frameKind, value any) error {
	w.working.Store(false)
	return writeJSON(w.out, kind, value)
}

// handle does what one frame asks; lost says that the device is gone.
func (w *worker) handle(f frame, plan **Plan) (lost bool, err error) {
	switch f.kind {
	case frameOpen:
		w.working.Store(true)
		return false, w.openDevice(f)
	case framePlan:
		*plan = &Plan{}
		return false, f.decode(*plan)
	case frameContents:
		if *plan == nil {
			return false, errors.New("contents before a plan")
		}
		return false, (*plan).addContents(f.body)
	case frameRun:
		var request runRequest
		if err := f.decode(&request); err != nil {
			return false, err
		}
		if w.dev == nil || *plan == nil {
			return false, errors.New("a run before a device and a plan")
		}
		p := *plan
		*plan = nil
		w.working.Store(true)
		return w.replay(p, request)
	}
	return false, fmt.Errorf("a frame %q out of place", f.kind)
}

// openDevice opens the card. That it cannot is an answer, not an error.
func (w *worker) openDevice(f frame) error {
	var request openRequest
	if err := f.decode(&request); err != nil {
		return err
	}
	if w.dev != nil {
		return errors.New("the device is open")
	}
	dev, err := w.open(request.Ordinal)
	if err != nil {
		return w.answer(frameFailure, failure{err.Error()})
	}
	w.dev = dev
	free, _, err := dev.Memory()
	if err != nil {
		return w.answer(frameFailure, failure{err.Error()})
	}
	return w.answer(frameDevice, deviceReply{dev.Info(), free})
}

// replay runs one plan and answers with its outcome.
func (w *worker) replay(plan *Plan, request runRequest) (lost bool, err error) {
	begin := time.Now()
	about := w.dev.Info()
	out := Outcome{Plan: plan.Name, Device: &about}
	progress := func(stage string) { _ = writeJSON(w.out, frameStage, stage) }
	if request.Sanitize {
		err = sanitizeRun(w.dev, plan, request.Deadline, &out)
	} else {
		w.warmUp()
		err = replayPlan(w.dev, plan, request.Deadline, progress, &out)
	}
	out.Times.Total = time.Since(begin)
	lost = errors.Is(err, errLost)
	if err != nil && !lost {
		out.Skipped = err.Error()
		lost = driver.IsFault(err) || errors.Is(err, driver.ErrHang) // of a helper kernel: the card is lost too
	}
	if err := w.answer(frameOutcome, outcomeReply{out, lost}); err != nil {
		return true, err
	}
	return lost, nil
}

// warmUp does on the card what every replay does, once: the driver allocates for
// itself on first use, which would look like a replay's leak, and take its time.
// What fails here will fail again where it is reported.
func (w *worker) warmUp() {
	if w.warm {
		return
	}
	w.warm = true
	report, err := w.dev.Alloc(reportBytes)
	if err != nil {
		return
	}
	defer func() { _ = w.dev.Free(report) }()
	c, err := newComparer(w.dev, report)
	if err != nil {
		return
	}
	defer func() { _ = c.close() }()
	if _, err := w.dev.Confine(); err == nil {
		l := driver.Launch{Function: c.guard, Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{kernels.Threads, 1, 1},
			Params: [][]byte{u64(uint64(report)), u64(0), u64(uint64(report)), u32(0)}}
		_, _ = w.dev.Run(l, driver.ConfinedPart, helperDeadline)
	}
	_, _, _, _ = c.band(report, 0, 0)
}

// replayPlan replays one plan on an open device and leaves no memory behind.
func replayPlan(dev driver.Device, plan *Plan, deadline time.Duration, progress func(string), out *Outcome) error {
	var err error
	if out.FreeBefore, _, err = dev.Memory(); err != nil {
		return err
	}
	r, err := newReplay(dev, plan, deadline, progress, out)
	if err != nil {
		return err
	}
	if err := r.all(); err != nil {
		if errors.Is(err, errLost) || driver.IsFault(err) || errors.Is(err, driver.ErrHang) {
			return err // nothing can be given back any more
		}
		return errors.Join(err, r.close())
	}
	if err := r.close(); err != nil {
		return err
	}
	out.FreeAfter, _, err = dev.Memory()
	return err
}

package cudarun

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"aliascheck/cudarun/driver"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// converse has a worker on the fake answer frames that are there from the start.
func converse(t *testing.T, input []byte) ([]frame, *fakeDevice, error) {
	t.Helper()
	d := newFake()
	var out bytes.Buffer
	w := worker{open: func(int) (driver.Device, error) { return d, nil }, abort: func() {}}
	err := w.serve(bytes.NewReader(input), &out)
	var frames []frame
	for r := bufio.NewReader(&out); ; {
		f, readErr := readFrame(r)
		if readErr == io.EOF {
			return frames, d, err
		}
		require.NoError(t, readErr, "the worker speaks the protocol, whatever it is told")
		frames = append(frames, f)
	}
}

func TestWorkerConversation(t *testing.T) {
	plan := pairPlan("reverse", testElements, true, true)
	var in bytes.Buffer
	require.NoError(t, writeJSON(&in, frameOpen, openRequest{0}))
	require.NoError(t, writePlan(&in, &plan, runRequest{Deadline: helperDeadline}))
	require.NoError(t, writePlan(&in, &plan, runRequest{Deadline: helperDeadline, Sanitize: true}))
	frames, d, err := converse(t, in.Bytes())
	require.NoError(t, err)
	assert.Empty(t, d.leaks())
	kinds := ""
	for _, f := range frames {
		if f.kind != frameStage {
			kinds += string(f.kind)
		}
	}
	assert.Equal(t, "HDZZ", kinds)
	var reply outcomeReply
	require.NoError(t, frames[len(frames)-2].decode(&reply))
	assert.Equal(t, "confirmed", reply.Outcome.Verdict(replay.PairShared, NoBuffer).Confirmation)
	assert.False(t, reply.Lost)
}

func TestWorkerRefuses(t *testing.T) {
	open := frameBytes(t, frameOpen, openRequest{0})
	plan := frameBytes(t, framePlan, pairPlan("scale", 8, true, true))
	run := frameBytes(t, frameRun, runRequest{})
	for _, c := range []struct {
		name string
		in   [][]byte
		want string
	}{
		{"a run before a device", [][]byte{plan, run}, "before a device and a plan"},
		{"a run before a plan", [][]byte{open, run}, "before a device and a plan"},
		{"contents before a plan", [][]byte{open, rawFrame(frameContents, []byte{0, 0, 0, 0, 1})}, "before a plan"},
		{"contents of no buffer", [][]byte{open, plan, rawFrame(frameContents, []byte{0})}, "contents of no buffer"},
		{"contents of another buffer", [][]byte{open, plan, rawFrame(frameContents, []byte{0, 0, 0, 9, 1})}, "buffer 9 of 2"},
		{"too many contents", [][]byte{open, plan, rawFrame(frameContents, make([]byte, 4+33))}, "more than its 32 bytes"},
		{"a plan that is none", [][]byte{open, rawFrame(framePlan, []byte("{"))}, "unexpected end"},
		{"two devices", [][]byte{open, open}, "is open"},
		{"an answer", [][]byte{rawFrame(frameOutcome, nil)}, "out of place"},
		{"garbage", [][]byte{open, []byte("GET / HTTP/1.1")}, "no frame of the protocol"},
		{"half a frame", [][]byte{open, plan[:len(plan)-1]}, "ends early"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, d, err := converse(t, bytes.Join(c.in, nil))
			assert.ErrorContains(t, err, c.want)
			assert.Empty(t, d.leaks())
		})
	}
}

func frameBytes(t *testing.T, kind frameKind, value any) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, writeJSON(&b, kind, value))
	return b.Bytes()
}

func rawFrame(kind frameKind, body []byte) []byte {
	var b bytes.Buffer
	_ = writeFrame(&b, kind, body)
	return b.Bytes()
}

// Whatever bytes come, a frame that is read is the frame that was written.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("Hello, world, this is no frame"))
	f.Add(rawFrame(frameStage, []byte(`"apart 1"`)))
	f.Add(append(rawFrame(frameHello, []byte("{}")), 0, 0, 0, 9, 'S'))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 'S'})
	f.Fuzz(func(t *testing.T, input []byte) {
		r := bufio.NewReader(bytes.NewReader(input))
		var again bytes.Buffer
		for {
			frame, err := readFrame(r)
			if err != nil {
				break
			}
			require.NoError(t, writeFrame(&again, frame.kind, frame.body))
		}
		assert.True(t, bytes.HasPrefix(input, again.Bytes()))
	})
}

// A plan that Check lets pass has layouts inside the memory that it plans for.
func FuzzPlan(f *testing.F) {
	for _, p := range []Plan{tuned(SaveEntry{0, 1, 4}), gatherPlan(false), pairPlan("scale", 3, true, false)} {
		b, err := json.Marshal(p)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var p Plan
		if json.Unmarshal(input, &p) != nil || p.Check() != nil {
			return
		}
		_ = p.Key()
		require.Positive(t, p.memoryPlan())
		layouts := []layout{p.apartLayout(&p.Kernels[0])}
		if p.Shared != nil {
			layouts = append(layouts, p.sharedLayout())
		}
		for _, l := range layouts {
			require.LessOrEqual(t, l.span(), p.regionBytes())
			at := l.at(1 << 20)
			for i, b := range p.Buffers {
				require.GreaterOrEqual(t, at.buffers[i], driver.Address(1<<20+guardBytes))
				require.LessOrEqual(t, int64(at.buffers[i])+b.Bytes, int64(1<<20)+l.span()-guardBytes)
			}
		}
	})
}

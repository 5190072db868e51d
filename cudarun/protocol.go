package cudarun

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"aliascheck/cudarun/driver"
)

// The worker's protocol: frames of a kind and a body, on its standard input and
// output. A body is JSON, but for contents: four bytes of buffer number, then
// bytes that follow what came for that buffer before.
//
//	worker: hello
//	parent: open                     worker: device | failure
//	parent: plan contents* run       worker: stage* (outcome | failure)
//	...                              until standard input ends
const (
	protocolVersion = 1
	protocolName    = "aliascheck gpu worker"
	maxFrame        = 16 << 20
	contentsPiece   = 4 << 20
)

type frameKind byte

const (
	frameHello    frameKind = 'H'
	frameOpen     frameKind = 'O'
	frameDevice   frameKind = 'D'
	framePlan     frameKind = 'P'
	frameContents frameKind = 'C'
	frameRun      frameKind = 'R'
	frameStage    frameKind = 'S'
	frameOutcome  frameKind = 'Z'
	frameFailure  frameKind = 'E'
)

type frame struct {
	kind frameKind
	body []byte
}

type hello struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
}

type openRequest struct {
	Ordinal int `json:"ordinal"`
}

type deviceReply struct {
	Device driver.DeviceInfo `json:"device"`
	Free   int64             `json:"free"`
}

type runRequest struct {
	Deadline time.Duration `json:"deadline_ns"` // a launch
	// Sanitize asks for one plain launch with buffers of their own, for a tool
	// that watches memory.
	Sanitize bool `json:"sanitize,omitempty"`
}

type outcomeReply struct {
	Outcome Outcome `json:"outcome"`
	Lost    bool    `json:"lost"` // the device is unusable: this worker ends now
}

type failure struct {
	Error string `json:"error"`
}

// writeFrame sends one frame.
func writeFrame(w io.Writer, kind frameKind, body []byte) error {
	head := make([]byte, 5, 5+len(body))
	binary.BigEndian.PutUint32(head, uint32(len(body)))
	head[4] = byte(kind)
	_, err := w.Write(append(head, body...))
	return err
}

// writeJSON sends a value as a frame.
func writeJSON(w io.Writer, kind frameKind, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if len(body) > maxFrame {
		return fmt.Errorf("a frame of %d bytes, more than %d", len(body), maxFrame)
	}
	return writeFrame(w, kind, body)
}

// readFrame receives one frame. io.EOF stands for an end between frames.
func readFrame(r *bufio.Reader) (frame, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame || !known(frameKind(head[4])) {
		return frame{}, fmt.Errorf("no frame of the protocol: %q", head[:])
	}
	body := make([]byte, n) // at most maxFrame
	if _, err := io.ReadFull(r, body); err != nil {
		return frame{}, fmt.Errorf("a frame that ends early: %w", noEOF(err))
	}
	return frame{frameKind(head[4]), body}, nil
}

func known(kind frameKind) bool {
	switch kind {
	case frameHello, frameOpen, frameDevice, framePlan, frameContents, frameRun, frameStage, frameOutcome, frameFailure:
		return true
	}
	return false
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decode reads a frame's JSON.
func (f frame) decode(to any) error {
	if err := json.Unmarshal(f.body, to); err != nil {
		return fmt.Errorf("frame %q: %w", f.kind, err)
	}
	return nil
}

// writePlan sends a plan and its contents.
func writePlan(w io.Writer, plan *Plan, run runRequest) error {
	if err := writeJSON(w, framePlan, plan); err != nil {
		return err
	}
	for i, b := range plan.Buffers {
		for rest := b.Contents; len(rest) > 0; {
			n := min(len(rest), contentsPiece)
			body := append(binary.BigEndian.AppendUint32(nil, uint32(i)), rest[:n]...)
			if err := writeFrame(w, frameContents, body); err != nil {
				return err
			}
			rest = rest[n:]
		}
	}
	return writeJSON(w, frameRun, run)
}

// addContents appends a contents frame to its buffer. More than the buffer holds
// is refused, so that memory is bounded by the plan's own sizes.
func (p *Plan) addContents(body []byte) error {
	if len(body) < 4 {
		return fmt.Errorf("contents of no buffer")
	}
	i, piece := binary.BigEndian.Uint32(body), body[4:]
	if int64(i) >= int64(len(p.Buffers)) {
		return fmt.Errorf("contents of buffer %d of %d", i, len(p.Buffers))
	}
	b := &p.Buffers[i]
	if int64(len(b.Contents))+int64(len(piece)) > b.Bytes {
		return fmt.Errorf("contents of buffer %d: more than its %d bytes", i, b.Bytes)
	}
	b.Contents = append(b.Contents, piece...)
	return nil
}

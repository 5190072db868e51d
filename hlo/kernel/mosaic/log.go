package mosaic

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// host is the function that launches the kernel, line by line, as it stands before the
// pass that lowers the launch.
type host struct {
	arguments  []string // names of its two: the stream, and the array of pointers
	lines      []string // its body, trimmed
	number     int      // of the first line in the file, from 1
	capability int32    // 90 is sm_90; 0: the module does not say
}

// Marks of the log.
const (
	passMark   = "IR Dump Before "
	launchPass = passMark + "GpuLaunchLoweringPass"
	hostMark   = "  func.func @"
	maxLines   = 1 << 16
)

// problem is why a launch cannot be told from the log: the log is not damaged.
type problem string

func (p problem) Error() string { return string(p) }

// hostFunction finds the function in a log. Only the text before one pass is looked at.
func hostFunction(log []byte) (*host, error) {
	start := bytes.LastIndex(log, []byte(launchPass))
	if start < 0 {
		return nil, fmt.Errorf("no %q: the kernel's compilation was not finished, or the log is cut", launchPass)
	}
	text := log[start:]
	if end := bytes.Index(text[len(launchPass):], []byte(passMark)); end >= 0 {
		text = text[:len(launchPass)+end]
	}
	h := &host{}
	var inside bool
	for number := 1 + bytes.Count(log[:start], []byte{'\n'}); len(text) > 0; number++ {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		switch {
		case inside && string(line) == "  }" || inside && bytes.HasPrefix(line, []byte("  } loc(")):
			return h, nil
		case inside:
			if len(h.lines) == maxLines {
				return nil, fmt.Errorf("line %d: a function of more than %d lines", number, maxLines)
			}
			h.lines = append(h.lines, strings.TrimSpace(string(line)))
		case bytes.HasPrefix(line, []byte("module @")):
			h.capability = capability(string(line))
		case bytes.HasPrefix(line, []byte(hostMark)):
			if err := h.head(string(line)); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			inside, h.number = true, number+1
		}
	}
	return nil, errors.New("the function that launches the kernel is not whole")
}

// head reads the function's first line.
func (h *host) head(line string) error {
	_, arguments, ok := strings.Cut(line, "(")
	if !ok || !strings.HasSuffix(line, "{") {
		return errors.New("a function without arguments")
	}
	for rest := arguments; ; {
		name, after, ok := strings.Cut(rest, ": !llvm.ptr")
		if !ok {
			break
		}
		if i := strings.LastIndexByte(name, '%'); i >= 0 {
			h.arguments = append(h.arguments, name[i:])
		}
		rest = after
	}
	if len(h.arguments) != 2 {
		return fmt.Errorf("a function of %d pointers, where a stream and the buffers should be", len(h.arguments))
	}
	return nil
}

// capability reads the architecture from a module's attributes.
func capability(line string) int32 {
	number := func(name string) int32 {
		_, rest, ok := strings.Cut(line, name+" = ")
		digits, _, _ := strings.Cut(rest, " ")
		n, err := strconv.ParseUint(digits, 10, 8)
		if !ok || err != nil {
			return -1
		}
		return int32(n)
	}
	major, minor := number("mosaic_gpu.arch_major"), number("mosaic_gpu.arch_minor")
	if major < 0 || minor < 0 {
		return 0
	}
	return 10*major + minor
}

package pallas

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// launch is a kernel's launch as a line of the thunk sequence has it.
type launch struct {
	entry                string
	grid, block, cluster [3]uint32
	shared               uint32
}

// maxThunks bounds what is kept of a module.
const maxThunks = 1 << 20

var errManyThunks = fmt.Errorf("more than %d thunks", maxThunks)

// readSequence reads lines such as
//
//	002: kCustomKernel [source | next=003 (1)] scale__1 grid: [4096, 1, 1] threads: [128, 1, 1]  shared_memory: 0 bytes
//
// and passes over thunks that launch no kernel and the heads of branches and loops. A
// cluster stands before the shared memory: cluster: [2, 1, 1].
func readSequence(text []byte) (map[uint64]launch, error) {
	out := map[uint64]launch{}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		head, rest, ok := strings.Cut(strings.TrimSpace(string(line)), ": kCustomKernel ")
		if !ok {
			continue
		}
		thunk, err := strconv.ParseUint(head, 10, 64)
		if err != nil {
			continue // the words of another kind of thunk
		}
		l, err := readLaunch(rest)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if other, twice := out[thunk]; twice && other != l {
			return nil, fmt.Errorf("line %d: a second thunk %d", number, thunk)
		}
		if out[thunk] = l; len(out) > maxThunks {
			return nil, errManyThunks
		}
	}
	return out, nil
}

// readLaunch reads a line from its neighbours on.
func readLaunch(text string) (launch, error) {
	l := launch{cluster: [3]uint32{1, 1, 1}}
	_, text, ok := strings.Cut(text, "] ")
	if !ok {
		return l, errors.New("a thunk without its neighbours")
	}
	name, text, ok := strings.Cut(text, " grid: [")
	if !ok || name == "" {
		return l, errors.New("a kernel without a grid")
	}
	l.entry = name
	grid, text, ok1 := strings.Cut(text, "] threads: [")
	block, text, ok2 := strings.Cut(text, "]")
	between, shared, ok3 := strings.Cut(text, "shared_memory: ")
	size, _, ok4 := strings.Cut(shared, " bytes")
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return l, errors.New("a kernel without a launch")
	}
	parts := []struct {
		text string
		to   *[3]uint32
	}{{grid, &l.grid}, {block, &l.block}}
	if between = strings.TrimSpace(between); between != "" {
		dims, ok := strings.CutPrefix(between, "cluster: [")
		dims, closed := strings.CutSuffix(dims, "]")
		if !ok || !closed {
			return l, fmt.Errorf("%.40q where a cluster may be", between)
		}
		parts = append(parts, struct {
			text string
			to   *[3]uint32
		}{dims, &l.cluster})
	}
	for _, p := range parts {
		if err := readTriple(p.text, p.to); err != nil {
			return l, err
		}
	}
	n, err := strconv.ParseUint(size, 10, 32)
	if err != nil {
		return l, fmt.Errorf("shared memory of %.40q bytes", size)
	}
	l.shared = uint32(n)
	return l, nil
}

// readTriple reads 4096, 1, 1.
func readTriple(text string, to *[3]uint32) error {
	parts := strings.Split(text, ", ")
	if len(parts) != len(to) {
		return fmt.Errorf("%.60q is no launch's shape", text)
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil || n > math.MaxUint32 {
			return fmt.Errorf("%.60q is no launch's shape", text)
		}
		to[i] = uint32(n)
	}
	return nil
}

// readMetadata reads a list of
//
//	thunk_metadata {
//	  thunk_info {
//	    profile_annotation: "pallas_call.9"
//	    thunk_id: 4
//	  }
//	  thunk_kind: "kCustomKernel"
//	}
//
// and gives the thunks of each instruction that launch kernels. Fields may be missing:
// a thunk's number is then 0.
func readMetadata(text []byte) (map[string][]uint64, error) {
	out := map[string][]uint64{}
	var name, kind string
	var thunk uint64
	depth, number, total := 0, 0, 0
	for line := range bytes.Lines(text) {
		number++
		word := strings.TrimSpace(string(line))
		key, value, _ := strings.Cut(word, ": ")
		switch {
		case strings.HasSuffix(word, "{"):
			if depth++; depth == 1 {
				name, kind, thunk = "", "", 0
			}
		case word == "}":
			if depth--; depth < 0 {
				return nil, fmt.Errorf("line %d: a brace too many", number)
			}
			if depth == 0 && kind == `"kCustomKernel"` && name != "" {
				if total++; total > maxThunks {
					return nil, errManyThunks
				}
				out[name] = append(out[name], thunk)
			}
		case depth == 2 && key == "profile_annotation":
			unquoted, err := strconv.Unquote(value)
			if err != nil {
				return nil, fmt.Errorf("line %d: %.60q is no name", number, value)
			}
			name = unquoted
		case depth == 2 && key == "thunk_id":
			var err error
			if thunk, err = strconv.ParseUint(value, 10, 64); err != nil {
				return nil, fmt.Errorf("line %d: %.40q is no thunk's number", number, value)
			}
		case depth == 1 && key == "thunk_kind":
			kind = value
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("line %d: the text ends inside of braces", number)
	}
	return out, nil
}

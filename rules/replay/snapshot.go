package replay

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"aliascheck/alias"
	"aliascheck/hlo"

	"google.golang.org/protobuf/encoding/protowire"
)

// Snapshots finds the entry parameters' contents in the snapshots beside a module:
// with --xla_dump_hlo_snapshots XLA writes, at every run, the module and its
// arguments (xla.HloSnapshot: 2 arguments, one LiteralProto a parameter) to
// MODULE.execution_NNNN.hlo_snapshot.pb. The first run's are taken. It is safe for
// concurrent use, and remembers where the arguments of a module's snapshot stand.
type Snapshots struct {
	mu    sync.Mutex
	files map[string]*snapshot // by the module's path; nil where there is none
}

// snapshot is where the arguments stand in a snapshot's file.
type snapshot struct {
	path      string
	arguments []extent
}

// extent is a part of a file, in bytes.
type extent struct{ offset, size int64 }

// Limits of a snapshot that is read.
const (
	maxArguments    = 1 << 16
	maxArgument     = 1 << 30 // bytes of one argument
	snapshotSuffix  = ".hlo_snapshot.pb"
	argumentsNumber = 2
)

// Lookup gives the contents of an operand leaf that is an entry parameter.
func (s *Snapshots) Lookup(c *alias.Call, operand int) ([]byte, Recipe) {
	l := &c.Operands[operand]
	if l.Value < 0 {
		return nil, Recipe{}
	}
	value := &c.Module.Values[l.Value]
	in := &c.Module.Instructions[value.Instruction]
	if in.Opcode != "parameter" || in.Computation != c.Module.Entry {
		return nil, Recipe{}
	}
	snap := s.of(c.Module.Path)
	if snap == nil || in.Parameter < 0 || int(in.Parameter) >= len(snap.arguments) {
		return nil, Recipe{}
	}
	literal, err := snap.read(int(in.Parameter))
	if err != nil {
		return nil, Recipe{}
	}
	if literal, err = literalAt(literal, value.Index); err != nil {
		return nil, Recipe{}
	}
	data, err := decodeLiteral(literal, l.Element, l.Bytes)
	if err != nil {
		return nil, Recipe{}
	}
	return data, Recipe{Kind: SnapshotInput, Source: filepath.Base(snap.path)}
}

// of gives the snapshot beside a module's file, or nil.
func (s *Snapshots) of(module string) *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files = map[string]*snapshot{}
	}
	snap, known := s.files[module]
	if !known {
		snap = newSnapshot(module)
		s.files[strings.Clone(module)] = snap
	}
	return snap
}

// newSnapshot finds and reads the first snapshot beside a module's file.
func newSnapshot(module string) *snapshot {
	prefix, ok := modulePrefix(filepath.Base(module))
	if !ok {
		return nil
	}
	entries, err := os.ReadDir(filepath.Dir(module))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), snapshotSuffix) && strings.Contains(e.Name(), prefix) {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil
	}
	path := filepath.Join(filepath.Dir(module), slices.Min(names))
	arguments, err := findArguments(path)
	if err != nil {
		return nil
	}
	return &snapshot{path, arguments}
}

// modulePrefix is the part of a dump's file name that all files of one module
// share: module_0012.jit_step. with its points.
func modulePrefix(name string) (string, bool) {
	at := strings.Index(name, "module_")
	if at < 0 {
		return "", false
	}
	first := strings.IndexByte(name[at:], '.')
	if first < 0 {
		return "", false
	}
	second := strings.IndexByte(name[at+first+1:], '.')
	if second < 0 {
		return "", false
	}
	return name[at : at+first+1+second+1], true
}

// findArguments walks the fields of a snapshot without reading what they hold.
func findArguments(path string) ([]extent, error) {
	f, whole, err := hlo.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []extent
	for at := int64(0); at < whole; {
		if _, err := f.Seek(at, io.SeekStart); err != nil {
			return nil, err
		}
		head, err := bufio.NewReaderSize(io.LimitReader(f, 20), 20).Peek(20)
		if err != nil && err != io.EOF {
			return nil, err
		}
		number, wire, n := protowire.ConsumeTag(head)
		if n < 0 || wire != protowire.BytesType {
			return nil, fmt.Errorf("%s at byte %d: no field of an HloSnapshot", path, at)
		}
		size, m := protowire.ConsumeVarint(head[n:])
		if m < 0 || size > math.MaxInt64/2 || int64(size) > whole-at-int64(n+m) {
			return nil, fmt.Errorf("%s at byte %d: field %d is cut", path, at, number)
		}
		at += int64(n + m)
		if number == argumentsNumber {
			if len(out) == maxArguments {
				return nil, fmt.Errorf("%s: more than %d arguments", path, maxArguments)
			}
			out = append(out, extent{at, int64(size)})
		}
		at += int64(size)
	}
	return out, nil
}

// read gives an argument's LiteralProto.
func (s *snapshot) read(n int) ([]byte, error) {
	e := s.arguments[n]
	if e.size > maxArgument {
		return nil, fmt.Errorf("%s: argument %d has %d bytes", s.path, n, e.size)
	}
	f, _, err := hlo.OpenRegular(s.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, e.offset, e.size))
}

// literalAt gives the LiteralProto at a shape index inside a literal of tuples.
func literalAt(literal []byte, index hlo.ShapeIndex) ([]byte, error) {
	const tupleLiterals = 10
	for _, want := range index {
		found := false
		for pos := 0; pos < len(literal) && !found; {
			number, wire, n := protowire.ConsumeTag(literal[pos:])
			if n < 0 {
				return nil, protowire.ParseError(n)
			}
			size := protowire.ConsumeFieldValue(number, wire, literal[pos+n:])
			if size < 0 {
				return nil, protowire.ParseError(size)
			}
			if number == tupleLiterals && wire == protowire.BytesType {
				if want == 0 {
					literal, _ = protowire.ConsumeBytes(literal[pos+n:])
					found = true
					break
				}
				want--
			}
			pos += n + size
		}
		if !found {
			return nil, fmt.Errorf("no literal at %v", index)
		}
	}
	return literal, nil
}

package mosaic

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"aliascheck/hlo/kernel"
)

// run follows the host function. It is straight-line code: it loads the buffers'
// addresses from an array, stores numbers to memory of its own, encodes tensor maps from
// them, and launches the kernel. An operation that is not known gives an unknown value,
// which is a problem only where the launch or a tensor map needs it.
type run struct {
	host   *host
	line   int // of host.lines
	values map[string]value
	memory []allocation
	arrays []argument // what the function says of each buffer that it makes a memref of
	launch *launchOp
}

// argument is the array that the function takes a buffer for.
type argument struct {
	buffer int
	shape  string // 1048576xf32
}

// follow follows the function up to its launch.
func follow(h *host) (*run, error) {
	r := &run{host: h, values: map[string]value{
		h.arguments[0]: {kind: stream}, h.arguments[1]: {kind: array},
	}}
	for i, line := range h.lines {
		r.line = i
		if err := r.operation(line); err != nil {
			return nil, err
		}
	}
	if r.launch == nil {
		return nil, problem("it launches no kernel")
	}
	return r, nil
}

// wrong is an error at the line that is followed.
func (r *run) wrong(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", r.host.number+r.line, fmt.Sprintf(format, args...))
}

// operation follows one line.
func (r *run) operation(line string) error {
	if line == "" || strings.HasPrefix(line, "//") {
		return nil
	}
	result, text := "", line
	if strings.HasPrefix(line, "%") {
		var ok bool
		if result, text, ok = strings.Cut(line, " = "); !ok {
			return r.wrong("a result of nothing: %.80q", line)
		}
	}
	name, rest, _ := strings.Cut(text, " ")
	if i := strings.IndexByte(name, '('); i >= 0 {
		name, rest = text[:i], text[i:] // llvm.mlir.constant(
	}
	switch name {
	case "call":
		return r.call(rest)
	case "gpu.launch_func":
		return r.launched(rest)
	case "llvm.store":
		return r.store(rest)
	case "return":
		return nil
	}
	if result == "" {
		return problem(fmt.Sprintf("line %d: %s decides how the kernel is launched", r.host.number+r.line, name))
	}
	v, err := r.evaluate(name, rest)
	if err != nil {
		return err
	}
	if v.kind == unknown && v.why == "" {
		v.why = name
	}
	first, _, several := strings.Cut(result, ", ")
	if several { // memref.extract_strided_metadata
		for _, other := range strings.Split(result, ", ")[1:] {
			r.values[other] = value{why: name}
		}
	}
	r.values[first] = v
	return nil
}

// evaluate gives an operation's result.
func (r *run) evaluate(name, rest string) (value, error) {
	switch name {
	case "llvm.mlir.constant", "arith.constant":
		return constant(rest), nil
	case "llvm.mlir.undef", "llvm.mlir.poison":
		return value{kind: aggregate, where: -1}, nil
	case "llvm.insertvalue":
		return r.insert(rest), nil
	case "builtin.unrealized_conversion_cast":
		return r.cast(rest)
	case "llvm.inttoptr", "llvm.ptrtoint", "arith.index_cast", "arith.index_castui", "memref.cast",
		"memref.reinterpret_cast", "memref.transpose", "memref.extract_aligned_pointer_as_index", "memref.extract_strided_metadata":
		// None of them moves the aligned pointer.
		return r.operand(rest), nil
	case "llvm.alloca":
		r.memory = append(r.memory, allocation{numbers: map[int64]int64{}, maps: map[int64]tensorMap{}})
		return value{kind: local, where: len(r.memory) - 1}, nil
	case "llvm.load":
		return r.load(rest), nil
	case "llvm.getelementptr":
		return r.element(rest), nil
	}
	return value{}, nil
}

// operand is the first value that text names.
func (r *run) operand(text string) value {
	name := text
	if i := strings.IndexAny(name, " ,[:)"); i >= 0 {
		name = name[:i]
	}
	v, ok := r.values[name]
	if !ok {
		return value{why: "an undefined name"}
	}
	return v
}

// constant reads (N : TYPE).
func constant(rest string) value {
	text := strings.TrimPrefix(rest, "(")
	if i := strings.IndexAny(text, " :)"); i >= 0 {
		text = text[:i]
	}
	switch text {
	case "true":
		return value{kind: number, number: 1}
	case "false":
		return value{kind: number}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return value{}
	}
	return value{kind: number, number: n}
}

// insert follows %v, %into[PLACE]: place 1 of a memref's descriptor is its aligned pointer.
func (r *run) insert(rest string) value {
	_, into, ok := strings.Cut(rest, ", ")
	if !ok {
		return value{}
	}
	if strings.Contains(into, "[1] :") {
		return r.operand(rest)
	}
	return r.operand(into)
}

// argumentMark is the attribute of a buffer's memref.
const argumentMark = "mosaic_gpu.from_kernel_arg_idx = "

// cast follows a cast, and notes what a buffer is taken for.
func (r *run) cast(rest string) (value, error) {
	v := r.operand(rest)
	_, index, ok := strings.Cut(rest, argumentMark)
	if !ok {
		return v, nil
	}
	digits, _, _ := strings.Cut(index, " ")
	n, err := strconv.Atoi(digits)
	_, shape, isMemref := strings.Cut(rest, " to memref<")
	shape, _, closed := strings.Cut(shape, ">")
	if err != nil || !isMemref || !closed || v.kind != pointer || v.where != n || v.number != 0 {
		return v, r.wrong("a buffer's memref of something else: %.80q", rest)
	}
	r.arrays = append(r.arrays, argument{n, shape})
	return v, nil
}

const pointerBytes = 8

// load follows %from : !llvm.ptr -> TYPE.
func (r *run) load(rest string) value {
	from := r.operand(rest)
	_, kind, _ := strings.Cut(rest, " -> ")
	switch {
	case from.kind == array && strings.HasPrefix(kind, "!llvm.ptr") && from.number >= 0 && from.number%pointerBytes == 0:
		return value{kind: pointer, where: int(min(from.number/pointerBytes, maxBuffers))}
	case from.kind == local && from.number == 0 && strings.HasPrefix(kind, "!llvm.array<") && strings.Contains(kind, " x i8>"):
		r.memory = append(r.memory, allocation{maps: maps.Clone(r.memory[from.where].maps)})
		return value{kind: encoded, where: len(r.memory) - 1}
	case from.kind == local && strings.HasPrefix(kind, "i64"):
		if n, ok := r.memory[from.where].numbers[from.number]; ok {
			return value{kind: number, number: n}
		}
	}
	return value{}
}

// store follows %what, %to : TYPE, !llvm.ptr.
func (r *run) store(rest string) error {
	_, to, ok := strings.Cut(rest, ", ")
	if !ok {
		return r.wrong("a store to nothing")
	}
	what, at := r.operand(rest), r.operand(to)
	if at.kind != local {
		return problem(fmt.Sprintf("line %d: it stores to %s", r.host.number+r.line, at))
	}
	delete(r.memory[at.where].maps, at.number&^(kernel.TensorMapSize-1))
	if _, kind, _ := strings.Cut(to, " : "); what.kind == number && strings.HasPrefix(kind, "i64,") {
		r.memory[at.where].numbers[at.number] = what.number
	} else {
		delete(r.memory[at.where].numbers, at.number)
	}
	return nil
}

// element follows %base[N] : (TYPES) -> !llvm.ptr, ELEMENT with one index.
func (r *run) element(rest string) value {
	text := strings.TrimPrefix(strings.TrimPrefix(rest, "inbounds "), "inbounds|nuw ")
	base := r.operand(text)
	_, after, ok := strings.Cut(text, "[")
	index, types, closed := strings.Cut(after, "]")
	_, kind, arrow := strings.Cut(types, "-> !llvm.ptr, ")
	if !ok || !closed || !arrow {
		return value{}
	}
	i := constant(index)
	if strings.HasPrefix(index, "%") {
		i = r.operand(index)
	}
	size := elementBytes(kind)
	if i.kind != number || size == 0 || i.number > maxOffset || i.number < -maxOffset || base.kind == unknown || base.kind == number {
		return value{}
	}
	base.number += i.number * size
	if base.number > maxOffset || base.number < -maxOffset {
		return value{}
	}
	return base
}

// maxOffset bounds addresses and indices: no buffer is so large.
const maxOffset = 1 << 50

// elementBytes is the size of a type that indices count in, 0 for one that is not known.
func elementBytes(kind string) int64 {
	name := kind
	if i := strings.IndexAny(name, " ,"); i >= 0 {
		name = name[:i]
	}
	switch name {
	case "!llvm.ptr", "i64", "f64":
		return 8
	case "i32", "f32":
		return 4
	case "i16", "f16", "bf16":
		return 2
	case "i8", "f8E4M3FN", "f8E5M2", "f8E8M0FNU":
		return 1
	}
	return 0
}

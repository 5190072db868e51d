package mosaic

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"aliascheck/hlo/kernel"
)

// maxBuffers bounds the numbers of buffers.
const maxBuffers = 1 << 16

// launchOp is the launch as the function has it.
type launchOp struct {
	entry                string
	grid, block, cluster [3]uint32
	shared               uint32
	params               []kernel.Param
}

// launched follows
//
//	<%stream : !llvm.ptr> @M::@K [clusters in (…)] blocks in (…) threads in (…) : i64
//	[dynamic_shared_memory_size %n] args(%a : TYPE, …)
func (r *run) launched(rest string) error {
	if r.launch != nil {
		return problem("it launches more than one kernel")
	}
	l := &launchOp{cluster: [3]uint32{1, 1, 1}}
	_, after, ok := strings.Cut(rest, "::@")
	if !ok {
		return r.wrong("a launch of nothing")
	}
	l.entry, _, _ = strings.Cut(after, " ")
	for _, part := range [...]struct {
		word string
		to   *[3]uint32
		must bool
	}{{" blocks in (", &l.grid, true}, {" threads in (", &l.block, true}, {" clusters in (", &l.cluster, false}} {
		_, text, found := strings.Cut(after, part.word)
		if !found && !part.must {
			continue
		}
		if err := r.triple(text, part.to); err != nil {
			return err
		}
	}
	if _, text, found := strings.Cut(after, " dynamic_shared_memory_size "); found {
		n := r.operand(text)
		if n.kind != number || n.number < 0 || n.number > math.MaxUint32 {
			return problem(fmt.Sprintf("its dynamic shared memory is %s", n))
		}
		l.shared = uint32(n.number)
	}
	if _, text, found := strings.Cut(after, " args("); found {
		if err := r.params(l, text); err != nil {
			return err
		}
	}
	r.launch = l
	return nil
}

// triple reads (%x, %y, %z).
func (r *run) triple(text string, to *[3]uint32) error {
	text, _, _ = strings.Cut(text, ")")
	names := strings.Split(text, ", ")
	if len(names) != 3 {
		return r.wrong("a launch of %d dimensions", len(names))
	}
	for i, name := range names {
		v := r.operand(name)
		if v.kind != number || v.number < 0 || v.number > math.MaxUint32 {
			return problem(fmt.Sprintf("its launch takes %s", v))
		}
		to[i] = uint32(v.number)
	}
	return nil
}

// params reads %a : TYPE, %b : TYPE, …)
func (r *run) params(l *launchOp, text string) error {
	text, _, ok := strings.Cut(text, ") loc(")
	if !ok {
		text, _, ok = strings.Cut(text, ")")
	}
	if !ok {
		return r.wrong("the launch's arguments have no end")
	}
	for _, arg := range strings.Split(text, ", %") {
		name, kind, typed := strings.Cut(arg, " : ")
		if !typed {
			return r.wrong("an argument without a type: %.80q", arg)
		}
		p, err := r.param(r.operand("%"+strings.TrimPrefix(name, "%")), kind)
		if err != nil {
			return err
		}
		l.params = append(l.params, p)
	}
	return nil
}

// param binds one argument of the launch.
func (r *run) param(v value, kind string) (kernel.Param, error) {
	switch {
	case v.kind == pointer && kind == "!llvm.ptr":
		return kernel.Param{Kind: kernel.Pointer, Buffer: v.where, Offset: v.number}, nil
	case v.kind == number && strings.HasPrefix(kind, "i"):
		bits, err := strconv.Atoi(kind[1:])
		if err != nil || bits < 8 || bits > 64 || bits%8 != 0 {
			break
		}
		return kernel.Param{Kind: kernel.Scalar, Type: kind, Bits: uint64(v.number) & (math.MaxUint64 >> (64 - bits)), Size: uint8(bits / 8)}, nil
	case v.kind == encoded:
		size, ok := strings.CutPrefix(kind, "!llvm.array<")
		size, _, _ = strings.Cut(size, " ")
		n, err := strconv.Atoi(size)
		if !ok || err != nil || n <= 0 || n%kernel.TensorMapSize != 0 || n > 1<<12 {
			break // a kernel's parameters have 4 KiB
		}
		p := kernel.Param{Kind: kernel.TensorMaps}
		for at := int64(0); at < int64(n); at += kernel.TensorMapSize {
			m, ok := r.memory[v.where].maps[at]
			if !ok {
				return p, problem(fmt.Sprintf("nothing is encoded at byte %d of its tensor maps", at))
			}
			if m.why != "" {
				return p, problem(fmt.Sprintf("tensor map %d: %s", at/kernel.TensorMapSize, m.why))
			}
			p.Maps = append(p.Maps, m.TensorMap)
		}
		return p, nil
	}
	return kernel.Param{}, problem(fmt.Sprintf("the launch takes %s as %s", v, kind))
}

// launch gives the configuration that the function launches, held to the call's arrays.
func launch(r *kernel.Request, h *host) (kernel.Configuration, error) {
	run, err := follow(h)
	if err != nil {
		return kernel.Configuration{}, err
	}
	for _, a := range run.arrays {
		own := bufferArray(r, a.buffer)
		if own == nil || shapeOf(own) != a.shape {
			return kernel.Configuration{}, problem(fmt.Sprintf("it takes buffer %d for %s, which the call's is not", a.buffer, a.shape))
		}
	}
	l := run.launch
	for i := range l.params {
		for _, n := range buffersOf(&l.params[i]) {
			if bufferArray(r, n) == nil {
				return kernel.Configuration{}, problem(fmt.Sprintf("parameter %d is of buffer %d; the call has %d", i, n, len(r.Operands)+len(r.Results)))
			}
		}
	}
	return kernel.Configuration{
		Entry: l.entry, Grid: l.grid, Block: l.block, Cluster: l.cluster, Shared: l.shared, Params: l.params,
	}, nil
}

// buffersOf lists the buffers that a parameter names.
func buffersOf(p *kernel.Param) []int {
	if p.Kind == kernel.Pointer {
		return []int{p.Buffer}
	}
	var out []int
	for i := range p.Maps {
		out = append(out, p.Maps[i].Buffer)
	}
	return out
}

// bufferArray is buffer n's array, nil where there is none.
func bufferArray(r *kernel.Request, n int) *kernel.Array {
	switch {
	case n < 0:
	case n < len(r.Operands):
		return &r.Operands[n]
	case n < len(r.Operands)+len(r.Results):
		return &r.Results[n-len(r.Operands)]
	}
	return nil
}

// shapeOf writes an array as a memref's type has it: 16x4xf32.
func shapeOf(a *kernel.Array) string {
	var b strings.Builder
	for _, d := range a.Dims {
		fmt.Fprintf(&b, "%dx", d)
	}
	b.WriteString(memrefElement(a.Element))
	return b.String()
}

// memrefElement is MLIR's name of an element type of HLO, as Mosaic GPU uses it:
// integers have no sign, and booleans are bytes.
func memrefElement(e string) string {
	switch e {
	case "pred":
		return "i8"
	case "f8e4m3fn":
		return "f8E4M3FN"
	case "f8e5m2":
		return "f8E5M2"
	case "f8e8m0fnu":
		return "f8E8M0FNU"
	case "f4e2m1fn":
		return "f4E2M1FN"
	}
	if e != "" && (e[0] == 's' || e[0] == 'u') {
		return "i" + e[1:]
	}
	return e
}

package ptx

import (
	"errors"
	"fmt"

	"aliascheck/rules/ptx/syntax"
)

// Limits of a program after calls are inlined.
const (
	maxCodes     = 1 << 20
	maxCallDepth = 24
)

// unsupported is an instruction that the machine does not know, or cannot run.
type unsupported struct {
	at  Access
	why string
}

func (e *unsupported) Error() string { return e.at.told(e.why) }

// environment is one inlined copy of a function.
type environment struct {
	fn     *syntax.Function
	regs   map[int32]int32                       // register to slot
	vars   map[*syntax.Variable]*syntax.Variable // formal parameter to what stands for it
	start  []int32                               // code index of each instruction, and of the end
	depth  int
	parent *environment
}

type paramKey struct {
	v   *syntax.Variable
	off int64
}

type lowerer struct {
	p       *program
	rows    map[string]Row
	known   map[string][]form
	env     *environment
	consts  map[constant]int32
	params  map[paramKey]int32 // .param variables of calls, as registers
	frames  map[*syntax.Variable]int64
	offsets map[*syntax.Variable]int64 // of shared and global variables in their space
	carry   int32                      // slot of the carry flag
	copies  bool                       // there are copies whose groups threads wait for
	in      *syntax.Instruction
	orig    int32
	mod     *syntax.Module
}

// compile lowers an entry. The error names the instruction that is unknown.
func compile(e *syntax.Entry) (*program, error) {
	p := &program{entry: e, fn: e.Function}
	l := &lowerer{p: p, consts: map[constant]int32{}, params: map[paramKey]int32{}, frames: map[*syntax.Variable]int64{}, offsets: map[*syntax.Variable]int64{}, carry: -1, mod: e.Module,
		copies: hasCopies(e.Function)}
	p.flights = hasFlights(e.Function)
	rows := allRows()
	l.rows, l.known = make(map[string]Row, len(rows)), map[string][]form{}
	for _, r := range rows {
		l.rows[r.Opcode] = r
	}
	if err := l.layoutVariables(); err != nil {
		return nil, err
	}
	if err := l.function(e.Function, nil, nil, nil, nil); err != nil {
		return nil, err
	}
	if err := p.buildBlocks(); err != nil {
		return nil, err
	}
	p.findInputs()
	return p, nil
}

func (l *lowerer) fail(format string, args ...any) error {
	return &unsupported{accessOf(l.mod, l.in), fmt.Sprintf(format, args...)}
}

// function lowers one copy of a function; ret jumps to its end.
func (l *lowerer) function(f *syntax.Function, args, rets []syntax.Operand, caller *environment, call *syntax.Instruction) error {
	env := &environment{fn: f, regs: map[int32]int32{}, vars: map[*syntax.Variable]*syntax.Variable{}, parent: caller}
	if caller != nil {
		env.depth = caller.depth + 1
		for e := caller; e != nil; e = e.parent {
			if e.fn == f {
				return l.fail("recursion is not supported")
			}
		}
		if env.depth > maxCallDepth {
			return l.fail("calls are nested too deep")
		}
		if len(args) != len(f.Params) || len(rets) != len(f.Results) {
			return l.fail("the call does not fit %s", syntax.Clip(f.Name))
		}
		for i, v := range f.Params {
			env.vars[v] = caller.resolve(args[i].Variable)
		}
		for i, v := range f.Results {
			env.vars[v] = caller.resolve(rets[i].Variable)
		}
	}
	outer := l.env
	l.env = env
	defer func() { l.env = outer }()
	for i := range f.Body {
		env.start = append(env.start, int32(len(l.p.codes)))
		if err := l.instruction(&f.Body[i]); err != nil {
			return err
		}
	}
	env.start = append(env.start, int32(len(l.p.codes)))
	if caller == nil {
		l.in = &syntax.Instruction{Name: "(end)", At: f.At, Guard: -1}
		l.emit(&code{term: termExit, effect: true})
	} else {
		l.in = call
		l.emit(&code{run: runNothing, isNothing: true, effect: true}) // where ret goes
	}
	l.patch(env)
	return nil
}

// patch turns the instruction indices of an environment's branches into code indices.
func (l *lowerer) patch(env *environment) {
	for _, c := range l.p.codes[env.start[0]:] {
		if c.env != env {
			continue
		}
		for i, t := range c.to {
			if t >= 0 && int(t) < len(env.start) {
				c.to[i] = env.start[t]
			}
		}
		c.env = nil
	}
}

func (e *environment) resolve(v *syntax.Variable) *syntax.Variable {
	if e != nil && v != nil {
		if w := e.vars[v]; w != nil {
			return w
		}
	}
	return v
}

func (l *lowerer) instruction(in *syntax.Instruction) error {
	if in.Name == ".branchtargets" {
		return nil
	}
	l.in, l.orig = in, int32(len(l.p.instrs))
	l.p.instrs = append(l.p.instrs, in)
	row, ok := l.rows[in.Words[0]]
	if !ok {
		return l.fail("unknown instruction")
	}
	if n := fewest(in.Words[0]); len(in.Operands) < n {
		return l.fail("%d operands expected, found %d", n, len(in.Operands))
	} else if n > 1 && len(in.Words) < 2 {
		return l.fail("a type is missing")
	}
	if err := l.checkForm(in); err != nil {
		return err
	}
	if err := row.lower(l, in); err != nil {
		var u *unsupported
		if errors.As(err, &u) {
			return err
		}
		return l.fail("%v", err)
	}
	if len(l.p.codes) > maxCodes {
		return l.fail("the program is too long")
	}
	return nil
}

// fewest is the least number of operands of an instruction.
func fewest(opcode string) int {
	switch opcode {
	case "ret", "exit", "trap", "brkpt", "pmevent", "setmaxnreg", "griddepcontrol", "membar", "fence", "nanosleep", "discard",
		"cp", "wgmma", "tcgen05", "bar", "barrier", "prefetch", "prefetchu", "applypriority", "alloca":
		return 0
	case "bra", "call", "activemask", "createpolicy", "mbarrier":
		return 1
	}
	return 2
}

func (l *lowerer) emit(c *code) *code {
	c.in, c.orig, c.index = l.in, l.orig, int32(len(l.p.codes))
	for i, s := range c.src {
		if i < 4 {
			c.srcMask[i] = widthMask(l.p.slots[s].bits)
		}
	}
	if c.guard == 0 && !c.hasGuard() {
		c.guard = -1
	}
	if c.run == nil && c.term == termNone {
		c.run = runNothing
	}
	l.p.codes = append(l.p.codes, c)
	return c
}

func (c *code) hasGuard() bool { return c.flags&flagGuard != 0 }

const flagGuard = 1 << 7

// guarded gives a code the guard of the instruction.
func (l *lowerer) guarded(c *code) *code {
	if l.in.Guard >= 0 {
		c.guard, c.not = l.slotOf(l.in.Guard), l.in.Negated
		c.flags |= flagGuard
	}
	return l.emit(c)
}

// pure emits an instruction without side effects, guard included.
func (l *lowerer) pure(dst int32, bits uint8, fn scalar, alg algebra, src ...int32) *code {
	return l.guarded(&code{run: runPure, fn: fn, alg: alg, bits: bits, dst: dst, src: src})
}

func runNothing(*threadGroup, *code) {}

package ptx

import (
	"slices"

	"aliascheck/rules/ptx/syntax"
)

// Row is one instruction that the machine knows. What has no row makes a
// launch "not analysed".
type Row struct {
	Opcode  string // the first word of the instruction, such as "ld"
	Section string // of the PTX ISA, "Instruction Set"

	lower func(l *lowerer, in *syntax.Instruction) error
}

// Rows lists every instruction that the machine knows, by opcode.
func Rows() []Row {
	rows := allRows()
	slices.SortFunc(rows, func(a, b Row) int {
		if a.Opcode < b.Opcode {
			return -1
		}
		return 1
	})
	return rows
}

// allRows is Rows in any order: each launch asks for them.
func allRows() []Row {
	return slices.Concat(integerRows(), floatRows(), logicRows(), moveRows(), memoryRows(), atomicRows(),
		controlRows(), warpRows(), barrierRows(), asyncRows(), tensorRows(), matrixRows(), tcgen05Rows())
}

// modifiers are the words between opcode and types.
type modifiers struct {
	typ   string // the last word
	from  string // the word before, of conversions
	words []string
}

func (m *modifiers) has(word string) bool { return slices.Contains(m.words, word) }

// mods splits an instruction's words; all between the opcode and the last must be allowed.
func (l *lowerer) mods(in *syntax.Instruction, allowed ...string) (modifiers, error) {
	n := len(in.Words)
	if n < 2 {
		return modifiers{}, l.fail("a type is missing")
	}
	m := modifiers{typ: in.Words[n-1], words: in.Words[1 : n-1]}
	for _, w := range m.words {
		if !slices.Contains(allowed, w) {
			return m, l.fail("unknown modifier .%s", syntax.Clip(w))
		}
	}
	return m, nil
}

// sources gives the slots of operands, each of a type; the count must fit.
func (l *lowerer) sources(ops []syntax.Operand, types ...string) ([]int32, error) {
	if len(ops) != len(types) {
		return nil, l.fail("%d sources expected, found %d", len(types), len(ops))
	}
	var out []int32
	for i, op := range ops {
		s, err := l.source(op, types[i])
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// typed lowers "op d, a, b...": a source of each type, a result of so many bits.
func (l *lowerer) typed(ops []syntax.Operand, bits uint8, fn scalar, alg algebra, types ...string) (*code, error) {
	src, err := l.sources(ops[1:], types...)
	if err != nil {
		return nil, err
	}
	d, err := l.dest(ops[0], bits)
	if err != nil {
		return nil, err
	}
	return l.pure(d, bits, fn, alg, src...), nil
}

// simple is typed for n sources and a result of the instruction's type.
func (l *lowerer) simple(in *syntax.Instruction, typ string, n int, fn scalar, alg algebra) (*code, error) {
	c, err := l.typed(in.Operands, uint8(syntax.TypeBits(typ)), fn, alg, slices.Repeat([]string{typ}, n)...)
	if err == nil {
		c.signed = isSigned(typ)
	}
	return c, err
}

func isSigned(typ string) bool { return typ[0] == 's' }

func isFloat(typ string) bool {
	switch typ {
	case "f16", "bf16", "f16x2", "bf16x2", "f32", "f64", "tf32", "f32x2":
		return true
	}
	return false
}

func isInteger(typ string) bool {
	if len(typ) < 2 {
		return false
	}
	switch typ[0] {
	case 'u', 's', 'b':
		return typ[1] != 'f' && typ != "u16x2" && typ != "s16x2"
	}
	return false
}

func roundingOf(m modifiers) rounding {
	switch {
	case m.has("rz") || m.has("rzi"):
		return roundZero
	case m.has("rm") || m.has("rmi"):
		return roundDown
	case m.has("rp") || m.has("rpi"):
		return roundUp
	case m.has("rna"):
		return roundAway
	}
	return roundNearest
}

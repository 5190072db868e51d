package ptx

import (
	"slices"
	"strings"

	"aliascheck/rules/ptx/syntax"
)

// A form is what may stand between an instruction's opcode and its operands:
// words in this order, each one of several, a lone minus where there may be none.
type form [][]string

// forms gives the forms of an opcode; nil where its row reads the words itself.
func (l *lowerer) forms(opcode string) []form {
	if f, ok := l.known[opcode]; ok {
		return f
	}
	var out []form
	for _, list := range [][]string{integerForms(opcode), floatForms(opcode), logicForms(opcode), warpForms(opcode)} {
		for _, text := range list {
			out = append(out, parseForm(text))
		}
	}
	l.known[opcode] = out
	return out
}

func parseForm(text string) form {
	var f form
	for _, word := range strings.Fields(text) {
		f = append(f, strings.Split(word, "|"))
	}
	return f
}

// fits says whether words are of this form.
func (f form) fits(words []string) bool {
	for _, slot := range f {
		switch {
		case len(words) > 0 && slices.Contains(slot, words[0]):
			words = words[1:]
		case !slices.Contains(slot, "-"):
			return false
		}
	}
	return len(words) == 0
}

// checkForm refuses words that an instruction of the opcode does not take.
func (l *lowerer) checkForm(in *syntax.Instruction) error {
	forms := l.forms(in.Words[0])
	if forms == nil {
		return nil
	}
	if slices.ContainsFunc(forms, func(f form) bool { return f.fits(in.Words[1:]) }) {
		return nil
	}
	known := map[string]bool{}
	for _, f := range forms {
		for _, slot := range f {
			for _, w := range slot {
				known[w] = true
			}
		}
	}
	for _, w := range in.Words[1:] {
		if !known[w] {
			return l.fail("unknown modifier .%s", syntax.Clip(w))
		}
	}
	return l.fail("unknown form")
}

// integerForms: PTX ISA 9.7.1 and 9.7.2.
func integerForms(opcode string) []string {
	const all = "u16|s16|u32|s32|u64|s64"
	switch opcode {
	case "add", "sub":
		return []string{"u16|s16|u32|u64|s64|u16x2|s16x2", "sat|- s32", "cc u32|s32|u64|s64"}
	case "addc", "subc":
		return []string{"cc|- u32|s32|u64|s64"}
	case "mul":
		return []string{"lo|hi|wide u16|s16|u32|s32", "lo|hi u64|s64"}
	case "mad":
		return []string{"lo|hi|wide u16|s16|u32|s32", "lo|hi u64|s64", "hi sat s32", "lo|hi cc u32|s32|u64|s64"}
	case "madc":
		return []string{"lo|hi cc|- u32|s32|u64|s64"}
	case "mul24":
		return []string{"lo|hi u32|s32"}
	case "mad24":
		return []string{"lo|hi u32|s32", "hi sat s32"}
	case "sad", "div", "rem":
		return []string{all}
	case "abs", "neg":
		return []string{"s16|s32|s64"}
	case "min", "max":
		return []string{"u16|s16|u32|u64|s64|u16x2", "relu|- s32|s16x2"}
	case "popc", "clz", "brev", "bfi":
		return []string{"b32|b64"}
	case "bfind":
		return []string{"shiftamt|- u32|s32|u64|s64"}
	case "fns":
		return []string{"b32"}
	case "bfe":
		return []string{"u32|s32|u64|s64"}
	case "szext":
		return []string{"wrap|clamp u32|s32"}
	case "bmsk":
		return []string{"wrap|clamp b32"}
	case "dp4a":
		return []string{"u32|s32 u32|s32"}
	case "dp2a":
		return []string{"lo|hi u32|s32 u32|s32"}
	}
	return nil
}

// floatForms: PTX ISA 9.7.3 and 9.7.4.
func floatForms(opcode string) []string {
	const rounding = "rn|rz|rm|rp"
	switch opcode {
	case "add", "sub", "mul":
		return []string{rounding + "|- ftz|- sat|- f32", rounding + "|- f64", "rn|- ftz|- sat|- f16|f16x2", "rn|- bf16|bf16x2", rounding + "|- ftz|- f32x2"}
	case "mad":
		return []string{rounding + "|- ftz|- sat|- f32", rounding + " f64"}
	case "fma":
		return []string{rounding + " ftz|- sat|- f32", rounding + " f64", "rn ftz|- sat|relu|- f16|f16x2", "rn relu|- bf16|bf16x2", rounding + " ftz|- f32x2"}
	case "div":
		return []string{"approx|full|" + rounding + " ftz|- f32", rounding + " f64"}
	case "abs", "neg":
		return []string{"ftz|- f32|f16|f16x2", "f64|bf16|bf16x2"}
	case "min", "max":
		return []string{"ftz|- NaN|- xorsign|- abs|- f32|f16|f16x2", "NaN|- xorsign|- abs|- bf16|bf16x2", "f64"}
	case "rcp":
		return []string{"approx|" + rounding + " ftz|- f32", rounding + " f64", "approx ftz f64"}
	case "sqrt":
		return []string{"approx|" + rounding + " ftz|- f32", rounding + " f64"}
	case "rsqrt":
		return []string{"approx ftz|- f32|f64"}
	case "sin", "cos", "lg2":
		return []string{"approx ftz|- f32"}
	case "ex2":
		return []string{"approx ftz|- f32", "approx f16|f16x2", "approx ftz bf16|bf16x2"}
	case "tanh":
		return []string{"approx f32|f16|f16x2|bf16|bf16x2"}
	case "testp":
		return []string{"finite|infinite|number|notanumber|normal|subnormal f32|f64"}
	case "copysign":
		return []string{"f32|f64"}
	}
	return nil
}

// logicForms: PTX ISA 9.7.6 and 9.7.8, and prmt.
func logicForms(opcode string) []string {
	const (
		scalar   = "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"
		boolean  = " and|or|xor|- "
		unsigned = "eq|ne|lt|le|gt|ge|lo|ls|hi|hs" + boolean
		signed   = "eq|ne|lt|le|gt|ge" + boolean
		floating = "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan" + boolean
	)
	switch opcode {
	case "and", "or", "xor", "not":
		return []string{"pred|b16|b32|b64"}
	case "cnot", "shl":
		return []string{"b16|b32|b64"}
	case "shr":
		return []string{"b16|b32|b64|u16|u32|u64|s16|s32|s64"}
	case "lop3":
		return []string{"b32"}
	case "shf":
		return []string{"l|r wrap|clamp b32"}
	case "setp":
		return []string{"eq|ne" + boolean + "b16|b32|b64", unsigned + "u16|u32|u64", signed + "s16|s32|s64", floating + "ftz|- f32|f16|f16x2", floating + "f64|bf16|bf16x2"}
	case "set":
		const to = "u32|s32|f32|f16|bf16 "
		return []string{"eq|ne" + boolean + to + "b16|b32|b64", unsigned + to + "u16|u32|u64", signed + to + "s16|s32|s64", floating + "ftz|- " + to + "f32", floating + to + "f64",
			floating + "ftz|- u16|s16|" + to + "f16", floating + "u16|s16|" + to + "bf16", floating + "ftz|- f16x2|u32|s32 f16x2", floating + "bf16x2|u32|s32 bf16x2"}
	case "selp":
		return []string{scalar}
	case "slct":
		return []string{scalar + " s32", "ftz|- " + scalar + " f32"}
	case "prmt":
		return []string{"b32 f4e|b4e|rc8|ecl|ecr|rc16|-"}
	}
	return nil
}

// warpForms: what a warp does together (PTX ISA 9.7.9 and 9.7.13).
func warpForms(opcode string) []string {
	switch opcode {
	case "shfl":
		return []string{"sync up|down|bfly|idx b32"}
	case "vote":
		return []string{"sync all|any|uni pred", "sync ballot b32"}
	case "match":
		return []string{"any|all sync b32|b64"}
	case "redux":
		return []string{"sync add|min|max u32|s32", "sync and|or|xor b32", "sync min|max f32"}
	case "activemask":
		return []string{"b32"}
	case "elect":
		return []string{"sync"}
	}
	return nil
}

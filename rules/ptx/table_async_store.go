package ptx

import (
	"slices"

	"aliascheck/rules/ptx/syntax"
)

// storeAsync lowers st.async and red.async [a], b, [mbar]: the bytes move at
// once, and each thread tells the mbarrier beside them how many came.
func (l *lowerer) storeAsync(in *syntax.Instruction, lower func(l *lowerer, in *syntax.Instruction) error) error {
	const completion = "mbarrier::complete_tx::bytes"
	if len(in.Operands) != 3 || !slices.Contains(in.Words, completion) {
		return l.fail("only the form with an mbarrier is supported")
	}
	plain := *in
	plain.Operands = in.Operands[:2]
	plain.Words = slices.DeleteFunc(slices.Clone(in.Words), func(w string) bool { return w == "async" || w == completion })
	if !slices.Contains(plain.Words, "shared::cluster") { // the only space that there is
		plain.Words = slices.Insert(plain.Words, 1, "shared::cluster")
	}
	first := len(l.p.codes)
	if err := lower(l, &plain); err != nil {
		return err
	}
	size := int64(0)
	for _, c := range l.p.codes[first:] {
		if c.mem != nil {
			size = c.mem.size
		}
	}
	bar, off, err := l.addressOf(in.Operands[2], spaceShared)
	if err != nil {
		return err
	}
	c := &code{run: runMbarrier, effect: true, imm: uint64(mbComplete), mem: &memOp{space: spaceShared, off: off, what: "mbarrier"}}
	c.src = []int32{bar, l.number(uint64(size), 32)}
	c.needs = c.src
	l.p.hasBars = true
	l.guarded(c)
	return nil
}

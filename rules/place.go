package rules

import (
	"strings"

	"aliascheck/hlo"
)

// Place returns the file and function of the Python code that made an instruction,
// as fingerprints have them: they survive recompilation and another checkout. Both
// are empty where the dump names none.
func (a *Auditor) Place(m *hlo.Module, instr int32) (file, function string) {
	s := a.locate.source(m, instr)
	if s == nil {
		return "", ""
	}
	return strings.Clone(stablePath(s.File, a.opts.SrcRoot)), s.Function
}

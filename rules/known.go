package rules

import (
	"slices"
	"strings"

	"aliascheck/alias"
)

// KnownKernel is an entry of the table of known kernels: pairs for which a kernel
// of this name is not safe in place. Operands and results are counted as leaves.
type KnownKernel struct {
	Name   string // matched with and without a leading underscore and a trailing _kernel
	Unsafe []KnownPair
	Reason string
}

// KnownPair is an operand leaf's and a result leaf's number.
type KnownPair struct {
	Operand, Result int
}

// knownKernels is the built-in table with the configuration's entries.
type knownKernels struct {
	entries []KnownKernel // under their bare names
	own     int           // how many are built in: they stand first
}

func newKnownKernels(extra []KnownKernel) *knownKernels {
	entries := append([]KnownKernel{{
		Name:   "sort_chunks_by_map",
		Unsafe: []KnownPair{{0, 0}, {2, 1}},
		Reason: "it permutes rows: blocks read rows that other blocks write (Transformer Engine #2730)",
	}}, extra...)
	for i := range entries {
		entries[i].Name = bareName(entries[i].Name)
	}
	return &knownKernels{entries: entries, own: 1}
}

// pair returns the table's verdict on a pair; ok is false where it has none.
func (k *knownKernels) pair(c *alias.Call, kernel string, operand, result int) (PairVerdict, bool) {
	if k == nil || kernel == "" || c.Operands[operand].Bytes == 0 || c.Results[result].Bytes == 0 {
		return PairVerdict{}, false
	}
	name := bareName(kernel)
	for i := range k.entries {
		e := &k.entries[i]
		if e.Name != name {
			continue
		}
		for _, p := range e.Unsafe {
			if p.Operand == operand && p.Result == result {
				return PairVerdict{Verdict: Unsafe, Basis: Table, Reason: e.Reason}, true
			}
		}
	}
	return PairVerdict{}, false
}

// lists reports whether the table speaks of a kernel of this name.
func (k *knownKernels) lists(kernel string) bool {
	name := bareName(kernel)
	return slices.ContainsFunc(k.entries, func(e KnownKernel) bool { return e.Name == name })
}

// declared reports whether the configuration speaks of a kernel of this name.
func (k *knownKernels) declared(kernel string) bool {
	name := bareName(kernel)
	return slices.ContainsFunc(k.entries[k.own:], func(e KnownKernel) bool { return e.Name == name })
}

func bareName(kernel string) string {
	return strings.TrimSuffix(strings.TrimLeft(kernel, "_"), "_kernel")
}

package goldens

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/sources"
)

// Call is a custom call of a dump with its kernels. It is valid while its module is.
type Call struct {
	Name string // of the instruction
	*alias.Call
	Kernels *kernel.Call
}

// Folders lists the dumps below testdata that kernels may be in: dumps/NAME and
// more/NAME.
func Folders(testdata string) ([]string, error) {
	var out []string
	for _, set := range []string{"dumps", "more"} {
		entries, err := os.ReadDir(filepath.Join(testdata, set))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() {
				out = append(out, set+"/"+e.Name())
			}
		}
	}
	return out, nil
}

// EachCall calls f for every kernel call of a dump folder, in order.
func EachCall(folder string, f func(Call) error) error {
	reader := hlo.NewReader(hlo.Limits{})
	set := kernel.NewSet(sources.All(), kernel.Options{})
	for source, err := range hlo.Find([]string{folder}, hlo.Limits{}) {
		if err != nil {
			return err
		}
		module, err := reader.Read(source)
		if err != nil {
			return err
		}
		var analyzer alias.Analyzer
		calls := analyzer.Calls(module)
		for i := range calls {
			decoder := set.For(calls[i].Target)
			if decoder == nil {
				continue
			}
			kernels, err := decoder.Decode(calls[i].Request())
			if err != nil {
				return fmt.Errorf("%s: %w", folder, err)
			}
			if kernels.Problem != "" {
				continue
			}
			name := strings.Clone(module.Instructions[calls[i].Instruction].Name)
			if err := f(Call{Name: name, Call: &calls[i], Kernels: kernels}); err != nil {
				return fmt.Errorf("%s: %s: %w", folder, name, err)
			}
		}
	}
	return nil
}

// InputsOf gives the recipes for a call's operands, the special ones among them.
func (s Special) InputsOf(c *alias.Call) []Input {
	out := make([]Input, 0, len(c.Operands))
	for n := range c.Operands {
		in := Input{Operand: n, Kind: "random", Seed: uint64(n) + 1}
		if e := c.Operands[n].Element.String(); strings.HasPrefix(e, "s") || strings.HasPrefix(e, "u") {
			in.Kind = "permutation"
		}
		if at := slices.IndexFunc(s.Inputs, func(i Input) bool { return i.Operand == n }); at >= 0 {
			in = s.Inputs[at]
		}
		out = append(out, in)
	}
	return out
}

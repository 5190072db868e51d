package diff

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"aliascheck/cmd/aliascheck/report"
	"aliascheck/rules"
)

// Found is a finding about a module's memory that is no custom call's: two values in one
// place, say, in one version of XLA and not in the other.
type Found struct {
	Code        string   `json:"code"`
	Rule        string   `json:"rule"`
	Severity    string   `json:"severity"`
	Fingerprint string   `json:"fingerprint"`
	Module      string   `json:"module"`
	Path        string   `json:"path"` // of the first module that has it
	Instruction string   `json:"instruction"`
	Values      []string `json:"values"`
	Message     string   `json:"message"`
	Modules     int      `json:"modules"` // how many have it
}

// memoryFindings are what of a module's findings is about no call. The findings are the
// auditor's until its next module, what they name is not.
func memoryFindings(list []rules.Finding) []Found {
	var out []Found
	for i := range list {
		f := &list[i]
		if len(f.Values) == 0 {
			continue
		}
		found := Found{
			Code: f.Code, Rule: f.Rule, Severity: string(f.Severity), Fingerprint: f.Fingerprint,
			Module: f.Module, Path: f.Path, Instruction: f.Instruction, Message: f.Message, Values: []string{}, Modules: 1,
		}
		for n := range f.Values {
			found.Values = append(found.Values, f.Values[n].Name)
		}
		out = append(out, found)
	}
	return out
}

// sameFinding is what two findings have in common that are the same: the fingerprint
// outlives another version, and a program keeps its name.
type sameFinding struct{ module, fingerprint string }

// addFindings takes in a module's findings; equal ones are counted.
func (d *Dump) addFindings(list []Found) {
	for _, f := range list {
		key := sameFinding{f.Module, f.Fingerprint}
		if n, ok := d.foundAt[key]; ok {
			d.found[n].Modules++
			continue
		}
		d.foundAt[key] = len(d.found)
		d.found = append(d.found, f)
	}
}

// onlyIn are the findings of a that b lacks.
func onlyIn(a, b *Dump) []Found {
	out := []Found{}
	for _, f := range a.found {
		if _, both := b.foundAt[sameFinding{f.Module, f.Fingerprint}]; !both {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(x, y Found) int {
		return cmp.Or(cmp.Compare(x.Module, y.Module), cmp.Compare(x.Code, y.Code), cmp.Compare(x.Fingerprint, y.Fingerprint))
	})
	return out
}

func writeFound(out io.Writer, title string, list []Found) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(out, report.Clean(title))
	for n := range list {
		f := &list[n]
		if n == maxOnly {
			fmt.Fprintf(out, "  … and %d more; --format json lists them\n", len(list)-n)
			break
		}
		fmt.Fprintf(out, "  %s %s in %s: %s\n", f.Code, report.Clean(f.Rule), report.Clean(f.Module), report.Clean(strings.Join(f.Values, ", ")))
		fmt.Fprintf(out, "    %s\n    %s of %s\n", report.Clean(f.Message), report.Clean(f.Instruction), report.Clean(f.Path))
	}
	fmt.Fprintln(out)
}

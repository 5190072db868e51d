// Package diff compares the custom calls of two dumps: which are in one only, and which
// changed their declared pairs, sharing, kind of memory, autotuner entries or verdict.
// Calls are matched by what survives another version of JAX and another test suite.
package diff

import (
	"fmt"
	"slices"
	"strings"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/sources"
	"aliascheck/rules"
)

// Identity says which calls of two dumps are the same call: what survives
// another JAX version, another test suite and a change of its memory.
type Identity struct {
	Module   string `json:"module"`
	Target   string `json:"target"`
	Kernel   string `json:"kernel"`
	Shapes   string `json:"shapes"`
	File     string `json:"file"`
	Function string `json:"function"`
}

// facts are what a diff compares, in lines that a reader understands. Lines have no
// numbers that change from run to run: no allocations, offsets or ids.
type facts struct {
	Declared  []string // declared pairs
	Sharing   []string // leaves that share bytes, and values that results are written over
	Memory    []string // what kind of allocation each leaf lies in
	Autotuner []string // configurations, and what is saved between trials
	Verdict   []string // verdicts on pairs, and codes found
}

// sections names the facts in the order of a report.
func (f *facts) sections() [5]factSection {
	return [...]factSection{
		{"declared", f.Declared}, {"sharing", f.Sharing}, {"memory", f.Memory}, {"autotuner", f.Autotuner}, {"verdict", f.Verdict},
	}
}

type factSection struct {
	name  string
	lines []string
}

// key is equal for equal facts.
func (f *facts) key() string {
	var b strings.Builder
	for _, s := range f.sections() {
		b.WriteString(s.name)
		for _, line := range s.lines {
			fmt.Fprintf(&b, "\x00%d:%s", len(line), line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// factReader collects the facts of a module's calls.
type factReader struct {
	alias   alias.Analyzer
	kernels *kernel.Set
}

func newFactReader() factReader {
	return factReader{kernels: kernel.NewSet(sources.All(), kernel.Options{WithoutCode: true})}
}

// facts returns what is to compare of a call; judged is the same call in the audit.
func (r *factReader) facts(c *alias.Call, judged *rules.Call, found map[string]string) facts {
	f := facts{Sharing: r.sharing(c), Autotuner: r.autotuner(c)}
	for _, d := range c.Declared {
		line := fmt.Sprintf("%v: (%d, %v)", alias.Index(d.Entry.Result), d.Entry.Operand, alias.Index(d.Entry.OperandIndex))
		if d.Problem != "" {
			line += ", " + d.Problem
		}
		f.Declared = append(f.Declared, line)
	}
	for _, leaves := range [...][]alias.Leaf{c.Operands, c.Results} {
		for i := range leaves {
			f.Memory = append(f.Memory, leafName(&leaves[i])+": "+kindOf(c.Module, &leaves[i]))
		}
	}
	for _, p := range judged.Pairs {
		if p.Basis == string(rules.NoBasis) {
			continue
		}
		f.Verdict = append(f.Verdict, fmt.Sprintf("operand %d%s and %s: %s (%s)",
			p.Operand, suffix(p.OperandIndex), resultName(p.ResultIndex), p.Verdict, p.Basis))
	}
	for _, print := range judged.Findings {
		f.Verdict = append(f.Verdict, found[print])
	}
	for _, list := range [...][]string{f.Declared, f.Sharing, f.Verdict} {
		slices.Sort(list)
	}
	return f
}

// sharing says which leaves have bytes in common, and what is overwritten.
func (r *factReader) sharing(c *alias.Call) []string {
	var out []string
	overlaps := r.alias.Overlaps(c)
	for _, o := range overlaps.OperandResult {
		out = append(out, common(&c.Operands[o.A], &c.Results[o.B]))
	}
	for _, o := range overlaps.ResultResult {
		out = append(out, common(&c.Results[o.A], &c.Results[o.B]))
	}
	overwrites, _ := r.alias.Overwrites(c)
	for _, o := range overwrites {
		value := &c.Module.Values[o.Value]
		out = append(out, fmt.Sprintf("%s is written over the value of a %s: %s",
			leafName(&c.Results[o.Result]), c.Module.Instructions[value.Instruction].Opcode, o.Why))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// common says how two leaves share bytes.
func common(a, b *alias.Leaf) string {
	if a.Slice == b.Slice {
		return fmt.Sprintf("%s and %s have the same bytes", leafName(a), leafName(b))
	}
	how := "begin together and differ in size"
	switch shift := b.Slice.Offset - a.Slice.Offset; {
	case shift > 0:
		how = fmt.Sprintf("overlap, the second begins %s behind the first", rules.Bytes(shift))
	case shift < 0:
		how = fmt.Sprintf("overlap, the second begins %s before the first", rules.Bytes(-shift))
	}
	return fmt.Sprintf("%s and %s %s", leafName(a), leafName(b), how)
}

// autotuner says what the autotuner tries and saves, of calls that have a kernel.
func (r *factReader) autotuner(c *alias.Call) []string {
	decoder := r.kernels.For(c.Target)
	if decoder == nil {
		return nil
	}
	k, err := decoder.Decode(c.Request())
	switch {
	case err != nil:
		return []string{"the kernel call cannot be read: " + err.Error()}
	case !k.Autotuned:
		return nil
	}
	out := []string{fmt.Sprintf("tries %d configurations", len(k.Configurations))}
	for _, e := range k.Saved {
		out = append(out, fmt.Sprintf("saves buffer %d if it is buffer %d, %s", e.Input, e.Output, rules.Bytes(int64(min(e.Size, 1<<62)))))
	}
	if len(k.Saved) == 0 {
		out = append(out, "saves nothing")
	}
	return out
}

// kindOf names the kind of allocation that a leaf lies in.
func kindOf(m *hlo.Module, l *alias.Leaf) string {
	if l.Allocation < 0 {
		return "none (" + l.Unresolved + ")"
	}
	a := &m.Allocations[l.Allocation]
	kind := "temporary"
	switch {
	case a.ThreadLocal:
		kind = "thread-local"
	case a.Constant:
		kind = "constant"
	case a.EntryParameter && (a.ParameterAliased || alias.IsDonated(m, a.Parameter, a.ParameterIndex)):
		kind = "donated parameter"
	case a.EntryParameter:
		kind = "parameter"
	}
	if a.MaybeLiveOut {
		kind += ", output"
	}
	return kind
}

// shapesOf is the signature of a call: its operands' and results' arrays.
func shapesOf(c *alias.Call) string {
	var b strings.Builder
	for i := range c.Operands {
		fmt.Fprintf(&b, "%s ", shapeOf(&c.Operands[i]))
	}
	b.WriteString("->")
	for i := range c.Results {
		fmt.Fprintf(&b, " %s", shapeOf(&c.Results[i]))
	}
	return b.String()
}

func shapeOf(l *alias.Leaf) string {
	dims := make([]string, 0, len(l.Dims))
	for _, d := range l.Dims {
		dims = append(dims, fmt.Sprint(d))
	}
	return fmt.Sprintf("%v[%s]", l.Element, strings.Join(dims, ","))
}

func leafName(l *alias.Leaf) string {
	index := make([]int, 0, len(l.Index))
	for _, i := range l.Index {
		index = append(index, int(i))
	}
	if l.Operand < 0 {
		return resultName(index)
	}
	return fmt.Sprintf("operand %d%s", l.Operand, suffix(index))
}

func resultName(index []int) string {
	if len(index) == 0 {
		return "the result"
	}
	return "result" + suffix(index)
}

func suffix(index []int) string {
	if len(index) == 0 {
		return ""
	}
	return " " + rules.IndexText(index)
}

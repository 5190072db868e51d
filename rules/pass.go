package rules

import (
	"fmt"
	"slices"
	"strconv"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/kernel"
	"aliascheck/rules/intern"
	"aliascheck/rules/replay"
)

// Pass is what a rule sees of one call.
type Pass struct {
	Call       *alias.Call
	Overlaps   alias.Overlaps
	Overwrites []alias.Overwrite
	Lives      *alias.Analyzer

	Kernel       *kernel.Call // nil where the dump does not hold it
	KernelName   string
	kernelSource string // who compiled it

	// Of the call, but no part of the module's memory.
	target, instruction, computation string

	configurations int              // kernels that the call may launch; 0 where that is not known
	Effects        *replay.Analysis // nil where the kernel was not run

	library    bool         // its kernels are XLA's or jaxlib's own
	unwanted   bool         // kernels are not to be run
	unknown    string       // of an analysed call: the first pair that stays unknown and counts, and why
	run        *replay.Case // what running the kernel takes; nil where it was not run
	unanalysed string       // why the kernel was not run, where that is said of the call
	names      *intern.Names
	room       *proportion
	rule       *Rule
	known      *knownKernels
	findings   []Finding
	listed     []string // fingerprints of the call's that the report has room for
	leaves     [][2]int // of each finding: the operand leaf and the result leaf, -1 for none
}

// Problem is what a rule reports: the leaves it is about, and what to say.
type Problem struct {
	Severity Severity // empty: the rule's default
	Operand  int      // into Call.Operands, -1 for none
	Result   int      // into Call.Results, -1 for none
	Message  string
	Fix      string
	Related  []Related

	Confirmation       Confirmation // empty: unchecked
	ConfirmationReason string
	Evidence           *Evidence
}

// Report adds a finding of the rule that is running.
func (p *Pass) Report(pr Problem) {
	c := p.Call
	p.findings = append(p.findings, Finding{
		Code: p.rule.Code, Rule: p.rule.Name, Severity: pr.Severity,
		Target: p.target, Kernel: p.KernelName,
		Message: sentence(pr.Message), Why: p.rule.Doc.Why, Fix: pr.Fix, Related: pr.Related,
		Confirmation: pr.Confirmation, ConfirmationReason: pr.ConfirmationReason, Evidence: pr.Evidence,
		Calls: 1,
	})
	f := &p.findings[len(p.findings)-1]
	if f.Severity == "" {
		f.Severity = p.rule.Default
	}
	if f.Confirmation == "" {
		f.Confirmation = Unchecked
		if f.ConfirmationReason == "" {
			f.ConfirmationReason = "the kernel was not run"
			if p.Effects != nil {
				f.ConfirmationReason = "read from the dump; not replayed"
			}
		}
	}
	if pr.Operand >= 0 {
		l := &c.Operands[pr.Operand]
		n := int(l.Operand)
		f.Operand, f.OperandIndex, f.OperandSlice = &n, ints(l.Index), sliceOf(l)
	}
	if pr.Result >= 0 {
		l := &c.Results[pr.Result]
		f.ResultIndex, f.ResultSlice = ints(l.Index), sliceOf(l)
	}
	p.leaves = append(p.leaves, [2]int{pr.Operand, pr.Result})
}

// reported says whether the rule that is running has reported something of the call.
func (p *Pass) reported() bool {
	return slices.ContainsFunc(p.findings, func(f Finding) bool { return f.Code == p.rule.Code })
}

// sentence begins a message with a capital letter.
func sentence(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// ints copies a shape index; never nil, so that [] is printed for the whole array.
func ints(x hlo.ShapeIndex) []int {
	out := make([]int, 0, len(x))
	for _, i := range x {
		out = append(out, int(i))
	}
	return out
}

func sliceOf(l *alias.Leaf) *hlo.Slice {
	if l.Allocation < 0 {
		return nil
	}
	s := l.Slice
	return &s
}

// Operand names an operand leaf in a message: operand 2, or operand 2 {0,1}.
func (p *Pass) Operand(n int) string {
	l := &p.Call.Operands[n]
	if len(l.Index) == 0 {
		return "operand " + strconv.Itoa(int(l.Operand))
	}
	return fmt.Sprintf("operand %d %v", l.Operand, alias.Index(l.Index))
}

// Result names a result leaf in a message: the result, or result {1}.
func (p *Pass) Result(n int) string {
	l := &p.Call.Results[n]
	if len(l.Index) == 0 {
		return "the result"
	}
	return fmt.Sprintf("result %v", alias.Index(l.Index))
}

// Pair is the verdict on two leaves: a complete run of the kernel beats the table
// of known kernels, which beats a run that was not complete.
func (p *Pass) Pair(operand, result int) PairVerdict {
	var ran PairVerdict
	if p.Effects != nil {
		if ran = p.Effects.Pair(operand, result); ran.Basis == Complete || ran.Verdict == Unsafe {
			return ran
		}
	}
	if v, ok := p.known.pair(p.Call, p.name(), operand, result); ok {
		v.Emulated = ran.Emulated
		return v
	}
	if p.Effects != nil {
		return ran
	}
	return PairVerdict{Verdict: Unknown, Basis: NoBasis, Reason: "the kernel was not run"}
}

// analysed says that every configuration of the kernel was run.
func (p *Pass) analysed() bool {
	for _, r := range p.Effects.KernelRuns() {
		if !r.Analysed {
			return false
		}
	}
	return true
}

// DefinedBy returns the name of the instruction that defines a leaf's value.
func (p *Pass) DefinedBy(l *alias.Leaf) string {
	if l.Value < 0 {
		return ""
	}
	m := p.Call.Module
	return m.Instructions[m.Values[l.Value].Instruction].Name
}

// name is what the table of known kernels goes by: the kernel, or the target of a
// call whose kernel is not in the dump.
func (p *Pass) name() string {
	if p.KernelName != "" {
		return p.KernelName
	}
	return p.Call.Target
}

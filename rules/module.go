package rules

import (
	"cmp"
	"slices"
	"strings"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/rules/intern"
)

// ModulePass is what a rule sees of a whole module: all its values, and those of them
// that are in one another's way.
type ModulePass struct {
	Module *hlo.Module
	Lives  *alias.Analyzer
	// Clashes are the conflicts, those together that have a value in common: one value
	// that was laid where it does not belong meets many.
	Clashes [][]alias.Conflict

	locate   *locator
	names    *intern.Names
	room     *proportion
	maps     bool
	rule     *Rule
	findings []Finding
	byValue  map[int32]int // the clash that a value is part of
}

// Value is one of the values that a finding is about, whoever defines it.
type Value struct {
	Role string `json:"role"` // "lost": what is read wrong; "instead": what lies there
	// Name is what the program calls it: an entry parameter's name in Python
	// (state['step']), else the instruction and the shape index (fusion.3{0}).
	Name        string    `json:"name"`
	Instruction string    `json:"instruction"`
	Index       []int     `json:"index"`
	Parameter   *int64    `json:"parameter,omitempty"` // of an entry parameter, its number
	Slice       hlo.Slice `json:"slice"`
	// From and To are the instructions that bring the value and that need it last; empty:
	// the program's start, its end.
	From   string  `json:"from"`
	To     string  `json:"to"`
	Source *Source `json:"source,omitempty"`

	stable string // what of it survives recompilation
}

// The roles of values.
const (
	RoleLost    = "lost"
	RoleInstead = "instead"
)

// ModuleProblem is what a rule reports of a module.
type ModuleProblem struct {
	Instruction int32   // that the finding is said to be at
	Lost        int32   // into Module.Values
	Written     int32   // into Module.Values, -1 for none
	Places      []int32 // instructions whose Python line may be the finding's, best first
	Message     string
	Fix         string
	Related     []Related
}

// module judges what of a module is no custom call's.
func (a *Auditor) module(out *ModuleReport, m *hlo.Module) {
	conflicts, reason := a.alias.Conflicts()
	if reason != "" {
		out.NotAudited = append(out.NotAudited, NotAudited{Check: "AC107", Calls: 1, Reason: strings.Clone(reason)})
	}
	if len(conflicts) == 0 {
		return
	}
	p := &ModulePass{Module: m, Lives: &a.alias, locate: &a.locate, names: &a.names, room: &a.room, maps: a.opts.Maps}
	p.group(conflicts)
	for n := range a.rules {
		if a.rules[n].CheckModule != nil {
			p.rule = &a.rules[n]
			a.rules[n].CheckModule(p)
		}
	}
	for i := range p.findings {
		f := &p.findings[i]
		f.Module, f.Path = out.Name, out.Path
		f.Fingerprint = fingerprint(&a.names, f, a.opts.SrcRoot)
		a.room.bound(f)
		if listed, _ := a.room.counts(f); listed {
			out.Findings = append(out.Findings, *f)
		}
	}
}

// group puts conflicts together that have a value in common, the one that says most
// about the cause first.
func (p *ModulePass) group(conflicts []alias.Conflict) {
	p.byValue = map[int32]int{}
	for _, c := range conflicts {
		at, known := p.byValue[c.Lost]
		if other, ok := p.byValue[c.Written]; c.Written >= 0 && ok && (!known || other < at) {
			at, known = other, true
		}
		if !known {
			at = len(p.Clashes)
			p.Clashes = append(p.Clashes, nil)
		}
		p.Clashes[at] = append(p.Clashes[at], c)
		p.byValue[c.Lost] = at
		if c.Written >= 0 {
			p.byValue[c.Written] = at
		}
	}
	for _, list := range p.Clashes {
		slices.SortStableFunc(list, func(x, y alias.Conflict) int { return cmp.Compare(gravity(x.Kind), gravity(y.Kind)) })
	}
}

// gravity orders the kinds of conflicts: what explains the others first.
func gravity(k alias.ConflictKind) int {
	switch k {
	case alias.TwoParameters:
		return 0
	case alias.Misplaced:
		return 1
	case alias.TwoResults:
		return 2
	case alias.NotReturned:
		return 4
	}
	return 3
}

// Report adds a finding of the rule that is running.
func (p *ModulePass) Report(pr ModuleProblem) {
	in := &p.Module.Instructions[pr.Instruction]
	f := Finding{
		Code: p.rule.Code, Rule: p.rule.Name, Severity: p.rule.Default,
		Computation: p.names.Keep(p.Module.Computations[in.Computation].Name), Instruction: strings.Clone(in.Name),
		Message: sentence(pr.Message), Why: p.rule.Doc.Why, Fix: pr.Fix, Related: pr.Related,
		Tests: []string{}, Calls: 1,
		Confirmation: Unchecked, ConfirmationReason: "read from the dump: the buffer assignment is what the program runs with",
	}
	for _, i := range pr.Places {
		if f.Source = p.locate.source(p.Module, i); f.Source != nil {
			break
		}
	}
	f.Values = append(f.Values, p.value(RoleLost, pr.Lost))
	if pr.Written >= 0 {
		f.Values = append(f.Values, p.value(RoleInstead, pr.Written))
	}
	if f.Related == nil {
		f.Related = []Related{}
	}
	if p.maps && p.room.maps > 0 {
		f.Map = p.memoryMap(pr)
		p.room.mapped(f.Map)
	}
	p.findings = append(p.findings, f)
}

// value is a value as a report has it: nothing of it is the module's memory.
func (p *ModulePass) value(role string, v int32) Value {
	value := &p.Module.Values[v]
	in := &p.Module.Instructions[value.Instruction]
	out := Value{
		Role: role, Name: p.Name(v), Instruction: strings.Clone(in.Name), Index: ints(value.Index),
		Slice: sliceOfValue(p.Module, v), Source: p.locate.source(p.Module, value.Instruction),
		stable: in.Opcode + " " + p.Module.OpName(value.Instruction) + alias.Index(value.Index).String(),
	}
	if p.isParameter(v) {
		n := int64(in.Parameter)
		out.Parameter = &n
	}
	from, to := p.Lives.Life(v)
	out.From, out.To = p.instruction(from), p.instruction(to)
	return out
}

func (p *ModulePass) instruction(i int32) string {
	if i < 0 {
		return ""
	}
	return strings.Clone(p.Module.Instructions[i].Name)
}

func (p *ModulePass) isParameter(v int32) bool {
	in := &p.Module.Instructions[p.Module.Values[v].Instruction]
	return in.Opcode == "parameter" && in.Computation == p.Module.Entry
}

// Name is what the program calls a value.
func (p *ModulePass) Name(v int32) string {
	value := &p.Module.Values[v]
	name := strings.Clone(p.Module.Instructions[value.Instruction].Name)
	if p.isParameter(v) {
		if python := p.Module.OpName(value.Instruction); python != "" {
			name = strings.Clone(strings.ReplaceAll(python, `\'`, "'")) // escaped in some dumps
		}
	}
	if len(value.Index) > 0 {
		name += alias.Index(value.Index).String()
	}
	return name
}

// Place names the Python line that made an instruction, in brackets behind its name;
// the name alone where the dump knows no line.
func (p *ModulePass) Place(i int32) string {
	name := strings.Clone(p.Module.Instructions[i].Name)
	if s := p.locate.source(p.Module, i); s != nil {
		return name + " (" + s.text() + ")"
	}
	return name
}

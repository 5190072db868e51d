package report

import (
	"fmt"

	"aliascheck/hlo"
	"aliascheck/rules"
)

// htmlFinding is a finding as the page's script shows it. Every string is clean.
type htmlFinding struct {
	Message      string       `json:"message"`
	Why          string       `json:"why,omitempty"`
	Fix          string       `json:"fix,omitempty"`
	Patch        []string     `json:"patch,omitempty"` // lines with - and +
	Callers      []string     `json:"callers,omitempty"`
	Reason       string       `json:"reason,omitempty"`
	Place        string       `json:"place,omitempty"`
	Function     string       `json:"function,omitempty"`
	Stack        []htmlPlace  `json:"stack,omitempty"`
	Related      []htmlPlace  `json:"related,omitempty"`
	Module       string       `json:"module"`
	Path         string       `json:"path"`
	Computation  string       `json:"computation"`
	Instruction  string       `json:"instruction"`
	Target       string       `json:"target"`
	Kernel       string       `json:"kernel,omitempty"`
	Operand      string       `json:"operand,omitempty"`
	Result       string       `json:"result,omitempty"`
	OperandSlice *htmlSlice   `json:"operand_slice,omitempty"`
	ResultSlice  *htmlSlice   `json:"result_slice,omitempty"`
	Tests        []string     `json:"tests,omitempty"`
	GPUs         string       `json:"gpus,omitempty"`
	MoreTests    int          `json:"more_tests,omitempty"`
	Silence      string       `json:"silence"`
	Again        string       `json:"again,omitempty"` // repeats the replay
	Witness      *htmlWitness `json:"witness,omitempty"`
	Runs         []htmlRun    `json:"runs,omitempty"`
	Wrong        []htmlWrong  `json:"wrong,omitempty"`
	ReplayNote   string       `json:"replay_note,omitempty"`
	Map          *htmlMap     `json:"map,omitempty"`
}

type htmlSlice struct {
	Allocation int64 `json:"allocation"`
	Offset     int64 `json:"offset"`
	Size       int64 `json:"size"`
}

type htmlPlace struct {
	Role     string `json:"role,omitempty"`
	Place    string `json:"place,omitempty"`
	Function string `json:"function,omitempty"`
	Text     string `json:"text,omitempty"`
}

type htmlWitness struct {
	Byte   int64      `json:"byte"`
	Reader htmlAccess `json:"reader"`
	Writer htmlAccess `json:"writer"`
}

type htmlAccess struct {
	Block   [3]int64 `json:"block"`
	Thread  [3]int64 `json:"thread"`
	PTXLine int      `json:"ptx_line"`
	Place   string   `json:"place,omitempty"`
}

// What the page shows of one finding; the JSON report has the rest.
const (
	htmlStack = 64
	htmlTests = 100
)

func findingView(f *rules.Finding, o Options, budget *int) htmlFinding {
	v := htmlFinding{
		Message: Clean(f.Message), Why: Clean(f.Why), Fix: Clean(f.Fix), Reason: Clean(f.ConfirmationReason),
		Place: placeOf(f.Source, o.SrcRoot), Module: Clean(f.Module), Path: Clean(f.Path),
		Computation: Clean(f.Computation), Instruction: Clean(f.Instruction), Target: Clean(f.Target), Kernel: Clean(f.Kernel),
		OperandSlice: sliceView(f.OperandSlice), ResultSlice: sliceView(f.ResultSlice),
		Tests: cleanAll(f.Tests, htmlTests), MoreTests: max(len(f.Tests)-htmlTests, 0), Silence: Clean(silence(f)),
		GPUs: compiledFor(f),
		Map:  mapView(f.Map, budget),
	}
	v.Patch = patchLines(f.Patch)
	v.Callers = otherPlaces(f, o.SrcRoot)
	if o.Replay != nil && len(f.Values) == 0 {
		v.Again = Clean(o.Replay(f))
	}
	if f.Operand != nil {
		v.Operand = operandName(f)
	}
	if f.ResultIndex != nil || f.ResultSlice != nil {
		v.Result = resultName(f)
	}
	if f.Source != nil {
		v.Function = Clean(f.Source.Function)
		for _, frame := range f.Source.Stack[:min(len(f.Source.Stack), htmlStack)] {
			v.Stack = append(v.Stack, htmlPlace{
				Place: Clean(fmt.Sprintf("%s:%d", relative(frame.File, o.SrcRoot), frame.Line)), Function: Clean(frame.Function)})
		}
	}
	for _, r := range asRelated(f.Values) {
		v.Related = append(v.Related, relatedView(rules.Related{Role: r.Role, File: r.File, Line: r.Line, Text: r.Text}, o.SrcRoot))
	}
	for _, r := range f.Related[:min(len(f.Related), htmlStack)] {
		v.Related = append(v.Related, relatedView(r, o.SrcRoot))
	}
	if f.Evidence != nil {
		evidenceView(&v, f.Evidence, o.SrcRoot)
	}
	return v
}

func sliceView(s *hlo.Slice) *htmlSlice {
	if s == nil {
		return nil
	}
	return &htmlSlice{s.Allocation, s.Offset, s.Size}
}

func relatedView(r rules.Related, root string) htmlPlace {
	out := htmlPlace{Role: Clean(r.Role), Text: Clean(r.Text)}
	if r.File != "" {
		out.Place = Clean(fmt.Sprintf("%s:%d", relative(r.File, root), r.Line))
	}
	if r.Instruction != "" && r.Instruction != r.Text {
		out.Text = Clean(r.Instruction) + " " + out.Text
	}
	if r.Slice != nil {
		out.Text += fmt.Sprintf(" (allocation %d, bytes %d to %d)", r.Slice.Allocation, r.Slice.Offset, r.Slice.Offset+r.Slice.Size)
	}
	return out
}

func accessView(a rules.Access, root string) htmlAccess {
	out := htmlAccess{Block: a.Block, Thread: a.Thread, PTXLine: a.PTXLine}
	if a.File != "" {
		out.Place = Clean(fmt.Sprintf("%s:%d", relative(a.File, root), a.Line))
	}
	return out
}

package selftest

import (
	"context"

	"aliascheck/alias"
	"aliascheck/cudarun"
	"aliascheck/hlo"
	"aliascheck/hlo/kernel"
	"aliascheck/rules/confirm"
	"aliascheck/rules/emulate"
	"aliascheck/rules/replay"
)

// machineControls runs the controls of which the PTX machine has an opinion.
func machineControls(ctx context.Context, _ []int) ([]row, error) {
	runner := confirm.New(emulate.New(emulate.Options{}))
	var rows []row
	for _, c := range cudarun.Controls() {
		ask := machineOpinion(c.Question)
		if ask == nil {
			continue
		}
		shown := row{engine: "PTX machine", name: c.Name, code: c.Code, found: c.Want == "confirmed"}
		call, kernel := controlCall(&c.Plan)
		ran := runner.Analyse(ctx, call, kernel)
		if ran.Analysis == nil || ran.Reason != "" {
			shown.said = "not analysed: " + ran.Reason
		} else {
			got := ask(ran.Analysis)
			shown.ok = got == shown.found
			shown.said = ran.Analysis.Pair(0, 0).Reason
		}
		rows = append(rows, shown)
	}
	return rows, nil
}

// machineOpinion tells from a control's analysis whether it shows what is asked; nil where
// the machine has no opinion.
func machineOpinion(q replay.Question) func(*replay.Analysis) bool {
	run := func(a *replay.Analysis) *replay.KernelRun { return &a.Runs[0] }
	switch q {
	case replay.PairShared:
		return func(a *replay.Analysis) bool { return a.Pair(0, 0).Verdict == replay.Unsafe }
	case replay.Changed:
		return func(a *replay.Analysis) bool { return run(a).Buffers[0].WrittenBy != nil }
	case replay.Unwritten:
		return func(a *replay.Analysis) bool {
			covered := int64(0)
			for _, r := range run(a).Buffers[1].Written {
				covered += r.End - r.Start
			}
			return covered < controlBytes
		}
	case replay.ReadFirst:
		return func(a *replay.Analysis) bool { return len(run(a).Buffers[1].ReadFirst) > 0 }
	case replay.Outside, replay.Faults:
		return func(a *replay.Analysis) bool { return len(run(a).Strays) > 0 }
	}
	return nil
}

// controlBytes is the size of a control's result: what its operand's reads cover.
const controlBytes = 4 * cudarun.ControlElements

// controlCall is a control as a call in a module of its own.
func controlCall(p *cudarun.Plan) (*alias.Call, *kernel.Call) {
	m := &hlo.Module{
		Name:         "selftest",
		Computations: []hlo.Computation{{Name: "main", Decoded: true, End: 2, Root: 1, Schedule: []int32{0, 1}}},
		Instructions: []hlo.Instruction{
			{Name: "x", Opcode: "parameter", EndValue: 1},
			{Name: "call", Opcode: "custom-call", Operands: []int32{0}, Position: 1, FirstValue: 1, EndValue: 2},
		},
		Values: []hlo.Value{{ID: 0, Instruction: 0, Allocation: 0}, {ID: 1, Instruction: 1, Allocation: 1}},
	}
	bytes := p.Buffers[0].Bytes
	m.Values[0].Size, m.Values[1].Size = bytes, bytes
	m.Allocations = []hlo.Allocation{{Index: 0, Size: bytes, EntryParameter: true}, {Index: 1, Size: bytes}}
	leaf := func(operand, value int32) alias.Leaf {
		return alias.Leaf{
			Operand: operand, Element: hlo.F32, Dims: []int64{bytes / 4}, Bytes: bytes, Value: value, Allocation: value,
			Slice: hlo.Slice{Allocation: int64(value), Size: bytes},
		}
	}
	call := &alias.Call{Module: m, Instruction: 1, Target: "control", Site: 1, Start: 1, End: 1,
		Operands: []alias.Leaf{leaf(0, 0)}, Results: []alias.Leaf{leaf(-1, 1)}}
	k := &p.Kernels[0]
	n := kernel.Param{Kind: kernel.Scalar, Type: "u32", Size: 4, Bits: cudarun.ControlElements}
	return call, &kernel.Call{Source: "control", Name: k.Entry, Configurations: []kernel.Configuration{{
		Entry: k.Entry, PTX: k.PTX, Capability: 70, Grid: k.Grid, Block: k.Block,
		Params: []kernel.Param{{Kind: kernel.Pointer}, {Kind: kernel.Pointer, Buffer: 1}, n},
	}}}
}

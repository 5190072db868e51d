package cudarun

import (
	"context"
	"encoding/binary"
	"math"

	"aliascheck/rules/replay"
)

// Control is a case whose verdict is known: the replay engine must give it, or
// cannot be believed about other kernels.
type Control struct {
	Name     string
	Code     string // the finding that is asked about
	Question replay.Question
	Want     string // "confirmed" or "unconfirmed"
	Plan     Plan
}

// ControlResult is what the engine said of a control.
type ControlResult struct {
	Control
	Got Verdict
	OK  bool
}

// SelfTest replays the controls: for each kind of verdict one case that must be
// found and one that must not. A hang takes the session's launch deadline.
func SelfTest(ctx context.Context, s *Session) []ControlResult {
	var results []ControlResult
	for _, c := range Controls() {
		out := s.Replay(ctx, &c.Plan)
		got := out.Verdict(c.Question, NoBuffer)
		results = append(results, ControlResult{c, got, got.Confirmation == c.Want})
	}
	return results
}

// Controls are the cases of SelfTest. Their PTX runs on compute capability 7.0
// and later.
func Controls() []Control {
	const found, not = "confirmed", "unconfirmed"
	contents := make([]byte, 0, 4*ControlElements)
	for i := range ControlElements {
		contents = binary.LittleEndian.AppendUint32(contents, math.Float32bits(float32(i+1)))
	}
	control := func(entry string, inPlace bool) Plan { return controlPlan(contents, entry, inPlace) }
	tuned := func(entries ...SaveEntry) Plan {
		p := control("scale", true)
		p.Trials = &Trials{Phase: PhaseExecute, Entries: entries}
		return p
	}
	sums := control("sum", false) // its order is free, and within a tolerance
	sums.FloatAtomics = true
	sums.Kernels[0].Zero = []Zero{{Buffer: 1, Bytes: 4 * ControlElements}}
	return []Control{
		{"a reversal in place", "AC201", replay.PairShared, found, control("reverse", true)},
		{"a product in place", "AC201", replay.PairShared, not, control("scale", true)},
		{"an operand that is cleared", "AC203", replay.Changed, found, control("clear", false)},
		{"an operand that is read", "AC203", replay.Changed, not, control("scale", false)},
		{"a result written in half", "AC204", replay.Unwritten, found, control("half", false)},
		{"a result written whole", "AC204", replay.Unwritten, not, control("scale", false)},
		{"a result that is added to", "AC205", replay.ReadFirst, found, control("add", false)},
		{"a result that is stored to", "AC205", replay.ReadFirst, not, control("scale", false)},
		{"a store past the end", "AC206", replay.Outside, found, control("past", false)},
		{"stores inside", "AC206", replay.Outside, not, control("scale", false)},
		{"a clock stored", "AC901", replay.Unstable, found, control("clock", false)},
		{"a product", "AC901", replay.Unstable, not, control("scale", false)},
		{"a load from address 0", "AC903", replay.Faults, found, control("null", false)},
		{"a product after a fault", "AC903", replay.Faults, not, control("scale", false)},
		{"a wait for ever", "AC902", replay.Hangs, found, control("wait", false)},
		{"a product after a hang", "AC902", replay.Hangs, not, control("scale", false)},
		{"sums in any order", "AC101", replay.AllShared, not, sums},
		{"trials that are not restored", "AC301", replay.Tuning, found, tuned()},
		{"trials that are restored", "AC301", replay.Tuning, not, tuned(SaveEntry{0, 1, 4 * ControlElements})},
	}
}

// ControlElements is the number of floats of each buffer of a control: more than any
// card runs at once, so that blocks come in waves.
const ControlElements = 1 << 22

// controlPlan is a kernel of controlPTX on one operand and one result.
func controlPlan(contents []byte, entry string, inPlace bool) Plan {
	p := Plan{
		Name: "control: " + entry,
		Kernels: []Kernel{{
			Entry: entry, PTX: []byte(controlPTX), Grid: [3]uint32{ControlElements / 256, 1, 1}, Block: [3]uint32{256, 1, 1},
			Params: []Param{{Kind: ParamBuffer}, {Kind: ParamBuffer, Buffer: 1}, {Kind: ParamScalar, Scalar: u32(ControlElements)}},
		}},
		Buffers: []Buffer{
			{Label: "operand 0", Role: Operand, Bytes: 4 * ControlElements, Element: "f32", Claims: NoBuffer, Contents: contents, Origin: "1, 2, 3, ..."},
			{Label: "result {}", Role: Result, Bytes: 4 * ControlElements, Element: "f32", Claims: NoBuffer},
		},
		Shared: []replay.Place{{Group: 0}, {Group: 1}},
	}
	if inPlace {
		p.Shared[1].Group = 0
		p.Buffers[1].Claims = 0
	}
	return p
}

// controlPTX holds kernels of one thread an element: x, y, and their number.
const controlPTX = `
.version 7.0
.target sm_70
.address_size 64
` + controlHead + "reverse" + controlBody + `
	sub.u32 %r5, %r3, 1;
	sub.u32 %r5, %r5, %r4;
	mul.wide.u32 %rd5, %r5, 4;
	add.u64 %rd5, %rd1, %rd5;
	ld.global.f32 %f1, [%rd5];
	st.global.f32 [%rd4], %f1;
	ret;
}
` + controlHead + "scale" + controlBody + `
	ld.global.f32 %f1, [%rd3];
	mul.f32 %f1, %f1, 0f40400000;
	st.global.f32 [%rd4], %f1;
	ret;
}
` + controlHead + "clear" + controlBody + `
	ld.global.f32 %f1, [%rd3];
	st.global.f32 [%rd4], %f1;
	mov.f32 %f2, 0f00000000;
	st.global.f32 [%rd3], %f2;
	ret;
}
` + controlHead + "half" + controlBody + `
	shr.u32 %r5, %r3, 1;
	setp.ge.u32 %p2, %r4, %r5;
	@%p2 ret;
	ld.global.f32 %f1, [%rd3];
	st.global.f32 [%rd4], %f1;
	ret;
}
` + controlHead + "add" + controlBody + `
	ld.global.f32 %f1, [%rd3];
	ld.global.f32 %f2, [%rd4];
	add.f32 %f1, %f1, %f2;
	st.global.f32 [%rd4], %f1;
	ret;
}
` + controlHead + "past" + controlBody + `
	ld.global.f32 %f1, [%rd3];
	st.global.f32 [%rd4], %f1;
	setp.ne.u32 %p2, %r4, 0;
	@%p2 ret;
	mul.wide.u32 %rd5, %r3, 4;
	add.u64 %rd5, %rd2, %rd5;
	st.global.f32 [%rd5+8], %f1;
	ret;
}
` + controlHead + "clock" + controlBody + `
	mov.u32 %r5, %clock;
	st.global.u32 [%rd4], %r5;
	ret;
}
` + controlHead + "sum" + controlBody + `
	ld.global.f32 %f1, [%rd3];
	and.b32 %r5, %r4, 1023;
	mul.wide.u32 %rd5, %r5, 4;
	add.u64 %rd5, %rd2, %rd5;
	red.global.add.f32 [%rd5], %f1;
	ret;
}
` + controlHead + "null" + controlBody + `
	mov.u64 %rd5, 0;
	ld.global.f32 %f1, [%rd5];
	st.global.f32 [%rd4], %f1;
	ret;
}
` + controlHead + "wait" + controlBody + `
AGAIN:
	ld.volatile.global.u32 %r5, [%rd3];
	setp.ne.u32 %p2, %r5, 0xFFFFFFFF;
	@%p2 bra AGAIN;
	st.global.u32 [%rd4], %r5;
	ret;
}
`

// controlHead and controlBody stand around a kernel's name: thread i = %r4 of
// n = %r3 has x[i] at %rd3 and y[i] at %rd4; x is %rd1, y is %rd2.
const (
	controlHead = `.visible .entry `
	controlBody = `(.param .u64 x, .param .u64 y, .param .u32 n)
{
	.reg .pred %p<3>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<6>;
	.reg .f32 %f<3>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	ld.param.u32 %r3, [n];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r5, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r5;
	setp.ge.u32 %p1, %r4, %r3;
	@%p1 ret;
	mul.wide.u32 %rd3, %r4, 4;
	add.u64 %rd4, %rd2, %rd3;
	add.u64 %rd3, %rd1, %rd3;`
)

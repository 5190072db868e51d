package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"aliascheck/hlo"
	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/sources"
	"aliascheck/rules"
	"aliascheck/rules/confirm"
	"aliascheck/rules/emulate"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// foreignTarget is a custom call that no source of this program reads.
const foreignTarget = "te_norm_forward_ffi"

// foreignKernels is a source of kernels that exists in this test alone: its calls name a
// file beside the module, which holds the PTX. This row is all that makes the auditor,
// the machine and the replay know it.
func foreignKernels() kernel.Source {
	return kernel.Source{
		Name:    "foreign",
		Handles: func(target string) bool { return target == foreignTarget },
		New:     func(kernel.Options) kernel.Decoder { return foreignDecoder{} },
	}
}

type foreignDecoder struct{}

func (foreignDecoder) Peek(string, []byte) ([]byte, bool) { return nil, false }

func (foreignDecoder) Decode(r *kernel.Request) (*kernel.Call, error) {
	ptx, err := r.Files.Read("foreign.ptx", 1<<20)
	if err != nil {
		return nil, err
	}
	const threads = 256
	elements := r.Results[0].Dims[0]
	return &kernel.Call{Source: "foreign", Name: "turn", Configurations: []kernel.Configuration{{
		Entry: "turn", PTX: ptx, File: "foreign.ptx", Grid: [3]uint32{uint32(elements / threads), 1, 1}, Block: [3]uint32{threads, 1, 1},
		Params: []kernel.Param{{Kind: kernel.Pointer}, {Kind: kernel.Pointer, Buffer: len(r.Operands)},
			{Kind: kernel.Scalar, Type: "u32", Size: 4, Bits: uint64(elements)}},
	}}}, nil
}

// turnPTX writes y[i] = x[n-1-i]: safe apart, wrong in place.
const turnPTX = `.version 8.0
.target sm_80
.address_size 64
.visible .entry turn(.param .u64 x, .param .u64 y, .param .u32 n)
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.u32 %r5, %r2, %r3, %r4;
	sub.u32 %r6, %r1, %r5;
	sub.u32 %r6, %r6, 1;
	mul.wide.u32 %rd3, %r6, 4;
	add.u64 %rd3, %rd1, %rd3;
	ld.global.b32 %r7, [%rd3];
	mul.wide.u32 %rd4, %r5, 4;
	add.u64 %rd4, %rd2, %rd4;
	st.global.b32 [%rd4], %r7;
	ret;
}
`

// foreignAudit audits a real dump whose one kernel call has become a foreign one, and is
// declared in place.
func foreignAudit(t *testing.T, o rules.Options) *rules.ModuleReport {
	t.Helper()
	dumps, err := filepath.Glob("../../testdata/dumps/scale_inplace/*after_optimizations.hlo.pb")
	require.NoError(t, err)
	require.Len(t, dumps, 1)
	data, err := os.ReadFile(dumps[0])
	require.NoError(t, err)
	dir := t.TempDir()
	path := filepath.Join(dir, filepath.Base(dumps[0]))
	require.NoError(t, os.WriteFile(path, data, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "foreign.ptx"), []byte(turnPTX), 0o644))
	m, err := hlo.NewReader(hlo.Limits{}).Read(hlo.Source{Path: path})
	require.NoError(t, err)
	for i := range m.Instructions {
		if custom := m.Instructions[i].Custom; custom != nil {
			custom.Target, custom.Config = foreignTarget, []byte("nobody else's words")
		}
	}
	return rules.NewAuditor(o).Module(context.Background(), m)
}

// TestForeignSource: a source of kernels that is registered in one place reaches a
// verdict and a replay.
func TestForeignSource(t *testing.T) {
	machine := confirm.New(emulate.New(emulate.Options{}))
	r := foreignAudit(t, rules.Options{Runner: machine, Sources: append(sources.All(), foreignKernels())})
	assert.Equal(t, 1, r.Analysed)
	require.Len(t, r.Findings, 1)
	f := r.Findings[0]
	assert.Equal(t, "unsafe-in-place", f.Rule)
	assert.Equal(t, "turn", f.Kernel)
	assert.Equal(t, rules.Confirmed, f.Confirmation)
	assert.Contains(t, f.ConfirmationReason, "replayed on the PTX machine")
	require.NotNil(t, f.Evidence.Emulated.Witness)
	require.Len(t, f.Evidence.Emulated.Replay, 3)
	assert.Equal(t, "unsafe", r.Calls[0].Pairs[0].Verdict)

	unknown := foreignAudit(t, rules.Options{Runner: machine})
	assert.Empty(t, unknown.Findings)
	require.Len(t, unknown.Unanalysed, 1, "without the registration its kernel is in no dump")
	assert.Equal(t, "its kernel is not in the dump", unknown.Unanalysed[0].Reason)
}

// foreignEngine is an engine that exists in this test alone.
type foreignEngine struct{ asked []replay.Question }

// Analyse implements replay.Engine: what the machine saw stays.
func (e *foreignEngine) Analyse(_ context.Context, c *replay.Case) {
	if c.Analysis == nil {
		c.Analysis = replay.NotAnalysed(c.Plan, c.Reason)
	}
}

// Replay implements replay.Engine.
func (e *foreignEngine) Replay(_ context.Context, c *replay.Case, claim *replay.Claim) *replay.Answer {
	e.asked = append(e.asked, claim.Question)
	at := c.Plan.Buffers[c.Plan.Operands+claim.Result].Place
	if claim.Question != replay.PairShared || at != c.Plan.Buffers[claim.Operand].Place {
		return &replay.Answer{Confirmation: replay.Unchecked, Reason: "not what was planned"}
	}
	return &replay.Answer{Confirmation: replay.Confirmed, Reason: "3 of 4 elements differ", Where: "on an abacus: ", GPU: []byte(`{"beads":3}`)}
}

// Conduct implements replay.Engine.
func (e *foreignEngine) Conduct(_ context.Context, _ *replay.Case, q replay.Question) *replay.Conduct {
	if q != replay.Unstable {
		return nil
	}
	return &replay.Conduct{Text: "beads fell off"}
}

// TestForeignEngine: an engine that is registered in one place is asked of what the
// rules reported, after them, and its answers and what it saw stand in the findings.
func TestForeignEngine(t *testing.T) {
	own := &foreignEngine{}
	o := rules.Options{Sources: append(sources.All(), foreignKernels())}
	o.Runner = confirm.New(emulate.New(emulate.Options{NoReplay: true}), own)
	r := foreignAudit(t, o)
	require.Len(t, r.Findings, 2)
	assert.Equal(t, "unsafe-in-place", r.Findings[0].Rule)
	assert.Equal(t, rules.Confirmed, r.Findings[0].Confirmation)
	assert.Contains(t, r.Findings[0].ConfirmationReason, "on an abacus: 3 of 4 elements differ")
	assert.JSONEq(t, `{"beads":3}`, string(r.Findings[0].Evidence.GPU))
	assert.Equal(t, "nondeterministic", r.Findings[1].Rule)
	assert.Contains(t, r.Findings[1].Message, "beads fell off")
	assert.Equal(t, []replay.Question{replay.PairShared, replay.Unstable}, own.asked)

	alone := &foreignEngine{}
	o.Runner = confirm.New(alone)
	r = foreignAudit(t, o)
	require.Len(t, r.Findings, 1, "an engine that runs nothing knows of no unsafe pair")
	assert.Equal(t, "nondeterministic", r.Findings[0].Rule)
}

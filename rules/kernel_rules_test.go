package rules

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"aliascheck/alias"
	"aliascheck/hlo"
	"aliascheck/hlo/kernel"
	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// played is a runner whose kernels do what a test says. Without a word from the
// test a kernel reads its operands, writes its unclaimed results whole, and is
// safe in place, whatever its inputs.
type played struct {
	change func(a *replay.Analysis)
}

func (f played) Analyse(_ context.Context, c *alias.Call, k *kernel.Call) *replay.Case {
	a := &replay.Analysis{Operands: len(c.Operands)}
	r := KernelRun{Kernel: k.Configurations[0].Entry, Pointers: k.Configurations[0].Buffers(), Analysed: true, Basis: Complete}
	for n := range c.Operands {
		a.Claimant = append(a.Claimant, -1)
		whole := []ptx.Range{{Start: 0, End: c.Operands[n].Slice.Size}}
		r.Buffers = append(r.Buffers, ptx.Effects{Read: whole, OldRead: true, ReadBy: &ptx.Access{}})
	}
	for n := range c.Results {
		a.Claimant = append(a.Claimant, c.Claimant(n))
		whole := []ptx.Range{{Start: 0, End: c.Results[n].Slice.Size}}
		r.Buffers = append(r.Buffers, ptx.Effects{Written: whole, WrittenBy: &ptx.Access{}})
		for o := range c.Operands {
			r.Pairs = append(r.Pairs, replay.PairRun{Operand: o, Result: n, Verdict: ptx.Verdict{Safety: ptx.Safe}})
		}
	}
	a.Runs = []KernelRun{r}
	if f.change != nil {
		f.change(a)
	}
	_, reason := a.Analysed()
	return &replay.Case{Call: c, Kernel: k, Analysis: a, Reason: reason}
}

func (f played) Confirm(context.Context, *replay.Case, *replay.Claim) {}

func (f played) Conduct(context.Context, *replay.Case, replay.Question) *replay.Conduct { return nil }

// play audits a dump of testdata with kernels that do what change says, and lists
// the findings: code, severity, operand, confirmation.
func play(t *testing.T, dump string, change func(a *replay.Analysis)) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../testdata/dumps", dump, "*after_optimizations.hlo.pb"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	m, err := hlo.NewReader(hlo.Limits{}).Read(hlo.Source{Path: files[0]})
	require.NoError(t, err)
	report := NewAuditor(Options{Runner: played{change}}).Module(context.Background(), m)
	out := []string{}
	for _, f := range report.Findings {
		operand := "-"
		if f.Operand != nil {
			operand = fmt.Sprint(*f.Operand)
		}
		out = append(out, fmt.Sprintf("%s %s %s %s", f.Code, f.Severity, operand, f.Confirmation))
	}
	slices.Sort(out)
	return out
}

func TestKernelRules(t *testing.T) {
	run := func(f func(r *KernelRun)) func(*replay.Analysis) { return func(a *replay.Analysis) { f(&a.Runs[0]) } }
	buffer := func(n int, f func(e *ptx.Effects)) func(*replay.Analysis) {
		return run(func(r *KernelRun) { f(&r.Buffers[n]) })
	}
	written := func(e *ptx.Effects) { e.Written, e.WrittenBy = []ptx.Range{{End: 64}}, &ptx.Access{PTXLine: 9} }
	readFirst := func(e *ptx.Effects) {
		e.ReadFirst, e.FirstRead, e.Reaches = []ptx.Range{{End: 64}}, &ptx.Access{}, true
	}
	for _, tt := range []struct {
		name, dump string
		change     func(a *replay.Analysis)
		want       []string
	}{
		{"nothing to say", "scale_apart", nil, nil},
		{"AC201", "scale_inplace", run(func(r *KernelRun) {
			r.Pairs[0].Verdict = ptx.Verdict{Safety: ptx.Unsafe, Witness: &ptx.Witness{}}
		}), []string{"AC201 error 0 confirmed"}},
		{"AC202", "scale_apart", run(func(r *KernelRun) {
			r.Pairs[0].Verdict = ptx.Verdict{Safety: ptx.Unsafe, Witness: &ptx.Witness{}}
		}), []string{"AC202 note 0 confirmed"}},
		{"a complete analysis beats the table", "sort_donated", nil, nil},
		{"the table beats what some inputs showed", "sort_donated", run(func(r *KernelRun) { r.Basis = Inputs }),
			[]string{"AC202 warning 0 unconfirmed"}},
		{"AC203 private room", "scale_apart", buffer(0, written), []string{"AC203 warning 0 confirmed"}},
		{"AC203 of a parameter", "sort_in_cond", buffer(1, written), []string{"AC203 error 1 confirmed"}},
		{"AC203 of what another reads", "operand_written", buffer(0, written), []string{"AC203 error 0 confirmed"}},
		{"AC203 not of a declared operand", "scale_inplace", buffer(0, written), nil},
		{"AC204", "scale_apart", buffer(1, func(e *ptx.Effects) { e.Written[0].End -= 4 }), []string{"AC204 warning - confirmed"}},
		{"AC204 with these inputs only", "scale_apart", run(func(r *KernelRun) {
			r.Buffers[1].Written[0].End -= 4
			r.Basis = Inputs
		}), []string{"AC204 note - confirmed"}},
		{"AC204 an atomic update writes", "scale_apart", buffer(1, func(e *ptx.Effects) { e.Atomic, e.Written = e.Written, nil }), nil},
		{"AC204 a claimed result holds its operand's", "scale_inplace", buffer(1, func(e *ptx.Effects) { e.Written = nil }), nil},
		{"AC204 a result without a pointer", "scale_apart", run(func(r *KernelRun) { r.Pointers = []int{0} }), []string{"AC204 error - confirmed"}},
		{"AC205", "scale_apart", buffer(1, readFirst), []string{"AC205 error - confirmed"}},
		{"AC205 another block may write first", "scale_apart", buffer(1, func(e *ptx.Effects) {
			readFirst(e)
			e.Elsewhere = e.ReadFirst
		}), []string{"AC205 note - confirmed"}},
		{"AC205 the value goes nowhere", "scale_apart", buffer(1, func(e *ptx.Effects) {
			readFirst(e)
			e.Reaches = false
		}), nil},
		{"AC205 a claimed result has contents", "scale_inplace", buffer(1, readFirst), nil},
		{"AC206", "scale_apart", run(func(r *KernelRun) { r.Strays = []ptx.Stray{{Nearest: 0, Offset: 1 << 30, Count: 1}} }),
			[]string{"AC206 error 0 confirmed"}},
		{"AC206 not with inputs that we made", "scale_apart", run(func(r *KernelRun) {
			r.Strays, r.Made = []ptx.Stray{{Nearest: 0}}, true
		}), nil},
		{"AC210", "sort_claimed_v2_auto", buffer(3, func(e *ptx.Effects) { *e = ptx.Effects{} }), []string{"AC210 note 3 confirmed"}},
		{"AC210 not where it is in no pair", "scale_apart", buffer(0, func(e *ptx.Effects) { *e = ptx.Effects{} }), nil},
		{"AC302", "sort_donated_ffi_auto", nil, []string{"AC302 error - unchecked"}},
		{"AC302 not of a result that no configuration writes", "sort_donated_ffi_auto", buffer(2, func(e *ptx.Effects) { *e = ptx.Effects{} }),
			[]string{"AC204 warning - confirmed"}},
		{"AC303", "sort_computed_map_ffi_auto", run(func(r *KernelRun) {
			r.Unready = &UnreadyRun{Operands: []int{1}, Stray: &ptx.Stray{}}
		}), []string{"AC303 error 1 confirmed"}},
		{"AC303 behind a guard", "sort_computed_map_ffi_auto", run(func(r *KernelRun) { r.Unready = &UnreadyRun{Operands: []int{1}} }),
			[]string{"AC303 warning 1 unconfirmed"}},
		{"AC303 not known", "sort_computed_map_ffi_auto", run(func(r *KernelRun) {
			r.Unready = &UnreadyRun{Operands: []int{1}, Reason: "it took too long"}
		}), []string{"AC303 error 1 unconfirmed"}},
		{"AC303 though not analysed", "sort_computed_map_ffi_auto", run(func(r *KernelRun) {
			*r = KernelRun{Reason: "no contents fit", Unready: &UnreadyRun{Operands: []int{1}, Stray: &ptx.Stray{}}}
		}), []string{"AC303 error 1 confirmed"}},
		{"AC401", "tma_copy", run(func(r *KernelRun) {
			r.Descriptors = []ptx.Descriptor{{Buffer: 0, GlobalAddress: 4096, Rank: 2, ElemType: 6, GlobalDim: [5]uint64{64, 64}, GlobalStride: [4]uint64{136},
				BoxDim: [5]uint32{64, 64}, ElementStride: [5]uint32{1, 1}}}
		}), []string{"AC401 error 0 unconfirmed"}},
		{"AC401 of a good one", "tma_copy", run(func(r *KernelRun) {
			r.Descriptors = []ptx.Descriptor{{Buffer: 0, GlobalAddress: 4096, Rank: 2, ElemType: 6, GlobalDim: [5]uint64{64, 64}, GlobalStride: [4]uint64{128},
				BoxDim: [5]uint32{64, 64}, ElementStride: [5]uint32{1, 1}}}
		}), nil},
		{"AC402", "scale_apart", run(func(r *KernelRun) { r.LateCopies = []ptx.LateCopy{{Count: 4, Write: true}} }),
			[]string{"AC402 error - confirmed"}},
		{"AC902", "scale_apart", run(func(r *KernelRun) { r.Hang = &ptx.Hang{Reason: "a barrier", Waiting: 3} }),
			[]string{"AC902 error - confirmed"}},
		{"AC902 hides what was not written", "scale_apart", run(func(r *KernelRun) {
			r.Hang, r.Buffers[1].Written = &ptx.Hang{}, nil
		}), []string{"AC902 error - confirmed"}},
		{"AC301 of what is not read", "scale_inplace_auto_untold", run(func(r *KernelRun) { r.Buffers[0].OldRead = false }),
			[]string{"AC301 note 0 unchecked"}},
		{"not analysed", "scale_inplace", run(func(r *KernelRun) { *r = KernelRun{Reason: "an unknown instruction"} }), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == nil {
				tt.want = []string{}
			}
			assert.Equal(t, tt.want, play(t, tt.dump, tt.change))
		})
	}
}

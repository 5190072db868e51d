package replay

import (
	"testing"

	"aliascheck/rules/ptx"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func runOf(basis Basis, v ptx.Verdict) KernelRun {
	return KernelRun{Kernel: "k", Description: "d", Pointers: []int{0, 1}, Analysed: true, Basis: basis,
		Buffers: make([]ptx.Effects, 2), Pairs: []PairRun{{Verdict: v}}}
}

// TestPairJoinsConfigurations holds the verdict on an autotuned call to its definition:
// unsafe if any is, complete only if all are, not analysed if any is not.
func TestPairJoinsConfigurations(t *testing.T) {
	safe, unsafe := ptx.Verdict{Safety: ptx.Safe}, ptx.Verdict{Safety: ptx.Unsafe, Reason: "it turns rows round", Witness: &ptx.Witness{Byte: 4, Reader: ptx.Access{File: "/src/k.py", Line: 7}, Writer: ptx.Access{PTXLine: 90}}}
	unknown := ptx.Verdict{Reason: "it spins"}
	failed := KernelRun{Kernel: "k", Reason: "no PTX"}
	hung := runOf(Complete, safe)
	hung.Hang, hung.Pairs = &ptx.Hang{}, nil
	for _, tt := range []struct {
		name     string
		runs     []KernelRun
		verdict  Verdict
		basis    Basis
		analysed bool
		reason   string
		witness  bool
	}{
		{"safe", []KernelRun{runOf(Complete, safe)}, Safe, Complete, true, "every read", false},
		{"unsafe", []KernelRun{runOf(Complete, unsafe)}, Unsafe, Complete, true, "rows round (read at k.py:7, written at line 90 of the PTX)", true},
		{"unsafe if any", []KernelRun{runOf(Complete, safe), runOf(Complete, unsafe)}, Unsafe, Complete, true, `configuration "d"`, true},
		{"unsafe beats unknown", []KernelRun{runOf(Complete, unknown), runOf(Complete, unsafe)}, Unsafe, Complete, true, "rows round", true},
		{"unknown beats safe", []KernelRun{runOf(Complete, safe), runOf(Complete, unknown)}, Unknown, Complete, true, "spins", false},
		{"complete only if all", []KernelRun{runOf(Complete, safe), runOf(Inputs, safe)}, Safe, Inputs, true, "every read", false},
		{"sampled is weakest", []KernelRun{runOf(Sampled, safe), runOf(Inputs, safe)}, Safe, Sampled, true, "every read", false},
		{"not analysed if any", []KernelRun{runOf(Complete, safe), failed}, Unknown, NoBasis, false, "no PTX", false},
		{"unsafe beside not analysed", []KernelRun{failed, runOf(Inputs, unsafe)}, Unsafe, Inputs, false, "rows round", true},
		{"not complete beside not analysed", []KernelRun{failed, runOf(Complete, unsafe)}, Unsafe, Sampled, false, "rows round", true},
		{"hang", []KernelRun{hung}, Unknown, Complete, true, "does not end", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &Analysis{Operands: 1, Claimant: []int{-1, -1}, Runs: tt.runs}
			v := a.Pair(0, 0)
			assert.Equal(t, tt.verdict, v.Verdict)
			assert.Equal(t, tt.basis, v.Basis)
			assert.Contains(t, v.Reason, tt.reason)
			analysed, _ := a.Analysed()
			assert.Equal(t, tt.analysed, analysed)
			require.NotNil(t, v.Emulated)
			assert.Equal(t, tt.witness, v.Emulated.Witness != nil)
			assert.Equal(t, tt.basis == Complete, v.Emulated.Complete)
		})
	}
}

func TestReadsOld(t *testing.T) {
	run := func(basis Basis, operand, result bool) KernelRun {
		r := runOf(basis, ptx.Verdict{})
		r.Buffers[0].OldRead, r.Buffers[1].OldRead = operand, result
		return r
	}
	for _, tt := range []struct {
		name         string
		runs         []KernelRun
		claimant     int
		reads, known bool
	}{
		{"through the operand", []KernelRun{run(Complete, true, false)}, -1, true, true},
		{"through the result that it claims", []KernelRun{run(Complete, false, true)}, 0, true, true},
		{"another's result", []KernelRun{run(Complete, false, true)}, -1, false, true},
		{"in one configuration", []KernelRun{run(Complete, false, false), run(Inputs, true, false)}, 0, true, true},
		{"not with these inputs", []KernelRun{run(Inputs, false, false)}, 0, false, false},
		{"not analysed", []KernelRun{{Reason: "no PTX"}}, 0, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &Analysis{Operands: 1, Claimant: []int{-1, tt.claimant}, Runs: tt.runs}
			reads, known := a.ReadsOld(0)
			assert.Equal(t, tt.reads, reads)
			assert.Equal(t, tt.known, known)
		})
	}
}

func TestRanges(t *testing.T) {
	r := func(v ...int64) (out []ptx.Range) {
		for i := 0; i < len(v); i += 2 {
			out = append(out, ptx.Range{Start: v[i], End: v[i+1]})
		}
		return out
	}
	assert.Equal(t, r(0, 10), Joined(r(0, 4, 8, 10), r(4, 8)))
	assert.Equal(t, r(0, 4, 6, 12), Joined(r(0, 4, 8, 10), r(6, 12)))
	assert.Equal(t, int64(-1), Gap(r(0, 10), 10))
	assert.Equal(t, int64(10), Gap(r(0, 10), 11))
	assert.Equal(t, int64(0), Gap(nil, 1))
	assert.Equal(t, int64(4), Gap(r(0, 4, 5, 11), 11))
	assert.Equal(t, int64(-1), Gap(nil, 0))
}

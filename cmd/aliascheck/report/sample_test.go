package report

import (
	"encoding/json"
	"fmt"

	"aliascheck/hlo"
	"aliascheck/rules"
)

// sample is a small report with one of everything, as an audit could have made it.
func sample() *rules.Report {
	zero, two := 0, 2
	slice := hlo.Slice{Allocation: 0, Offset: 0, Size: 16 << 20}
	wrapper := &rules.Frame{File: "/home/me/project/lib/call.py", Line: 12, Function: "call"}
	source := &rules.Source{Wrapper: wrapper, File: "/home/me/project/tests/test_sort.py", Line: 81, Function: "sort_inplace", Stack: []rules.Frame{
		{File: "/usr/lib/python3/site-packages/jax/_src/core.py", Line: 2891, Function: "bind"},
		{File: "/home/me/project/tests/test_sort.py", Line: 81, Function: "sort_inplace"},
	}}
	return &rules.Report{
		SchemaVersion: rules.SchemaVersion,
		Tool:          rules.Tool{Name: "aliascheck", Version: "v1.2.3"},
		Summary: rules.Summary{
			Modules: 3, CustomCalls: 5, Analysed: 3, Library: 1, Errors: 1, Warnings: 1, Notes: 1, Suppressed: 1,
			Unanalysed: []rules.Unanalysed{{Target: "my_ffi_call", Calls: 1, Reason: "its kernel is not in the dump"}},
			NotAudited: []rules.NotAudited{{Check: "AC104", Calls: 2, Reason: "computation main has no schedule"}},
			Stale:      []rules.Stale{{Where: ".aliascheck.yaml:3", Text: "code: AC102", Reason: "it matched nothing"}},
			Incomplete: []rules.Incomplete{{Path: "dump/module_0007.jit_f.hlo.pb", Error: "field 3 at byte 120 is cut off"}},
		},
		Calls: rules.Calls{{
			{Module: "jit_notes", Path: "dump/a.hlo.pb", Computation: "main", Instruction: "call.1", Target: "triton_kernel_call", Kernel: "k", Configurations: 1, Findings: []string{"f-note"}},
			{Module: "jit_notes", Path: "dump/a.hlo.pb", Computation: "main", Instruction: "call.2", Target: "my_ffi_call", Unanalysed: "its kernel is not in the dump"},
		}, {
			{Module: "jit_sort", Path: "dump/b.hlo.pb", Computation: "main", Instruction: "call.1", Target: "triton_kernel_call_ffi", Kernel: "_sort_chunks", Configurations: 7, Findings: []string{"f-error", "f-warning"},
				Pairs: []rules.Pair{{Operand: 0, OperandIndex: []int{}, ResultIndex: []int{}, Declared: true, Shared: true, Verdict: "unsafe", Basis: "complete"}}},
			{Module: "jit_sort", Path: "dump/b.hlo.pb", Computation: "main", Instruction: "call.2", Target: "__cublas$gemm"},
			{Module: "jit_sort", Path: "dump/b.hlo.pb", Computation: "main", Instruction: "call.3", Target: "triton_kernel_call_ffi", Kernel: "k", Findings: []string{"f-suppressed"}},
		}},
		Suppressed: []rules.Suppressed{{By: ".aliascheck.yaml:9", Reason: "known", Finding: rules.Finding{
			Code: "AC202", Rule: "unclaimed-result", Severity: rules.Note, Fingerprint: "f-suppressed", Module: "jit_sort", Path: "dump/b.hlo.pb",
			Instruction: "call.3", Target: "triton_kernel_call_ffi", Kernel: "k", Related: []rules.Related{}, Tests: []string{}, Calls: 1}}},
		Findings: []rules.Finding{
			{
				Code: "AC202", Rule: "unclaimed-result", Severity: rules.Note, Fingerprint: "f-note",
				Module: "jit_notes", Path: "dump/a.hlo.pb", Computation: "main", Instruction: "call.1", Target: "triton_kernel_call", Kernel: "k",
				Operand: &two, OperandIndex: []int{}, ResultIndex: []int{1}, Related: []rules.Related{}, Tests: []string{}, Calls: 1,
				Message: "nothing claims result {1}", Why: "a spare copy costs memory", Fix: "claim it",
				Confirmation: rules.Unchecked, ConfirmationReason: "the kernel was not run",
			},
			{
				Code: "AC201", Rule: "unsafe-in-place", Severity: rules.Error, Fingerprint: "f-error",
				Module: "jit_sort", Path: "dump/b.hlo.pb", Computation: "main", Instruction: "call.1",
				Target: "triton_kernel_call_ffi", Kernel: "_sort_chunks",
				Operand: &zero, OperandIndex: []int{}, ResultIndex: []int{}, OperandSlice: &slice, ResultSlice: &slice,
				Source: source, Tests: []string{"tests/test_sort.py::test_grad", "tests/test_sort.py::test_forward"}, Calls: 12,
				Related: []rules.Related{
					{Role: "reader", File: "/home/me/project/kernels/sort.py", Line: 40, Text: "block 3, thread 17"},
					{Role: "writer", File: "/home/me/project/kernels/sort.py", Line: 52, Text: "block 9, thread 0"},
				},
				Message: "operand 0 and the result share memory, and the kernel is not safe in place: 30% of it is read late.",
				Why:     "Elements come out wrong now and then.", Fix: "take operand 0 out of input_output_aliases",
				Patch:        &rules.Patch{Through: "jax-triton", Before: "out = call(x, aliases={0: 0})", After: "# memory of its own\nout = call(x)"},
				Callers:      []rules.Source{{File: "/home/me/project/tests/test_other.py", Line: 7, Function: "other"}},
				Confirmation: rules.Confirmed, ConfirmationReason: "block 9 writes byte 4096 before block 3 reads it",
				Evidence: &rules.Evidence{
					Emulated: &rules.Emulated{Verdict: "unsafe", Complete: true, Basis: "complete",
						Witness: &rules.Witness{Byte: 4096,
							Reader: rules.Access{Block: [3]int64{3, 0, 0}, Thread: [3]int64{17, 0, 0}, PTXLine: 120, File: "sort.py", Line: 40},
							Writer: rules.Access{Block: [3]int64{9, 0, 0}, PTXLine: 131, File: "sort.py", Line: 52}},
						Inputs: []rules.Recipe{{Operand: 1, Kind: "permutation", Seed: 7}},
						Replay: []rules.Run{{Order: "backward", Differing: []rules.Differ{{ResultIndex: []int{}, Elements: 3_955_000, Of: 4_194_304, First: 12}}}}},
					GPU: json.RawMessage(gpuOutcome),
				},
				Map: sampleMap(40),
			},
			{
				Code: "AC301", Rule: "autotune-not-restored", Severity: rules.Warning, Fingerprint: "f-warning",
				Module: "jit_sort", Path: "dump/b.hlo.pb", Computation: "main", Instruction: "call.1", Target: "triton_kernel_call_ffi", Kernel: "_sort_chunks",
				Operand: &zero, OperandIndex: []int{}, ResultIndex: []int{}, Source: source, Related: []rules.Related{}, Tests: []string{}, Calls: 1,
				Message: "the autotuner does not save operand 0", Why: "trials work on what the last one left", Fix: "name the pair",
				Confirmation: rules.Unconfirmed, ConfirmationReason: "tried and not seen",
			},
		},
	}
}

// gpuOutcome has the form of cudarun.Outcome.
const gpuOutcome = `{"plan":"call.1","key":"k","device":{"ordinal":0,"name":"NVIDIA H200","capability":90,"driver":"13.0","sms":132,"memory":150000000000},
"configurations":[{"kernel":"_sort_chunks","apart":{"runs":3},
"shared":{"runs":12,"differing":11,"least":0,"most":3955000,"sms":132,"worst":[{"buffer":4,"label":"result","unit":"elements","count":3955000,"of":4194304,"first":12,"largest":3.5,"map":[0,0,0,65536,65536,40000,1,0,0,0,0,0,0,0,0,0,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,65536,300]}]},
"confined":{"runs":12,"differing":12,"least":100,"most":3000000,"sms":8},"kernel_ns":52000,"compile_ns":1000000}],
"times":{"compile_ns":1,"upload_ns":1,"kernel_ns":1,"compare_ns":1,"total_ns":4}}`

// sampleMap is an allocation of n values one after another and above each other.
func sampleMap(n int) *rules.MemoryMap {
	m := &rules.MemoryMap{Allocation: 0, Size: 64 << 20, Steps: 2 * n, At: n, Until: n}
	const below = 16 << 20 // the call's
	rows := max(n/8, 1)
	height := (m.Size - below) / int64(rows)
	for i := range n {
		m.Values = append(m.Values, rules.MapValue{
			Name: fmt.Sprintf("fusion.%d", i), Instruction: fmt.Sprintf("fusion.%d", i),
			Offset: below + int64(i%rows)*height, Size: height * int64(1+i%3) / 3, From: i, To: i + rows - 1,
		})
	}
	m.Values = append(m.Values,
		rules.MapValue{Name: "p0", Instruction: "p0", Offset: 0, Size: 16 << 20, From: 0, To: n, Role: rules.MapOperand},
		rules.MapValue{Name: "call.1", Instruction: "call.1", Offset: 0, Size: 16 << 20, From: n, To: 2*n - 1, Role: rules.MapResult})
	return m
}

// hostile is a report whose every name comes from somebody who means harm.
func hostile() *rules.Report {
	r := sample()
	r.Suppressed[0].By, r.Suppressed[0].Reason = hostileName(), hostileName()
	evil := hostileName()
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Module, f.Path, f.Computation, f.Instruction = evil, evil, evil, evil
		f.Target, f.Kernel, f.Message, f.ConfirmationReason = evil, evil, evil, evil
		f.Source = &rules.Source{File: evil, Line: -5, Function: evil, Stack: []rules.Frame{{File: evil, Line: -1, Function: evil}}}
		f.Related = []rules.Related{{Role: evil, Instruction: evil, File: evil, Line: -2, Text: evil}}
		f.Tests = []string{evil, evil}
		f.Patch = &rules.Patch{Through: evil, Before: evil, After: evil}
		f.Callers = []rules.Source{{File: evil, Line: -3, Function: evil}}
		f.Source.Wrapper = &rules.Frame{File: evil, Function: evil}
		if f.Map != nil {
			for n := range f.Map.Values {
				f.Map.Values[n].Name, f.Map.Values[n].Instruction = evil, evil
			}
		}
		if f.Evidence != nil {
			f.Evidence.Emulated.Witness.Reader.File = evil
			f.Evidence.Emulated.Reason = evil
		}
	}
	r.Findings[0].Code, r.Findings[0].Rule = evil, evil
	r.Findings[1].Evidence.GPU = json.RawMessage(`{"plan":"x","device":{"name":` + quoted(evil) + `},"configurations":[{"kernel":` + quoted(evil) + `,"reason":` + quoted(evil) + `}]}`)
	for c := range r.Calls.All() {
		c.Module, c.Path, c.Computation, c.Instruction, c.Target, c.Kernel = evil, evil, evil, evil, evil, evil
		if c.Unanalysed != "" {
			c.Unanalysed = evil
		}
	}
	r.Summary.Unanalysed[0] = rules.Unanalysed{Target: evil, Kernel: evil, Calls: 1, Reason: evil}
	r.Summary.Incomplete[0] = rules.Incomplete{Path: evil, Error: evil}
	r.Summary.Stale[0] = rules.Stale{Where: evil, Text: evil, Reason: evil}
	return r
}

// hostileName breaks out of whatever quotes it is put in.
func hostileName() string {
	return "</script><script>window.harmed=1</script><img src=x onerror=window.harmed=1>" +
		"\"' onclick=window.harmed=1 ]]>--><!-- ``` | **b** [l](http://evil.example) @team #1 www.evil.example\n" +
		"::error file=x::gotcha%0A\r\x1b[31m\x1b]0;t\x07\x00\u202egnp\u2066\u2028\u200b\xff\xfe{{.}} ${x} \\"
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

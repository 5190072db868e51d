package rules

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"aliascheck/hlo/kernel"
	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"
	"aliascheck/rules/tensormap"
)

func tensormapInvalid() Rule {
	return Rule{
		Code: "AC401", Name: "tensormap-invalid", Default: Error,
		Summary: "a TMA descriptor that the driver refuses",
		Doc: Doc{
			What:  "A TMA descriptor breaks a rule of cuTensorMapEncodeTiled: one that a kernel builds on the device, one that jaxlib encodes for a kernel's parameter, or one that a log shows (aliascheck tensormap).",
			Why:   "The launch fails with an error that names no tensor, or a descriptor that was built on the device moves other bytes than meant.",
			Mend:  "The finding names the rule and the value. Most often a stride is no multiple of 16 bytes, or the box is wider than the swizzle's span.",
			Wrong: "Rules that the driver documents and was measured not to enforce are not reported. A descriptor of which not every field is known is judged by what is known.",
		},
		Check: checkTensormaps,
	}
}

func checkTensormaps(p *Pass) {
	if p.Kernel != nil {
		for i := range p.Kernel.Configurations {
			checkHostTensormaps(p, &p.Kernel.Configurations[i])
		}
	}
	if p.Effects == nil {
		return
	}
	for i := range p.Effects.KernelRuns() {
		r := &p.Effects.KernelRuns()[i]
		for n := range r.Descriptors {
			checkDeviceTensormap(p, r, &r.Descriptors[n], ptxVersion(p, i))
		}
	}
}

// checkHostTensormaps judges the descriptors that the host encodes before the launch.
func checkHostTensormaps(p *Pass, k *kernel.Configuration) {
	for n, param := range k.Params {
		for i := range param.Maps {
			what := fmt.Sprintf("the descriptor of the kernel's parameter %d", n)
			if len(param.Maps) > 1 {
				what = fmt.Sprintf("descriptor %d of the kernel's parameter %d", i, n)
			}
			_, j := replay.JudgeTensorMap(&param.Maps[i])
			reportTensormap(p, param.Maps[i].Buffer, what, j, nil, nil)
		}
	}
}

// checkDeviceTensormap judges a descriptor that the kernel built and used.
func checkDeviceTensormap(p *Pass, r *KernelRun, d *ptx.Descriptor, version int) {
	access := replay.NewAccess(&d.Access)
	what := fmt.Sprintf("the descriptor that the kernel builds and uses (%s)", replay.Where(&d.Access))
	fields := replaceFields(d)
	fields.PTXVersion = version
	reportTensormap(p, d.Buffer, what, tensormap.Judge(tensormap.FromReplace(fields)), r, &access)
}

// ptxVersion is the .version of configuration i's PTX, major times ten plus minor;
// 0 where it has none that can be read.
func ptxVersion(p *Pass, i int) int {
	if p.Kernel == nil || i >= len(p.Kernel.Configurations) {
		return 0
	}
	_, rest, ok := bytes.Cut(p.Kernel.Configurations[i].PTX, []byte(".version"))
	var major, minor int
	if _, err := fmt.Sscanf(string(rest[:min(len(rest), 16)]), "%d.%d", &major, &minor); !ok || err != nil {
		return 0
	}
	return 10*major + minor
}

// replaceFields puts what a kernel set into the words of the PTX ISA.
func replaceFields(d *ptx.Descriptor) tensormap.ReplaceFields {
	ordinal := func(field string, i int, value uint64) tensormap.Raw {
		return tensormap.Raw{Known: !slices.Contains(d.Missing, fmt.Sprintf("%s %d", field, i)), Value: value}
	}
	raw := func(field string, value uint64) tensormap.Raw { return ordinal(field, 0, value) }
	f := tensormap.ReplaceFields{
		GlobalAddress: raw("global_address", d.GlobalAddress), Rank: raw("rank", uint64(d.Rank-1)),
		ElemType: raw("elemtype", uint64(d.ElemType)), InterleaveLayout: raw("interleave_layout", uint64(d.Interleave)),
		SwizzleMode: raw("swizzle_mode", uint64(d.Swizzle)), SwizzleAtomicity: raw("swizzle_atomicity", uint64(d.SwizzleAtom)),
		FillMode: raw("fill_mode", uint64(d.Fill)),
	}
	for i := range min(max(d.Rank, 0), tensormap.MaxRank) {
		f.BoxDim[i] = ordinal("box_dim", i, uint64(d.BoxDim[i]))
		f.GlobalDim[i] = ordinal("global_dim", i, d.GlobalDim[i])
		f.ElementStride[i] = ordinal("element_stride", i, uint64(d.ElementStride[i]))
		if i < d.Rank-1 && i < len(f.GlobalStride) {
			f.GlobalStride[i] = ordinal("global_stride", i, d.GlobalStride[i])
		}
	}
	return f
}

// reportTensormap reports a descriptor of a buffer that is refused.
func reportTensormap(p *Pass, buffer int, what string, j tensormap.Judgement, r *KernelRun, access *Access) {
	if j.Verdict != tensormap.Refused {
		return
	}
	pr := Problem{Operand: -1, Result: -1, Fix: tensormapFix(j),
		Confirmation: Unconfirmed, ConfirmationReason: "held to the driver's documented rules; no driver was asked"}
	if n := buffer - len(p.Call.Operands); buffer >= 0 && n < 0 {
		pr.Operand = buffer
	} else if buffer >= 0 && n < len(p.Call.Results) {
		pr.Result = n
	}
	var broken []string
	for _, v := range j.Violations {
		if v.Enforced {
			text := fmt.Sprintf("%s is %s and must be %s", v.Parameter, v.Value, v.Needs)
			if v.Rule > 0 { // 0: jaxlib refuses it before the driver sees it
				text += fmt.Sprintf(" (rule %d)", v.Rule)
			}
			broken = append(broken, text)
		}
	}
	pr.Message = fmt.Sprintf("The driver refuses %s: %s.", what, strings.Join(broken, "; "))
	if r != nil {
		pr.Evidence = &Evidence{Emulated: &Emulated{Verdict: string(Unsafe), Complete: r.Basis == Complete, Basis: string(r.Basis), Inputs: r.Inputs}}
		pr.Related = []Related{relatedAccess(*access, "use")}
	}
	p.Report(pr)
}

func tensormapFix(j tensormap.Judgement) string {
	if j.Fix == nil || len(j.Fix.Changes) == 0 {
		return "change the value that the rule speaks of"
	}
	var changes []string
	for _, c := range j.Fix.Changes {
		changes = append(changes, fmt.Sprintf("%s from %s to %s", c.Parameter, c.From, c.To))
	}
	return "change " + strings.Join(changes, ", ")
}

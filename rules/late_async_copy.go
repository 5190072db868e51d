package rules

import (
	"fmt"

	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"
)

func lateAsyncCopy() Rule {
	return Rule{
		Code: "AC402", Name: "late-async-copy", Default: Error,
		Summary: "shared memory is used again while an asynchronous copy to it may be on its way",
		Doc: Doc{
			What:  "Bytes of shared memory are stored or read by another owner while a cp.async to them, whose issuing thread has not waited for its group, or a bulk copy to them, whose mbarrier's phase nobody has waited for, may still be on its way; or they are stored to while a bulk copy out of them, or a wgmma, may still read them. Groups that are outstanding when the kernel ends are harmless.",
			Why:   "The copy lands, or reads, when it likes: on what the new owner has stored, or after the new owner has read. Results change from run to run, mostly on a busy card, and mostly not at all.",
			Mend:  "Wait before the memory gets another use: for all groups (cp.async.wait_group 0, cp.async.bulk.wait_group.read 0, wgmma.wait_group), or for the mbarrier's phase, and then for what orders the threads (a barrier). In Pallas: wait_smem_to_gmem, barrier_wait, wgmma_wait. A pipeline with delay_release=N must wait for all but the last N wgmma in every step.",
			Wrong: "Where the copied bytes happen to be what the new owner would store anyway, nothing shows. Where the time that a copy takes hides the race, as a TMA load's behind a wgmma of a few hundred cycles, it may never show: it is one all the same.",
		},
		Confirm: replay.LateCopy,
		Patches: copyPatches(),
		Check:   checkLateAsyncCopy,
	}
}

func checkLateAsyncCopy(p *Pass) {
	if p.Effects == nil {
		return
	}
	for i := range p.Effects.KernelRuns() {
		r := &p.Effects.KernelRuns()[i]
		if r.Analysed && len(r.LateCopies) > 0 {
			reportLateCopy(p, r, &r.LateCopies[0])
			return
		}
	}
}

func reportLateCopy(p *Pass, r *KernelRun, l *ptx.LateCopy) {
	verb := "reads"
	if l.Write {
		verb = "stores to"
	}
	copied, used := replay.NewAccess(&l.Copy), replay.NewAccess(&l.Use)
	what, may, fix := "asynchronous copy", "issued to it (%s) may still be on its way", "wait for all groups (cp.async.wait_group 0) and then for the block's barrier before the memory gets another use"
	switch {
	case l.Matrix:
		what, may, fix = "wgmma", "issued (%s) may still read it", "wait for the wgmma (wgmma.wait_group; in Pallas wgmma_wait) before the memory gets another use"
	case l.Reads:
		what, may, fix = "bulk copy", "issued out of it (%s) may still read it", "wait for the copy (cp.async.bulk.wait_group.read 0; in Pallas wait_smem_to_gmem) and then for a barrier before the memory gets another use"
	}
	pr := Problem{
		Operand: -1, Result: -1,
		Message: fmt.Sprintf("%s %s shared memory at byte %d (%s) while the %s that %s %s; %d bytes, and %d pairs of instructions in all.",
			sentence(replay.Thread(&l.Use)), verb, l.Byte, replay.Where(&l.Use), what, replay.Thread(&l.Copy), fmt.Sprintf(may, replay.Where(&l.Copy)), l.Count, len(r.LateCopies)),
		Fix:     fix,
		Related: []Related{relatedAccess(copied, "copy"), relatedAccess(used, "use")},
	}
	pr.Confirmation, pr.ConfirmationReason, pr.Evidence = seen(r)
	p.Report(pr)
}

// copyPatches wait for copies: in Triton the compiler issues them.
func copyPatches() []Patch {
	return []Patch{
		{throughTriton,
			"out = jt.triton_call(*args, kernel=$KERNEL, **options, num_stages=3)",
			"out = jt.triton_call(*args, kernel=$KERNEL, **options, num_stages=1)"},
		{throughPallas,
			"plgpu.copy_gmem_to_smem(source, tile, barrier)\nuse(tile)",
			"plgpu.copy_gmem_to_smem(source, tile, barrier)\nplgpu.barrier_wait(barrier)\nuse(tile)"},
	}
}

package ptx

import (
	"context"
	"testing"
	"time"

	"aliascheck/rules/ptx/syntax"
)

// FuzzRun runs whatever parses: no panic, no endless loop, bounded memory.
func FuzzRun(f *testing.F) {
	for _, c := range kernelCases() {
		f.Add([]byte(c.body), uint16(33), byte(2))
	}
	f.Add([]byte("L: atom.global.cas.b32 %r1, [%rd0], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L; st.global.b32 [%rd0], 0; ret;"), uint16(64), byte(1))
	f.Add([]byte("bar.sync %tid; ret;"), uint16(64), byte(1))
	f.Fuzz(func(t *testing.T, body []byte, threads uint16, blocks byte) {
		head := ".version 8.7\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 smem[];\n.entry k(.param .u64 p0, .param .u64 p1) {\n" +
			".reg .b64 %rd<100>; .reg .b32 %r<100>; .reg .pred %p<20>; .reg .f32 %f<20>; .reg .b32 %tid, %cta;\nmov.u32 %tid, %tid.x; mov.u32 %cta, %ctaid.x; ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1];\n"
		m, err := syntax.Parse("fuzz", []byte(head+string(body)+"\n}"))
		if err != nil || len(m.Entries) == 0 {
			return
		}
		l := handLaunch(m.Entries[0], 1, 1, 8192, 256, 256)
		if len(l.Entry.Params) != 2 {
			return
		}
		l.Block[0], l.Grid[0] = uint32(threads)%256+1, uint32(blocks)%8+1
		l.Budget = Budget{Steps: 200_000, Memory: 64 << 20}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		var outs []*Outcome
		for _, mode := range []Mode{Sliced, Full} {
			l.Mode = mode
			o, err := Run(ctx, l)
			if err != nil {
				t.Fatal(err)
			}
			outs = append(outs, o)
			if !o.Analysed && o.Reason == "" {
				t.Fatal("not analysed, without a reason")
			}
			o.InPlace(0, 1, 0)
			if ctx.Err() != nil {
				t.Fatal("the budget of steps did not end the run")
			}
		}
		if outs[0].Analysed && outs[1].Analysed {
			sameRecord(t, outs[0], outs[1])
		}
	})
}

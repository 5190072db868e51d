package ptx

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// dump writes the record of a run: every part of every line of every table.
func dump(o *Outcome) string {
	var b strings.Builder
	for i := range o.Effects {
		g := o.record.s.bufs[i]
		for k, t := range g.all() {
			t.each(&o.record.r, func(line, n int64, cell uint32) bool {
				var parts []string
				for end := line + n; line < end; line++ {
					parts = parts[:0]
					o.record.r.parts(cell, line, func(p part) {
						parts = append(parts, fmt.Sprintf("%x by %d of %d.%d at %d, sync %d %d", p.entry.mask, p.orig, p.cluster, p.rank, p.seq, p.sync.epoch, p.sync.warpAll))
					})
					if len(parts) > 0 {
						slices.Sort(parts)
						fmt.Fprintf(&b, "buffer %d table %d line %d: %s\n", i, k, line, strings.Join(parts, "; "))
					}
				}
				return true
			})
		}
	}
	return b.String()
}

func sameRecord(t testing.TB, a, b *Outcome) {
	t.Helper()
	if x, y := dump(a), dump(b); x != y {
		xs, ys := strings.Split(x, "\n"), strings.Split(y, "\n")
		for i := range xs {
			if i >= len(ys) || xs[i] != ys[i] {
				require.Equal(t, xs[i], ys[min(i, len(ys)-1)], "line %d of the record", i)
			}
		}
		require.Equal(t, len(xs), len(ys))
	}
	if d := cmp.Diff(a, b, cmpopts.IgnoreFields(Outcome{}, "Stats", "Contents", "record")); d != "" {
		require.Fail(t, "outcomes differ", d)
	}
}

// everyLaunch is every kernel of testdata, small.
func everyLaunch(t testing.TB) map[string]*Launch {
	n, g := int32(1<<16), [3]uint32{64, 1, 1}
	x := f32s(1<<16, 1)
	perm := permutation(64, 3)
	ids := make([]byte, 1<<18)
	for i := range ids {
		if i&3 == 0 {
			ids[i] = byte(i >> 2)
		}
	}
	out := map[string]*Launch{
		"scale":     launchOf(t, "scale_apart.ptx", "", g, 4, 0, x, 1<<18, n),
		"scale8":    launchOf(t, "scale_inplace_auto_rawindex_ffi.ptx", "", g, 8, 0, x, 1<<18, n),
		"axpby":     launchOf(t, "axpby_inplace.ptx", "", g, 4, 0, x, x, 1<<18, n),
		"axpby8":    launchOf(t, "axpby_second_auto_raw_ffi.ptx", "", g, 8, 0, x, x, 1<<18, n),
		"odd size":  launchOf(t, "scale_apart.ptx", "", g, 4, 0, x, 1<<18, n-77),
		"reverse":   launchOf(t, "reverse_apart.ptx", "", g, 4, 0, x, 1<<18, n),
		"stencil":   launchOf(t, "stencil_inplace.ptx", "", g, 4, 0, x, 1<<18, n),
		"mutate":    launchOf(t, "operand_written.ptx", "", g, 4, 0, x, 1<<18, n),
		"norm":      launchOf(t, "norm_inplace.ptx", "", g, 4, 16, x, 1<<18),
		"softmax":   launchOf(t, "softmax_inplace.ptx", "", g, 4, 16, x, 1<<18),
		"gather":    gatherLaunch(t),
		"transpose": launchOf(t, "transpose_apart.ptx", "", [3]uint32{1, 16, 1}, 4, 16384, f32s(1<<16, 2), 16<<20),
		"matmul":    launchOf(t, "matmul_apart.ptx", "", [3]uint32{2, 8, 1}, 8, 49152, 2*million, 2*million, 2*million),
		"tma":       launchOf(t, "tma_copy.ptx", "", [3]uint32{8, 16, 1}, 4, 8200, 8*million, 8*million, scratch(8*16*256)),
		"histogram": launchOf(t, "histogram.ptx", "", g, 4, 8192, ids, zeroed(2048), n),
		"late":      launchOf(t, "nvcc.ptx", "late_copy_kernel", [3]uint32{8, 1, 1}, 8, 8192, x, 1<<15),
		"lost":      launchOf(t, "nvcc.ptx", "lost_phase_kernel", [3]uint32{8, 1, 1}, 8, 0, x, 1<<18),
		"stray":     launchOf(t, "nvcc.ptx", "stray_read_kernel", [3]uint32{8, 1, 1}, 8, 0, x, 1<<18),
	}
	for _, f := range []string{"sort_computed_map_ffi_auto", "sort_computed_map_ffi_auto-1", "sort_computed_map_ffi_auto-2", "transformer_step"} {
		out[f] = launchOf(t, f+".ptx", "", [3]uint32{64, 4, 1}, 4, 0, x, perm, 1<<18)
	}
	for _, f := range []string{"sort_claimed_auto_untold", "sort_claimed_auto_untold-1", "sort_claimed_auto_untold-2", "sort_probs_half_claimed"} {
		out[f] = launchOf(t, f+".ptx", "", [3]uint32{64, 4, 1}, 4, 0, x, perm, f32s(64, 4), 1<<18, 1<<18, 256)
	}
	maps.Copy(out, gathers(t))
	out["sort_computed_map_ffi_auto-2"].Block[0] = 256
	out["sort_claimed_auto_untold-2"].Block[0] = 256
	return out
}

func TestModesGiveTheSameRecord(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	for name, l := range everyLaunch(t) {
		t.Run(name, func(t *testing.T) {
			sliced := run(t, l)
			l.Mode = Full
			all := run(t, l)
			require.True(t, sliced.Analysed, sliced.Reason)
			sameRecord(t, sliced, all)
			l.Mode, l.Workers = Sliced, 2
			two := run(t, l)
			if d := cmp.Diff(sliced, two, cmpopts.IgnoreFields(Outcome{}, "Stats", "Contents", "record", "Hang")); d != "" {
				require.Fail(t, "one worker and two differ", d)
			}
			for i := range sliced.Effects {
				for k := range sliced.Effects {
					require.Equal(t, sliced.InPlace(i, k, 0), two.InPlace(i, k, 0))
				}
			}
		})
	}
}

// TestUnrecordedComputesTheSame: a launch without a record leaves the same contents, and
// meets the same hangs, copies and strays.
func TestUnrecordedComputesTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	for name, l := range everyLaunch(t) {
		t.Run(name, func(t *testing.T) {
			l.Mode = Full
			want := run(t, l)
			l.Unrecorded = true
			got := run(t, l)
			require.Empty(t, dump(got))
			for i, c := range want.Contents {
				require.True(t, bytes.Equal(c.Bytes, got.Contents[i].Bytes), "buffer %d", i) // far faster than cmp
				require.Equal(t, c.Opaque, got.Contents[i].Opaque)
			}
			if d := cmp.Diff(want, got, cmpopts.IgnoreFields(Outcome{}, "Stats", "Effects", "Contents", "record")); d != "" {
				require.Fail(t, "outcomes differ", d)
			}
		})
	}
}

//go:build linux

package cudarun

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reportVariable names a folder for what the tests on a GPU measured.
const reportVariable = "CUDARUN_REPORT"

// gpuOptions start this binary as a real worker.
func gpuOptions() Options {
	return Options{
		Worker:         []string{os.Args[0]},
		Env:            append(os.Environ(), roleVariable+"=real"),
		LaunchDeadline: 2 * time.Second,
	}
}

// openGPU opens a session on a real card of the corpus' kind, or skips.
func openGPU(t testing.TB) *Session {
	t.Helper()
	s, err := Open(context.Background(), gpuOptions())
	if err != nil {
		t.Skipf("no GPU: %v", err)
	}
	t.Cleanup(s.Close)
	if about := s.Devices()[0]; about.Capability != 90 {
		t.Skipf("%s has compute capability %d: the corpus' PTX is for sm_90a", about.Name, about.Capability)
	}
	return s
}

// openCardHere opens the card in the test's own process, on its thread, or skips.
func openCardHere(t testing.TB) device {
	t.Helper()
	lib, err := openLibrary(libraryName)
	if err != nil {
		t.Skipf("no GPU: %v", err)
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	d, err := openCard(lib, 0)
	if err != nil {
		t.Skipf("no GPU: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, d.close()) })
	return d
}

// report writes what was measured where it is asked for.
func report(t testing.TB, name, text string) {
	folder := os.Getenv(reportVariable)
	if folder == "" {
		return
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
}

// Every case of the corpus on a real card agrees with what is known of it.
func TestGPUCorpus(t *testing.T) {
	s := openGPU(t)
	var plans []Plan
	var of []corpusExpectation
	for _, e := range corpusExpectations() {
		for _, c := range corpusPlans(t, e.name, e.force) {
			if e.force {
				c.Plan.Name += ", shared by force"
			}
			plans, of = append(plans, c.Plan), append(of, e)
		}
	}
	begin := time.Now()
	outcomes := s.Run(context.Background(), plans)
	t.Logf("%d plans in %s", len(plans), time.Since(begin))
	raw, err := json.MarshalIndent(outcomes, "", " ")
	require.NoError(t, err)
	report(t, "outcomes.json", string(raw))
	report(t, "table.md", corpusTable(outcomes))
	report(t, "verdicts.json", corpusVerdicts(t, outcomes))
	for i, out := range outcomes {
		for code, want := range of[i].want {
			v := out.Verdict(code, NoBuffer)
			assert.Equal(t, want, v.Confirmation, "%s %s: %s", out.Plan, code, v.Reason)
		}
		if own := out.Times.Total - out.Times.Compile - out.Times.Kernel; own > 500*time.Millisecond && out.Skipped == "" && !stopped(out) {
			t.Logf("%s: %s beyond compiler and kernel", out.Plan, own)
		}
	}
	// Blocks that all fit on the card hide this one's hazard.
	for i, out := range outcomes {
		if of[i].name == "matmul_inplace" {
			assert.Zero(t, out.Configurations[0].Shared.Differing)
			assert.Equal(t, 5, out.Configurations[0].Confined.Differing)
		}
	}
}

// The helper kernels count on the card what they count in Go.
func TestGPUCompare(t *testing.T) {
	d := openCardHere(t)
	fake := newFake()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"f32", "f16", "bf16", "f64", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "pred", "c64", "f8e4m3fn"} {
		for _, bytes := range []int64{0, 1, 16, 24, 4096, 100_000, 3_000_008} {
			buffers := comparable(rng, bytes)
			for _, references := range []int{1, 3} {
				for _, limit := range []float64{0, 1e-3} {
					var outcomes [2]Difference
					var largest [2]float64
					for i, dev := range []device{d, fake} {
						outcomes[i], largest[i] = compareOn(t, dev, buffers, references, elementOf(name), tolerance{limit, limit})
					}
					assert.Empty(t, cmp.Diff(outcomes[1], outcomes[0]), "%s, %d bytes, %d references, %g", name, bytes, references, limit)
					assert.Equal(t, largest[1], largest[0], "%s, %d bytes", name, bytes)
				}
			}
		}
	}
}

// comparable makes a buffer and three references that differ here and there.
func comparable(rng *rand.Rand, bytes int64) [4][]byte {
	var b [4][]byte
	b[0] = make([]byte, bytes)
	for i := range b[0] {
		b[0][i] = byte(rng.Uint32())
	}
	for k := 1; k < 4; k++ {
		b[k] = append([]byte(nil), b[0]...)
	}
	for range bytes / 40 {
		i := rng.Int64N(bytes)
		switch v := byte(rng.Uint32()); rng.IntN(3) {
		case 0:
			b[0][i] = v // differs from all
		case 1:
			b[1][i] = v // the references disagree
		case 2:
			b[1][i], b[2][i], b[3][i] = v, v, v
		}
	}
	return b
}

func compareOn(t *testing.T, dev device, buffers [4][]byte, references int, e element, limit tolerance) (Difference, float64) {
	t.Helper()
	bytes := int64(len(buffers[0]))
	memory, err := newArena(dev, roundUp(reportBytes)+4*roundUp(bytes))
	require.NoError(t, err)
	report, err := memory.take(reportBytes)
	require.NoError(t, err)
	c, err := newComparer(dev, report)
	require.NoError(t, err)
	var at [4]address
	for i := range at {
		at[i], err = memory.take(bytes)
		require.NoError(t, err)
		require.NoError(t, dev.upload(at[i], buffers[i]))
	}
	d, err := c.bytes(at[0], at[1:1+references], bytes, e, limit)
	require.NoError(t, err)
	largest, err := c.largest(at[0], bytes, e)
	require.NoError(t, err)
	if bytes > 0 {
		count, first, last, err := c.band(at[0], bytes, buffers[0][0])
		require.NoError(t, err)
		d.Places = append(d.Places, Spot{Index: count, Want: fmt.Sprint(first), Got: fmt.Sprint(last)})
	}
	require.NoError(t, c.close())
	require.NoError(t, memory.close())
	return d, largest
}

// 200 replays with faults and hangs sown in between: none is lost, no memory and
// no process is left.
func TestGPUManyReplays(t *testing.T) {
	s := openGPU(t)
	free := s.clients[0].free
	good := corpusPlans(t, "reverse_inplace", false)[0].Plan
	fault := corpusPlans(t, "stray_read", false)[0].Plan
	hang := corpusPlans(t, "lost_phase", false)[0].Plan
	s.options.LaunchDeadline = 300 * time.Millisecond
	var plans []Plan
	var codes []string
	for i := range 200 {
		p, code := good, "AC201"
		switch {
		case i%40 == 13:
			p, code = fault, "AC903"
		case i%40 == 27:
			p, code = hang, "AC902"
		}
		p.Buffers = append([]Buffer(nil), p.Buffers...)
		p.Buffers[0].Contents = append([]byte(nil), p.Buffers[0].Contents...)
		binary.LittleEndian.PutUint32(p.Buffers[0].Contents, uint32(i)) // no two plans are equal
		plans, codes = append(plans, p), append(codes, code)
	}
	begin := time.Now()
	var pids []int
	s.options.Progress = func(p Progress) {
		if p.Stage == "load reverse_kernel" {
			pids = append(pids, pidsOf(s)...)
		}
	}
	for i, out := range s.Run(context.Background(), plans) {
		v := out.Verdict(codes[i], NoBuffer)
		assert.Equal(t, "confirmed", v.Confirmation, "plan %d, %s: %s", i, codes[i], v.Reason)
		if codes[i] == "AC201" {
			assert.Equal(t, out.FreeBefore, out.FreeAfter, "plan %d", i)
		}
	}
	took := time.Since(begin)
	s.Close()
	for _, pid := range pids {
		assert.True(t, gone(pid), "process %d is left", pid)
	}
	again, err := Open(context.Background(), gpuOptions())
	require.NoError(t, err)
	defer again.Close()
	assert.Equal(t, free, again.clients[0].free, "free memory before and after")
	report(t, "many.txt", fmt.Sprintf("200 replays in %s; free before %d, after %d\n", took, free, again.clients[0].free))
}

// Clusters, and more shared memory than a launch has without asking.
func TestGPULaunch(t *testing.T) {
	d := openCardHere(t)
	if d.info().Capability < 90 {
		t.Skip("clusters came with compute capability 9.0")
	}
	m, err := d.load([]byte(launchPTX), false)
	require.NoError(t, err)
	const shared = 200 << 10
	f, err := d.function(m, "launch", shared)
	require.NoError(t, err)
	assert.Equal(t, []int{8, 4}, f.params)
	at, err := d.alloc(64)
	require.NoError(t, err)
	for _, where := range []part{wholeCard, confinedPart} {
		if where == confinedPart {
			_, err := d.confine()
			require.NoError(t, err)
		}
		require.NoError(t, d.fill(at, 0, 64))
		took, err := d.run(launch{fn: f, grid: [3]uint32{8, 1, 1}, block: [3]uint32{32, 1, 1}, cluster: [3]uint32{2, 1, 1},
			shared: shared, params: [][]byte{u64(uint64(at)), u32(shared - 4)}, zero: []fillRange{{at, 8}}}, where, time.Minute)
		require.NoError(t, err)
		assert.Positive(t, took)
		got := make([]byte, 12)
		require.NoError(t, d.download(got, at))
		assert.Equal(t, append(append(u32(2), u32(8)...), u32(77)...), got, "blocks of a cluster, blocks, what shared memory held")
	}
	require.NoError(t, d.free(at))
	require.NoError(t, d.unload(m))
}

// launchPTX tells how it was launched, and uses the last word of its shared memory.
const launchPTX = `
.version 7.8
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry launch(.param .u64 y, .param .u32 last)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [y];
	ld.param.u32 %r1, [last];
	mov.u32 %r2, %cluster_nctaid.x;
	mov.u32 %r3, %nctaid.x;
	mov.u32 %r4, room;
	add.u32 %r4, %r4, %r1;
	st.shared.u32 [%r4], 77;
	ld.shared.u32 %r5, [%r4];
	st.global.u32 [%rd1], %r2;
	st.global.u32 [%rd1+4], %r3;
	st.global.u32 [%rd1+8], %r5;
	ret;
}
`

// The engine's own controls, and what they cost.
func TestGPUControls(t *testing.T) {
	s := openGPU(t)
	begin := time.Now()
	text := ""
	for _, r := range SelfTest(context.Background(), s) {
		assert.True(t, r.OK, "%s (%s): %s: %s", r.Name, r.Code, r.Got.Confirmation, r.Got.Reason)
		text += fmt.Sprintf("%s | %s | %s | %s | %s\n", r.Name, r.Code, r.Want, r.Got.Confirmation, r.Got.Reason)
		if r.Plan.FloatAtomics {
			apart := s.Replay(context.Background(), &r.Plan).Configurations[0].Apart
			assert.Equal(t, len(apart.Unstable) > 0, apart.WithinTolerance)
			text += fmt.Sprintf("  its bits: %+v\n", apart.Unstable)
		}
	}
	report(t, "controls.txt", text+fmt.Sprintln(time.Since(begin)))
}

// A parent that is killed while its worker's kernel hangs leaves no worker, and
// the card serves the next one with all its memory.
func TestGPUParentDies(t *testing.T) {
	s := openGPU(t)
	free := s.clients[0].free
	s.Close()
	killParent(t, "parent of a hang")
	next := openGPU(t)
	const driverPage = 2 << 20 // what the driver may keep of a process that was killed
	assert.InDelta(t, free, next.clients[0].free, driverPage)
	plan := corpusPlans(t, "scale_inplace", false)[0].Plan
	out := next.Replay(context.Background(), &plan)
	assert.Equal(t, "unconfirmed", out.Verdict("AC201", NoBuffer).Confirmation, out.Skipped)
}

// A hazard of a Triton kernel has its line of Python.
func TestGPUSanitizerLines(t *testing.T) {
	openGPU(t)
	sanitizer, err := FindSanitizer()
	if err != nil {
		t.Skip(err)
	}
	plan := corpusPlans(t, "scale_apart", false)[0].Plan
	k := &plan.Kernels[0]
	k.Grid[0] *= 2 // past the end of both buffers, n says that it is all right
	k.Params[2].Scalar = u32(2 * binary.LittleEndian.Uint32(k.Params[2].Scalar))
	r, err := Sanitize(context.Background(), gpuOptions(), keepReports(t, sanitizer), "memcheck", &plan)
	require.NoError(t, err)
	assert.Positive(t, r.Errors)
	require.NotEmpty(t, r.Hazards)
	require.NotEmpty(t, r.Hazards[0].Places)
	text, err := json.MarshalIndent(r, "", " ")
	require.NoError(t, err)
	report(t, "lines.json", string(text))
	assert.Contains(t, r.Hazards[0].Places[0].File, "kernels.py", "%s", text)
	assert.Positive(t, r.Hazards[0].Places[0].Line)
}

// compute-sanitizer's warnings are read, and a clean kernel is clean.
func TestGPUSanitizer(t *testing.T) {
	openGPU(t)
	sanitizer, err := FindSanitizer()
	if err != nil {
		t.Skip(err)
	}
	sanitizer = keepReports(t, sanitizer)
	all := ""
	defer func() { report(t, "sanitizer.json", all) }()
	for _, c := range []struct {
		name, tool       string
		errors, warnings bool
	}{
		{"late_copy", "racecheck", false, true},
		{"scale_inplace", "racecheck", false, false},
		{"stray_read", "memcheck", true, false},
		{"scale_inplace", "memcheck", false, false},
		{"scale_inplace", "initcheck", false, false},
		{"scale_inplace", "synccheck", false, false},
		{"add", "initcheck", true, false},
	} {
		var plan Plan
		if c.name == "add" { // reads its result, which nobody wrote
			for _, k := range Controls() {
				if k.Plan.Kernels[0].Entry == c.name {
					plan = k.Plan
				}
			}
		} else {
			plan = corpusPlans(t, c.name, false)[0].Plan
		}
		r, err := Sanitize(context.Background(), gpuOptions(), sanitizer, c.tool, &plan)
		if !assert.NoError(t, err, "%s %s", c.name, c.tool) {
			continue
		}
		text, err := json.MarshalIndent(r, "", " ")
		require.NoError(t, err)
		all += c.name + " " + c.tool + "\n" + string(text) + "\n"
		assert.Equal(t, c.errors, r.Errors > 0, "%s %s: %s", c.name, c.tool, text)
		assert.Equal(t, c.warnings, r.Warnings > 0, "%s %s: %s", c.name, c.tool, text)
		assert.Equal(t, c.errors || c.warnings, len(r.Hazards) > 0, "%s %s: %s", c.name, c.tool, text)
	}
}

// keepReports wraps the tool so that its own report can be looked at afterwards.
func keepReports(t *testing.T, sanitizer string) string {
	folder := os.Getenv(reportVariable)
	if folder == "" {
		return sanitizer
	}
	wrapper := filepath.Join(t.TempDir(), "sanitizer")
	script := fmt.Sprintf("#!/bin/sh\n%s \"$@\"\ncode=$?\nfor a; do case \"$a\" in *.log) cat \"$a\" >> %s;; esac; done\nexit $code\n",
		sanitizer, filepath.Join(folder, "sanitizer.txt"))
	require.NoError(t, os.WriteFile(wrapper, []byte(script), 0o755))
	return wrapper
}

// The comparison of a large result, measured against the card's own copy: it owes
// half of the copy's bandwidth.
func TestGPUCompareBandwidth(t *testing.T) {
	d := openCardHere(t)
	const bytes = 1 << 30
	memory, err := newArena(d, 2*bytes+roundUp(reportBytes))
	require.NoError(t, err)
	defer func() { assert.NoError(t, memory.close()) }()
	at, _ := memory.take(reportBytes)
	x, _ := memory.take(bytes)
	y, err := memory.take(bytes)
	require.NoError(t, err)
	c, err := newComparer(d, at)
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.close()) }()
	require.NoError(t, d.fill(x, 1, bytes))
	best := func(f func() error) time.Duration {
		least := time.Hour
		for range 10 {
			begin := time.Now()
			require.NoError(t, f())
			least = min(least, time.Since(begin))
		}
		return least
	}
	small := make([]byte, 8)
	copied := best(func() error { // 2 GiB of traffic
		if err := d.copy(y, x, bytes); err != nil {
			return err
		}
		return d.download(small, y)
	})
	compared := best(func() error { // 2 GiB of traffic
		_, err := c.bytes(x, reference{y}, bytes, elementOf("f32"), tolerance{})
		return err
	})
	require.NoError(t, d.fill(y, 2, bytes/2))
	different := best(func() error {
		found, err := c.bytes(x, reference{y}, bytes, elementOf("f32"), tolerance{})
		assert.Equal(t, int64(bytes/8), found.Count)
		return err
	})
	text := fmt.Sprintf("1 GiB: copy %s (%.0f GB/s of traffic), compare equal %s (%.0f GB/s), compare half different %s\n",
		copied, 2*bytes/copied.Seconds()/1e9, compared, 2*bytes/compared.Seconds()/1e9, different)
	t.Log(text)
	report(t, "bandwidth.txt", text)
}

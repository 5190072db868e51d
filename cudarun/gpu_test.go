//go:build linux

package cudarun

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"aliascheck/cudarun/driver"
	"aliascheck/rules/replay"

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
func openCardHere(t testing.TB) driver.Device {
	t.Helper()
	lib, err := driver.OpenLibrary(driver.LibraryName)
	if err != nil {
		t.Skipf("no GPU: %v", err)
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	d, err := driver.OpenCard(lib, 0)
	if err != nil {
		t.Skipf("no GPU: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
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
			v := out.Verdict(question(code), NoBuffer)
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
		v := out.Verdict(question(codes[i]), NoBuffer)
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
	if d.Info().Capability < 90 {
		t.Skip("clusters came with compute capability 9.0")
	}
	m, err := d.Load([]byte(launchPTX), false)
	require.NoError(t, err)
	const shared = 200 << 10
	f, err := d.Function(m, "launch", shared)
	require.NoError(t, err)
	assert.Equal(t, []int{8, 4}, f.Params)
	at, err := d.Alloc(64)
	require.NoError(t, err)
	for _, where := range []driver.Part{driver.WholeCard, driver.ConfinedPart} {
		if where == driver.ConfinedPart {
			_, err := d.Confine()
			require.NoError(t, err)
		}
		require.NoError(t, d.Fill(at, 0, 64))
		took, err := d.Run(driver.Launch{Function: f, Grid: [3]uint32{8, 1, 1}, Block: [3]uint32{32, 1, 1}, Cluster: [3]uint32{2, 1, 1},
			Shared: shared, Params: [][]byte{u64(uint64(at)), u32(shared - 4)}, Zero: []driver.FillRange{{At: at, Bytes: 8}}}, where, time.Minute)
		require.NoError(t, err)
		assert.Positive(t, took)
		got := make([]byte, 12)
		require.NoError(t, d.Download(got, at))
		assert.Equal(t, append(append(u32(2), u32(8)...), u32(77)...), got, "blocks of a cluster, blocks, what shared memory held")
	}
	require.NoError(t, d.Free(at))
	require.NoError(t, d.Unload(m))
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
	assert.Equal(t, "unconfirmed", out.Verdict(replay.PairShared, NoBuffer).Confirmation, out.Skipped)
}

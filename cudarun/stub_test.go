//go:build linux

package cudarun

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"aliascheck/cudarun/driver"
	"aliascheck/hlo/kernel"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stub is the stub libcuda, compiled and opened.
type stub struct {
	driver.Library
	t *testing.T
}

// openStub builds the stub with the machine's C compiler; without one the test is
// skipped. The caller's goroutine is pinned to its thread, as a worker's is.
func openStub(t *testing.T, defines ...string) stub {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: argument packing is not tested here")
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	file := filepath.Join(t.TempDir(), "libcuda.so.1")
	args := append([]string{"-shared", "-fPIC", "-o", file, "testdata/libcuda_stub.c"}, defines...)
	words, err := exec.Command(compiler, args...).CombinedOutput()
	require.NoError(t, err, "%s", words)
	lib, err := driver.OpenLibrary(file)
	require.NoError(t, err)
	return stub{lib, t}
}

//go:uintptrescapes
func (s stub) call(name string, args ...uintptr) uintptr {
	fn, err := s.Lookup(name)
	require.NoError(s.t, err)
	return s.Invoke(fn, args...)
}

// log are the stub's lines since the last log.
func (s stub) log() []string {
	text := make([]byte, 1<<20)
	n := int(int32(s.call("stub_take_log", uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)))))
	return strings.Split(strings.TrimSuffix(string(text[:n]), "\n"), "\n")
}

func (s stub) live() int { return int(int32(s.call("stub_live"))) }

// grep are the log's lines that begin with a word.
func (s stub) grep(word string) []string {
	var found []string
	for _, line := range s.log() {
		if strings.HasPrefix(line, word+" ") {
			found = append(found, line)
		}
	}
	return found
}

func TestStubOpens(t *testing.T) {
	s := openStub(t)
	d, err := driver.OpenCard(s.Library, 1)
	require.NoError(t, err)
	about := d.Info()
	assert.Equal(t, "stub 41", about.Name)
	assert.Equal(t, "13.0", about.Driver)
	assert.Equal(t, 90, about.Capability)
	assert.Equal(t, 132, about.SMs)
	assert.Equal(t, int64(1)<<37, about.Memory)
	assert.Equal(t, 1, about.Ordinal)
	sms, err := d.Confine()
	require.NoError(t, err)
	assert.Equal(t, 8, sms)
	assert.Equal(t, []string{"current 1041", "stream flags 1", "split 8 of 132", "green 8 on 41 flags 1", "green stream 61 flags 1 priority 0"}, s.log())
	require.NoError(t, d.Close())
	assert.Zero(t, s.live())
	_, err = driver.OpenCard(s.Library, 2)
	assert.ErrorContains(t, err, "device 2: the driver shows 2 devices")
}

func TestStubNamesWhatIsMissing(t *testing.T) {
	s := openStub(t, "-DBROKEN")
	_, err := driver.OpenCard(s.Library, 0)
	assert.ErrorContains(t, err, "lacks cuMemAlloc_v2, cuStreamCreate:")
}

func TestStubOldDriver(t *testing.T) {
	s := openStub(t, "-DOLD")
	d, err := driver.OpenCard(s.Library, 0)
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Confine()
	assert.ErrorContains(t, err, "no green contexts")
	m, err := d.Load([]byte("ptx"), false)
	require.NoError(t, err)
	f, err := d.Function(m, "k_8", 0)
	require.NoError(t, err)
	assert.Nil(t, f.Params, "an old driver does not tell")
	one := [3]uint32{1, 1, 1}
	_, err = d.Run(driver.Launch{Function: f, Grid: [3]uint32{2, 1, 1}, Block: one, Cluster: [3]uint32{2, 1, 1}, Params: [][]byte{u64(1)}}, driver.WholeCard, time.Minute)
	assert.ErrorContains(t, err, "cannot launch clusters")
	_, err = d.Run(driver.Launch{Function: f, Grid: one, Block: one, Params: [][]byte{u64(1)}}, driver.WholeCard, time.Minute)
	assert.NoError(t, err)
	require.NoError(t, d.Unload(m))
}

// Repeated, because a pointer that the garbage collector moves under C shows only
// now and then.
func TestStubPacksLaunches(t *testing.T) {
	s := openStub(t)
	d, err := driver.OpenCard(s.Library, 0)
	require.NoError(t, err)
	_, err = d.Confine()
	require.NoError(t, err)
	m, err := d.Load([]byte("ptx"), false)
	require.NoError(t, err)
	f, err := d.Function(m, "k_8_4_1", 100<<10)
	require.NoError(t, err)
	assert.Equal(t, []int{8, 4, 1}, f.Params)
	assert.Equal(t, []string{"k_8_4_1 attribute 8 = 231424"}, s.grep("k_8_4_1"), "all that a block may have, less the static part")
	memory, err := d.Alloc(64)
	require.NoError(t, err)
	for i := range 200 {
		l := driver.Launch{Function: f, Grid: [3]uint32{uint32(i) + 1, 2, 3}, Block: [3]uint32{32, 4, 1}, Shared: 512,
			Params: [][]byte{u64(0x1122334455667788 + uint64(i)), u32(uint32(i)), {7}}}
		runtime.GC()
		took, err := d.Run(l, driver.WholeCard, time.Minute)
		require.NoError(t, err)
		assert.Equal(t, 1500*time.Microsecond, took)
		want := fmt.Sprintf("launch k_8_4_1 grid %d,2,3 block 32,4,1 shared 512 on 5001: %x %x 07", i+1, u64(0x1122334455667788+uint64(i)), u32(uint32(i)))
		require.Equal(t, []string{want}, s.log())
	}
	l := driver.Launch{Function: f, Grid: [3]uint32{8, 1, 1}, Block: [3]uint32{128, 1, 1}, Cluster: [3]uint32{4, 0, 0},
		Params: [][]byte{u64(1), u32(2), {3}}, Zero: []driver.FillRange{{At: memory, Bytes: 48}}}
	_, err = d.Run(l, driver.ConfinedPart, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"fill 00 48 on 5008",
		"launchEx k_8_4_1 grid 8,1,1 block 128,1,1 shared 0 on 5008 attribute 4 = 4,1,1 attribute 5 = 1,0,0: 0100000000000000 02000000 03",
	}, s.log())
	_, err = d.Run(driver.Launch{Function: f, Params: [][]byte{u64(1), u32(2)}}, driver.WholeCard, time.Minute)
	assert.ErrorContains(t, err, "k_8_4_1 takes 3 parameters, the plan has 2")
	_, err = d.Run(driver.Launch{Function: f, Params: [][]byte{u64(1), u64(2), {3}}}, driver.WholeCard, time.Minute)
	assert.ErrorContains(t, err, "parameter 1 has 4 bytes, the plan has 8")
	require.NoError(t, d.Free(memory))
	require.NoError(t, d.Unload(m))
	require.NoError(t, d.Close())
	assert.Zero(t, s.live())
}

func TestStubErrors(t *testing.T) {
	s := openStub(t)
	d, err := driver.OpenCard(s.Library, 0)
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Alloc(1 << 40)
	assert.True(t, driver.IsFull(err), "%v", err)
	assert.ErrorContains(t, err, "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory")
	_, err = d.Load([]byte("a syntax error"), false)
	assert.ErrorContains(t, err, "line 1: syntax error", "the compiler's own words")
	m, err := d.Load([]byte("ptx"), false)
	require.NoError(t, err)
	_, err = d.Function(m, "absent", 0)
	assert.ErrorContains(t, err, `entry "absent"`)
	_, err = d.Function(m, "k_8", 1<<20)
	assert.ErrorContains(t, err, "1048576 bytes of shared memory, the card gives a block 232448")
	f, err := d.Function(m, "k", 0)
	require.NoError(t, err)
	one := driver.Launch{Function: f, Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}}
	s.call("stub_not_ready", 3)
	_, err = d.Run(one, driver.WholeCard, time.Minute)
	require.NoError(t, err)
	s.call("stub_fail_next", driver.CodeIllegalAddress)
	_, err = d.Run(one, driver.WholeCard, time.Minute)
	assert.True(t, driver.IsFault(err), "%v", err)
	s.call("stub_not_ready", 1<<30)
	_, err = d.Run(one, driver.WholeCard, time.Millisecond)
	assert.ErrorIs(t, err, driver.ErrHang)
	s.call("stub_not_ready", 0)
	require.NoError(t, d.Unload(m))
}

// A TMA descriptor that a launch takes is encoded with its buffer's address.
func TestStubDescriptor(t *testing.T) {
	s := openStub(t)
	d, err := driver.OpenCard(s.Library, 0)
	require.NoError(t, err)
	m, err := tensorMap(&kernel.TensorMap{ElemType: 6, Swizzle: 3, OOBFill: 1, Shape: []uint64{4096, 1024}, Strides: []uint64{1024, 1}, BlockShape: []uint32{32, 64}})
	require.NoError(t, err)
	for range 200 {
		s.log()
		descriptor, err := d.Encode(m, 0x7000)
		require.NoError(t, err)
		assert.Len(t, descriptor, driver.TensorMapBytes)
		require.Equal(t, []string{"tiled skew 0 type 6 rank 2 tensor 0 dims 1024,4096 strides 2048 box 64,32 steps 1,1 0 3 0 1"}, s.log())
	}
	m.Strides[0] = 8
	_, err = d.Encode(m, 0x7000)
	assert.ErrorContains(t, err, "refuses a TMA descriptor")
	require.NoError(t, d.Close())
	assert.Zero(t, s.live())
}

// A whole replay through the driver's calls: what is filled, copied and launched,
// where, and in which order.
func TestStubReplay(t *testing.T) {
	s := openStub(t)
	d, err := driver.OpenCard(s.Library, 0)
	require.NoError(t, err)
	p := pairPlan("k_8_8_4_8_8", 64, true, true)
	p.Kernels[0].Params = append(p.Kernels[0].Params, Param{Kind: ParamScratch, Bytes: 128}, Param{Kind: ParamNull})
	p.Kernels[0].Zero = []Zero{{Buffer: 1, Bytes: 16}}
	s.log()
	var out Outcome
	require.NoError(t, replayPlan(d, &p, time.Minute, func(string) {}, &out))
	assert.Equal(t, "unconfirmed", out.Verdict(replay.PairShared, NoBuffer).Confirmation)
	var places [][]string
	for _, line := range s.grep("launch") {
		words := strings.Fields(line)
		assert.Equal(t, "40000000", words[len(words)-3], "64 elements")
		assert.Equal(t, "0000000000000000", words[len(words)-1], "the profiler's pointer")
		assert.NotEqual(t, "0000000000000000", words[len(words)-2], "scratch")
		places = append(places, words[len(words)-5:len(words)-3])
	}
	require.Len(t, places, 3+5+5)
	for i, at := range places {
		assert.Equal(t, i < 3, at[0] != at[1], "launch %d: apart first, then in one place", i)
	}
	assert.Equal(t, out.FreeBefore, out.FreeAfter)
	require.NoError(t, d.Close())
	assert.Zero(t, s.live())
}

package jax

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// elements of every array: enough blocks to fill a card many times.
const elements = 1 << 20

// attributes has one of each type that the typed FFI knows.
const attributes = `{flag = %t, a = -1 : i8, b = 2 : i16, c = 3 : i32, d = 4 : i64, e = 5 : ui8, f = 6 : ui16, ` +
	`g = 7 : ui32, h = 8 : ui64, i = 1.5 : f32, j = 2.5 : f64, k = "a \22quoted\22 one", l = array<i64: 1, 2>, m = array<f32: 0.5>}`

// handler is a handler of testdata/handlers, and what is to come of it.
type handler struct {
	name     string
	config   string
	element  string   // f32 where empty
	verdicts []string // of operand 0 and each result, by the trace
	unknown  bool     // the trace may say unknown instead
	differs  bool     // the replay shows it, shared or confined
	maybe    bool     // the replay may show it, or not
}

// handlers are in look-alike pairs. The verdicts are the definition's.
func handlers() []handler {
	safe, unsafe := []string{"safe"}, []string{"unsafe"}
	return []handler{
		{name: "Scale", verdicts: safe}, {name: "Reverse", verdicts: unsafe, differs: true},
		{name: "TileCopy", verdicts: safe}, {name: "Transpose", verdicts: unsafe, differs: true},
		{name: "FlipOrdered", verdicts: safe}, {name: "FlipBare", verdicts: unsafe, maybe: true},
		{name: "CopyOnce", verdicts: safe}, {name: "CopyLate", verdicts: unsafe, differs: true},
		{name: "TwoLaunches", verdicts: safe}, {name: "TwoLaunchesBack", verdicts: unsafe, differs: true},
		{name: "ScratchFirst", verdicts: safe}, {name: "ScratchLate", verdicts: unsafe, differs: true},
		{name: "TwoResults", verdicts: []string{"safe", "safe"}},
		{name: "TwoResultsTurned", verdicts: []string{"unsafe", "unsafe"}, differs: true},
		{name: "Attributes", config: fmt.Sprintf(attributes, true), verdicts: unsafe, differs: true},
		{name: "Attributes", config: fmt.Sprintf(attributes, false), verdicts: safe},
		{name: "Count", element: "s32", verdicts: unsafe, differs: true}, {name: "Exchange", element: "s32", verdicts: safe},
		{name: "Together", verdicts: safe, unknown: true}, {name: "Scattered", verdicts: unsafe, differs: true},
		{name: "BlasCopy", verdicts: safe}, {name: "BlasProduct", verdicts: unsafe, differs: true},
		{name: "ClusterOwn", verdicts: safe}, {name: "ClusterPartner", verdicts: unsafe, differs: true},
		{name: "TensorCopy", verdicts: safe, unknown: true}, {name: "TensorTurned", verdicts: unsafe, unknown: true, differs: true},
	}
}

func (h handler) request() Request {
	element := h.element
	if element == "" {
		element = "f32"
	}
	a := Array{Type: element, Dims: []int64{elements}, Layout: []int64{0}}
	r := Request{Call: Call{Target: h.name, APIVersion: 4, Config: []byte(h.config), Operands: []Array{a}}}
	for k := range max(len(h.verdicts), 1) {
		r.Call.Results = append(r.Call.Results, a)
		r.Pairs, r.Trace = append(r.Pairs, Pair{0, k}), append(r.Trace, Pair{0, k})
	}
	return r
}

// onCard compiles the handlers and starts a session.
func onCard(t testing.TB, trace bool) *Session {
	if os.Getenv("ALIASCHECK_GPU") == "" {
		t.Skip("ALIASCHECK_GPU is not set: this test needs a card, Python with JAX, and nvcc")
	}
	folder, err := filepath.Abs(filepath.Join("..", "..", "testdata", "handlers"))
	require.NoError(t, err)
	python := "python3"
	include, err := exec.Command(python, "-c", "import jax; print(jax.ffi.include_dir())").Output()
	require.NoError(t, err)
	library := filepath.Join(t.TempDir(), "libhandlers.so")
	out, err := exec.Command("nvcc", "-O2", "-shared", "-Xcompiler", "-fPIC", "-std=c++17", "-arch=native", "-lineinfo",
		"-I"+strings.TrimSpace(string(include)), filepath.Join(folder, "handlers.cu"), "-o", library, "-lcublas").CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Setenv("HANDLERS", library)
	s := NewSession(Options{
		Python: python, Platform: "cuda", Imports: []string{"handlers"}, Paths: []string{folder},
		Trace: trace, Library: os.Getenv("ALIASCHECK_SANITIZER"), Silence: 60 * time.Second, Dir: t.TempDir(),
	})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	begin := time.Now()
	ready, err := s.Ready(context.Background())
	require.NoError(t, err)
	require.Empty(t, ready.FailedImports)
	require.Equal(t, trace, ready.Trace, "%s", ready.WithoutTrace)
	t.Logf("JAX %s on %s, ready after %.1f s", ready.JAX, ready.Device, time.Since(begin).Seconds())
	return s
}

// TestGPUHandlers holds replays and traces to what handlers do by definition.
func TestGPUHandlers(t *testing.T) {
	s := onCard(t, true)
	var ratios, records, calls []float64
	for _, h := range handlers() {
		t.Run(h.name+h.config[:min(len(h.config), 12)], func(t *testing.T) {
			begin := time.Now()
			out, err := s.Ask(context.Background(), h.request())
			require.NoError(t, err)
			calls = append(calls, time.Since(begin).Seconds())
			require.Nil(t, out.Fault)
			require.NotNil(t, out.Modes.Trace)
			require.Empty(t, out.Modes.Trace.Reason)
			for k, p := range out.Modes.Trace.Pairs {
				if p.Verdict != "unknown" || !h.unknown {
					assert.Equal(t, h.verdicts[k], p.Verdict, p.Reason)
				}
				if p.Verdict == "unsafe" {
					require.NotNil(t, p.Witness)
					t.Logf("%s: %+v", p.Reason, *p.Witness)
				} else {
					t.Log(p.Verdict, p.Reason)
				}
			}
			differs := false
			for k := range h.verdicts {
				shared, confined := out.Modes.Shared[Pair{0, k}], out.Modes.Confined[Pair{0, k}]
				require.NotNil(t, shared)
				require.NotNil(t, confined)
				assert.Empty(t, shared.Reason+confined.Reason)
				t.Logf("result %d: %d of %d elements differ shared, %d confined", k, shared.Most, elements, confined.Most)
				differs = differs || shared.Most > 0 || confined.Most > 0
			}
			if !h.maybe {
				assert.Equal(t, h.differs, differs)
			}
			assert.True(t, out.Modes.Apart.Placed[0])
			assert.Empty(t, out.Modes.Apart.Written)
			records = append(records, out.Modes.Trace.Recorded)
			ratios = append(ratios, out.Modes.Trace.Seconds/out.Modes.Apart.Seconds)
		})
	}
	slices.Sort(ratios)
	slices.Sort(calls)
	slices.Sort(records)
	t.Logf("a traced call takes %.1f times an untraced one in the median, %.1f at most; with its record %.3f s; a call as a whole %.2f s in the median",
		ratios[len(ratios)/2], ratios[len(ratios)-1], records[len(records)/2], calls[len(calls)/2])
}

// TestGPUConduct: what is wrong with a handler whatever shares memory.
func TestGPUConduct(t *testing.T) {
	s := onCard(t, true)
	ask := func(name string) *Outcome {
		r := handler{name: name}.request()
		out, _ := s.Ask(context.Background(), r)
		require.NotNil(t, out, name)
		return out
	}
	clear := ask("Clear")
	require.Len(t, clear.Modes.Apart.Written, 1)
	assert.Equal(t, int64(elements), clear.Modes.Apart.Written[0].Elements)
	assert.Equal(t, int64(elements), clear.Modes.Trace.Buffers[0].Written)
	half := ask("Half")
	assert.Equal(t, int64(elements/2), half.Modes.Apart.Results[0].Poison)
	assert.Equal(t, int64(elements/2), half.Modes.Trace.Buffers[1].Written)
	add := ask("Add")
	assert.Equal(t, int64(elements), add.Modes.Apart.Results[0].Poison)
	assert.Equal(t, int64(elements), add.Modes.Trace.Buffers[1].ReadFirst)
	stray := ask("Stray")
	require.NotNil(t, stray.Fault)
	assert.False(t, stray.Fault.Hang)
	assert.Equal(t, int64(elements), ask("Scale").Modes.Apart.Results[0].Of)
}

// TestGPUEndures sows faults and hangs among 200 calls: each costs itself alone.
func TestGPUEndures(t *testing.T) {
	s := onCard(t, false)
	s.options.Silence = 8 * time.Second
	before := usedMemory(t)
	faults, hangs, right := 0, 0, 0
	for n := range 200 {
		switch {
		case n%50 == 20:
			out, _ := s.Ask(context.Background(), handler{name: "Forever"}.request())
			require.NotNil(t, out)
			require.NotNil(t, out.Fault)
			assert.True(t, out.Fault.Hang)
			hangs++
		case n%20 == 7:
			out, _ := s.Ask(context.Background(), handler{name: "Stray"}.request())
			require.NotNil(t, out)
			require.NotNil(t, out.Fault)
			faults++
		default:
			name, wrong := "Scale", false
			if n%2 == 1 {
				name, wrong = "Reverse", true
			}
			out, err := s.Ask(context.Background(), handler{name: name}.request())
			require.NoError(t, err)
			require.Nil(t, out.Fault)
			if (out.Modes.Shared[Pair{0, 0}].Most > 0) == wrong {
				right++
			}
		}
	}
	assert.Equal(t, 200-faults-hangs, right)
	require.NoError(t, s.Close())
	left, err := exec.Command("pgrep", "-f", "aliascheck-jax-").Output()
	assert.Error(t, err, "processes are left: %s", left)
	time.Sleep(time.Second)
	after := usedMemory(t)
	assert.LessOrEqual(t, after, before)
	t.Logf("%d faults, %d hangs; device memory %d MiB before and %d after", faults, hangs, before, after)
}

// usedMemory is the card's memory in use, in MiB.
func usedMemory(t *testing.T) int {
	out, err := exec.Command("nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits").Output()
	require.NoError(t, err)
	var n int
	_, err = fmt.Sscan(string(out), &n)
	require.NoError(t, err)
	return n
}

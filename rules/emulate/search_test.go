package emulate

import (
	"context"
	"slices"
	"testing"

	"aliascheck/hlo/kernel"
	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rowScatter is a search over a kernel that the test plays itself: result row
// ids[i] takes data row i. The result has as many rows as given; a row number at
// or past the limit is out of bounds.
type rowScatter struct {
	search
	limit int32
	runs  int
}

func newRowScatter(t *testing.T, rows, resultRows int64, limit int32) *rowScatter {
	f32, s32 := element(t, "f32"), element(t, "s32")
	p := kernelPlan{&replay.Plan{Operands: 2, Buffers: []replay.Buffer{
		{Element: f32, Dims: []int64{rows, 4}, Size: rows * 16, Claimant: -1},
		{Element: s32, Dims: []int64{rows}, Size: rows * 4, Claimant: -1},
		{Element: f32, Dims: []int64{resultRows, 4}, Size: resultRows * 16, Claimant: -1},
	}}}
	c := &configuration{kernel: &kernel.Configuration{Entry: "k"}}
	for n := range 3 {
		c.params = append(c.params, kernel.Param{Kind: kernel.Pointer, Buffer: n})
		c.pointers = append(c.pointers, n)
	}
	s := &rowScatter{search: search{plan: p, config: c}, limit: limit}
	s.run = s.play
	return s
}

func (s *rowScatter) play(_ context.Context, l *ptx.Launch) (*ptx.Outcome, error) {
	s.runs++
	if l.Buffers[1].Contents == nil {
		return &ptx.Outcome{Reason: "an address depends on operand 1", AddressFrom: []int{1}}, nil
	}
	out := &ptx.Outcome{Analysed: true, AddressFrom: []int{1}, Effects: make([]ptx.Effects, 3)}
	var written []ptx.Range
	for _, id := range int32s(l.Buffers[1].Contents) {
		if id < 0 || id >= s.limit {
			out.OutOfBounds = []ptx.Stray{{Nearest: 2}}
			continue
		}
		written = replay.Joined(written, []ptx.Range{{Start: int64(id) * 16, End: int64(id)*16 + 16}})
	}
	out.Effects[2].Written = written
	return out, nil
}

func TestSearchTakesAPermutationWhereItFits(t *testing.T) {
	s := newRowScatter(t, 64, 64, 64)
	a, err := s.find(context.Background())
	require.NoError(t, err)
	require.True(t, a.outcome.Analysed)
	assert.Equal(t, []replay.Recipe{{Operand: 1, Kind: replay.PermutationInput, Seed: 2}}, a.recipes)
	assert.Equal(t, 2, s.runs)
	assert.Nil(t, a.contents[0], "what decides no address is not made up")
	list, made := s.plan.inputs(a)
	assert.True(t, made)
	assert.Equal(t, a.recipes, list)
}

// TestSearchStaysInBounds: 512 indices into 16 rows.
func TestSearchStaysInBounds(t *testing.T) {
	s := newRowScatter(t, 512, 16, 16)
	a, err := s.find(context.Background())
	require.NoError(t, err)
	require.True(t, a.outcome.Analysed)
	assert.Empty(t, a.outcome.OutOfBounds)
	assert.Equal(t, []replay.Recipe{{Operand: 1, Kind: replay.SmallInput, Seed: 2, Bound: 16}}, a.recipes)
}

// TestSearchPrefersWhatWritesMost: no try can write all of 64 rows with 8 indices.
func TestSearchPrefersWhatWritesMost(t *testing.T) {
	s := newRowScatter(t, 8, 64, 64)
	a, err := s.find(context.Background())
	require.NoError(t, err)
	require.True(t, a.outcome.Analysed)
	assert.Equal(t, int64(8*16), replay.Covered(a.outcome.Effects[2].Written))
	assert.LessOrEqual(t, s.runs, maxTries+1)
}

// TestSearchLeavesOutWhatIsNeverTouched: a result without a part of the kernel to
// write it does not keep the search going.
func TestSearchLeavesOutWhatIsNeverTouched(t *testing.T) {
	s := newRowScatter(t, 64, 64, 64)
	s.plan.Buffers = append(s.plan.Buffers, replay.Buffer{Element: element(t, "f32"), Size: 64, Claimant: -1})
	s.config.pointers = append(s.config.pointers, 3)
	s.run = func(ctx context.Context, l *ptx.Launch) (*ptx.Outcome, error) {
		out, err := s.play(ctx, l)
		out.Effects = append(out.Effects, ptx.Effects{})
		return out, err
	}
	_, err := s.find(context.Background())
	require.NoError(t, err)
	assert.Equal(t, 2, s.runs)
}

// TestSearchCountsWhatIsWrittenThroughAnOperand: a declared result without a pointer.
func TestSearchCountsWhatIsWrittenThroughAnOperand(t *testing.T) {
	s := newRowScatter(t, 64, 64, 64)
	s.plan.Operands = 3
	s.plan.Buffers = append(s.plan.Buffers, replay.Buffer{Element: element(t, "f32"), Size: 1024, Claimant: 2})
	_, err := s.find(context.Background())
	require.NoError(t, err)
	assert.Equal(t, 2, s.runs)
}

// TestSearchGivesUp: every index is out of bounds.
func TestSearchGivesUp(t *testing.T) {
	s := newRowScatter(t, 64, 64, 0)
	a, err := s.find(context.Background())
	require.NoError(t, err)
	assert.False(t, a.outcome.Analysed)
	assert.Contains(t, a.outcome.Reason, "inside its buffers")
}

// TestUnreadyWithoutAnAnalysis: that no made-up contents keep a kernel inside its
// buffers does not hide that garbage takes it out of them.
func TestUnreadyWithoutAnAnalysis(t *testing.T) {
	s := newRowScatter(t, 64, 64, 0)
	s.plan.Early = true
	a, err := s.find(context.Background())
	require.NoError(t, err)
	require.False(t, a.outcome.Analysed)
	assert.Equal(t, []int{1}, s.named)
	u := s.unready(context.Background(), s.named, a)
	require.NotNil(t, u)
	assert.NotNil(t, u.Stray)
}

func TestSearchTakesWhatWasFound(t *testing.T) {
	s := newRowScatter(t, 4, 4, 4)
	s.plan.Buffers[1].SetFound([]byte{3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, replay.Recipe{Operand: 1, Kind: replay.LiteralInput, Source: "constant.1"})
	a, err := s.find(context.Background())
	require.NoError(t, err)
	require.True(t, a.outcome.Analysed)
	assert.Equal(t, 1, s.runs)
	list, made := s.plan.inputs(a)
	assert.False(t, made)
	assert.Equal(t, []replay.Recipe{{Operand: 1, Kind: replay.LiteralInput, Source: "constant.1"}}, list)
}

// TestSearchAddsOperands: only with contents of operand 1 does the kernel get as far
// as to need operand 0's; what was found needs nothing.
func TestSearchAddsOperands(t *testing.T) {
	s := newRowScatter(t, 16, 16, 16)
	s.plan.Operands = 3
	s.plan.Buffers = slices.Insert(s.plan.Buffers, 2, replay.Buffer{Element: element(t, "s32"), Size: 4, Claimant: -1})
	s.plan.Buffers[2].SetFound([]byte{1, 0, 0, 0}, replay.Recipe{Operand: 2, Kind: replay.LiteralInput})
	s.config.pointers = append(s.config.pointers, 3)
	s.run = func(_ context.Context, l *ptx.Launch) (*ptx.Outcome, error) {
		s.runs++
		out := &ptx.Outcome{AddressFrom: []int{1, 2}, Effects: make([]ptx.Effects, 4)}
		switch {
		case l.Buffers[1].Contents == nil:
		case l.Buffers[0].Contents == nil:
			out.AddressFrom = []int{0, 1, 2}
		default:
			out.Analysed, out.AddressFrom = true, []int{0, 1, 2}
			out.Effects[3].Written = []ptx.Range{{Start: 0, End: 256}}
		}
		return out, nil
	}
	a, err := s.find(context.Background())
	require.NoError(t, err)
	require.True(t, a.outcome.Analysed)
	assert.Equal(t, 3, s.runs)
	assert.Equal(t, []replay.Recipe{{Operand: 0, Kind: replay.RandomInput, Seed: 1}, {Operand: 1, Kind: replay.PermutationInput, Seed: 2}}, a.recipes)
}

// TestSearchLooksThroughClaimedResults: a claimed result starts as its operand.
func TestSearchLooksThroughClaimedResults(t *testing.T) {
	s := newRowScatter(t, 64, 64, 64)
	s.plan.Buffers[2].Claimant = 1
	s.run = func(_ context.Context, l *ptx.Launch) (*ptx.Outcome, error) {
		known := l.Buffers[2].Contents != nil
		return &ptx.Outcome{Analysed: known, AddressFrom: []int{2}, Effects: make([]ptx.Effects, 3)}, nil
	}
	s.plan.Buffers[1].Size = s.plan.Buffers[2].Size
	a, err := s.find(context.Background())
	require.NoError(t, err)
	require.True(t, a.outcome.Analysed)
	assert.Equal(t, 1, a.recipes[0].Operand)
	assert.Equal(t, a.contents[1], s.plan.apart(a.contents).buffers[2].Contents)
}

func TestTriesAreBounded(t *testing.T) {
	s := newRowScatter(t, 64, 64, 64)
	s.plan.Operands = 12
	s.plan.Buffers = nil
	for n := range 13 {
		s.plan.Buffers = append(s.plan.Buffers, replay.Buffer{Element: element(t, "s32"), Dims: []int64{int64(n + 2), 7, 9}, Size: 64, Claimant: -1})
	}
	tries := s.plan.tries([]int{0, 3, 7, 11})
	assert.Len(t, tries, maxTries)
	for _, try := range tries {
		assert.Len(t, try, 4)
	}
}

func TestUnreadyOperandsHoldGarbage(t *testing.T) {
	for _, tt := range []struct {
		name  string
		early bool
		ready bool
		limit int32
		want  string
	}{
		{"tuned when the call executes", false, false, 64, "none"},
		{"a parameter", true, true, 64, "none"},
		{"computed", true, false, 64, "stray"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newRowScatter(t, 64, 64, tt.limit)
			s.plan.Early, s.plan.Buffers[1].Ready = tt.early, tt.ready
			a, err := s.find(context.Background())
			require.NoError(t, err)
			u := s.unready(context.Background(), []int{1}, a)
			if tt.want == "none" {
				assert.Nil(t, u)
				return
			}
			require.NotNil(t, u.Stray)
			assert.Equal(t, []int{1}, u.Operands)
			assert.Equal(t, replay.RandomInput, u.Inputs[0].Kind)
		})
	}
}

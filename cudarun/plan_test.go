package cudarun

import (
	"encoding/json"
	"testing"

	"aliascheck/cudarun/driver"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	whole := func(f func(p *Plan)) Plan {
		p := tuned()
		f(&p)
		return p
	}
	for _, c := range []struct {
		name string
		plan Plan
		want string
	}{
		{"no kernel", whole(func(p *Plan) { p.Kernels = nil }), "0 kernels"},
		{"no code", whole(func(p *Plan) { p.Kernels[0].PTX = nil }), "neither PTX nor cubin"},
		{"no entry", whole(func(p *Plan) { p.Kernels[1].Entry = "" }), "configuration 1"},
		{"negative size", whole(func(p *Plan) { p.Buffers[1].Bytes = -1 }), "-1 bytes"},
		{"huge size", whole(func(p *Plan) { p.Buffers[1].Bytes = 1 << 62 }), "bytes, want"},
		{"short contents", whole(func(p *Plan) { p.Buffers[0].Contents = []byte{1} }), "1 bytes of contents for 4000"},
		{"a result with contents", whole(func(p *Plan) { p.Buffers[1].Contents = ramp(testElements) }), "a result with contents"},
		{"claims nothing that is", whole(func(p *Plan) { p.Buffers[1].Claims = 7 }), "no operand"},
		{"claims itself", whole(func(p *Plan) { p.Buffers[1].Claims = 1 }), "no operand"},
		{"claims another size", whole(func(p *Plan) { p.Buffers[1].Bytes = 8 }), "claims operand 0 of 4000 bytes"},
		{"an operand claims", whole(func(p *Plan) { p.Buffers[0].Claims = 0 }), "a operand claims"},
		{"role", whole(func(p *Plan) { p.Buffers[0].Role = "friend" }), `unknown role "friend"`},
		{"no grid", whole(func(p *Plan) { p.Kernels[0].Grid[1] = 0 }), "not launchable"},
		{"big grid", whole(func(p *Plan) { p.Kernels[0].Grid[2] = 65536 }), "not launchable"},
		{"big block", whole(func(p *Plan) { p.Kernels[0].Block = [3]uint32{1024, 2, 1} }), "2048 threads"},
		{"cluster", whole(func(p *Plan) { p.Kernels[0].Cluster = [3]uint32{2, 1, 1} }), "in clusters of"},
		{"parameter outside", whole(func(p *Plan) { p.Kernels[0].Params[0].Buffer = 2 }), "points to buffer 2 of 2"},
		{"offset outside", whole(func(p *Plan) { p.Kernels[0].Params[0].Offset = 4001 }), "outside buffer 0"},
		{"scalar", whole(func(p *Plan) { p.Kernels[0].Params[2].Scalar = nil }), "a scalar of 0 bytes"},
		{"scratch", whole(func(p *Plan) { p.Kernels[0].Params[2] = Param{Kind: ParamScratch, Bytes: 8, Align: 3} }), "aligned to 3"},
		{"descriptor", whole(func(p *Plan) { p.Kernels[0].Params[0] = Param{Kind: ParamTensor, Tensors: []Tensor{{}}} }), "no TMA descriptor"},
		{"no descriptors", whole(func(p *Plan) { p.Kernels[0].Params[0] = Param{Kind: ParamTensor} }), "0 TMA descriptors"},
		{"descriptor of no buffer", whole(func(p *Plan) { p.Kernels[0].Params[0] = Param{Kind: ParamTensor, Tensors: []Tensor{{Buffer: 9}}} }), "of buffer 9"},
		{"descriptor of rank 9", whole(func(p *Plan) {
			p.Kernels[0].Params[0] = Param{Kind: ParamTensor, Tensors: []Tensor{{Map: &driver.TensorMap{Rank: 9}}}}
		}), "of rank 9"},
		{"kind", whole(func(p *Plan) { p.Kernels[0].Params[2].Kind = "" }), "unknown kind"},
		{"zero outside", whole(func(p *Plan) { p.Kernels[0].Zero = []Zero{{1, 4001}} }), "outside"},
		{"places", whole(func(p *Plan) { p.Shared = p.Shared[:1] }), "1 places for 2 buffers"},
		{"group", whole(func(p *Plan) { p.Shared[0].Group = 2 }), "group 2"},
		{"phase", whole(func(p *Plan) { p.Trials.Phase = "never" }), "unknown phase"},
		{"trials without a layout", whole(func(p *Plan) { p.Shared = nil }), "no layout"},
		{"tolerance", whole(func(p *Plan) { p.Tolerance = 1 }), "tolerance"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.ErrorContains(t, c.plan.Check(), c.want)
			_, err := replayOn(t, newFake(), c.plan)
			assert.ErrorContains(t, err, c.want, "a replay checks for itself")
		})
	}
	good := tuned()
	assert.NoError(t, good.Check())
}

func TestTwoClaimsOfOneOperand(t *testing.T) {
	p := pairPlan("scale", 8, false, true)
	p.Buffers = append(p.Buffers, p.Buffers[1])
	assert.ErrorContains(t, p.Check(), "which buffer 1 claims too")
}

// No memory can hold two different values: starting from one would differ by our doing.
func TestOverlappingOperandsMustAgree(t *testing.T) {
	p := gatherPlan(true)
	p.Shared[1].Group = 0
	assert.ErrorContains(t, p.Check(), "hold different contents")
	p.Buffers[1].Contents = p.Buffers[0].Contents
	assert.NoError(t, p.Check())
}

func TestKey(t *testing.T) {
	a, b := tuned(), tuned()
	b.Name, b.Buffers[0].Label, b.Buffers[0].Origin = "another", "words", "words"
	assert.Equal(t, a.Key(), b.Key(), "words are not compared")
	b.Buffers[0].Contents[5]++
	assert.NotEqual(t, a.Key(), b.Key())
	b = tuned()
	b.Buffers[0].Contents = nil
	assert.NotEqual(t, a.Key(), b.Key())
	b = tuned()
	b.Kernels[1].Grid[0]++
	assert.NotEqual(t, a.Key(), b.Key())
}

func TestPlanTravels(t *testing.T) {
	p := tuned(SaveEntry{1, 2, 3})
	body, err := json.Marshal(p)
	require.NoError(t, err)
	var q Plan
	require.NoError(t, json.Unmarshal(body, &q))
	q.Buffers[0].Contents = p.Buffers[0].Contents
	assert.Empty(t, cmp.Diff(p, q))
}

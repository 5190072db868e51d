package syntax

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAddsFloatsAtomically(t *testing.T) {
	cases := []struct {
		code string
		want bool
	}{
		{"atom.global.add.f32 %f1, [%rd1], %f2;", true},
		{"@%p1 atom.global.gpu.acq_rel.add.noftz.bf16x2 %r1, [%rd1], %r2;", true},
		{"red.relaxed.gpu.global.add.v4.f32 [%rd1], {%f1, %f1, %f1, %f1};", true},
		{"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd1], [%r1], 64;", true},
		{"call adds;", true},
		{"atom.global.add.u32 %r1, [%rd1], %r2;", false},
		{"atom.global.exch.b32 %r1, [%rd1], %r2;", false},
		{"atom.global.min.f32 %f1, [%rd1], %f2;", false},
		{"red.global.and.b32 [%rd1], %r1;", false},
		{"add.f32 %f1, %f1, %f2;", false},
		{"redux.sync.add.s32 %r1, %r2, -1;", false},
	}
	for _, c := range cases {
		m, err := Parse("k", []byte(`.version 8.7
.target sm_90a
.address_size 64
.func adds() { .reg .f32 %f<3>; .reg .b64 %rd<2>; red.global.add.f32 [%rd1], %f1; ret; }
.entry other() { call adds; ret; }
.entry k() { .reg .f32 %f<3>; .reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .pred %p<2>; `+c.code+` ret; }`))
		require.NoError(t, err, c.code)
		assert.Equal(t, c.want, m.Entry("k").AddsFloatsAtomically(), c.code)
	}
}

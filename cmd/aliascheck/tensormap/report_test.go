package tensormap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aliascheck/cmd/aliascheck/report"
	"aliascheck/cudarun/driver"
	"aliascheck/rules"
	tma "aliascheck/rules/tensormap"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeEncoder answers by a table: the first stride's code.
type fakeEncoder struct {
	codes  map[uint64]int
	closed bool
}

func (f *fakeEncoder) Encode(d *tma.Descriptor) (int, error) {
	code, ok := f.codes[d.Strides[0]]
	if !ok {
		return 0, errors.New("no memory")
	}
	return code, nil
}
func (f *fakeEncoder) About() string { return "driver 1.2.3, a fake" }
func (f *fakeEncoder) Close() error  { f.closed = true; return nil }

func twoDims(stride uint64) tma.Entry {
	return tma.Entry{Kind: tma.Printed, Descriptor: tma.Descriptor{Known: tma.TiledFields, TensorMap: 64,
		DataType: tma.BFloat16, Rank: 2, Address: 4096, Dims: []uint64{128, 64}, Strides: []uint64{stride}, Box: []uint64{64, 64},
		ElementStrides: []uint64{1, 1}, Swizzle: tma.Swizzle128B}}
}

// Both verdicts are printed, and a difference is said plainly, each way round.
func TestDriverVerdicts(t *testing.T) {
	r := New("x")
	for _, stride := range []uint64{256, 2, 272, 6, 512} {
		r.Add(twoDims(stride))
	}
	fake := &fakeEncoder{codes: map[uint64]int{256: 0, 2: 1, 272: 1, 6: 0}}
	r.AskDriver(func() (Encoder, error) { return fake, nil })
	assert.True(t, fake.closed)
	full := r.Audit(rules.Tool{})
	var text bytes.Buffer
	require.NoError(t, r.WriteText(&text, full, report.Options{Width: 80}))
	assert.Contains(t, text.String(), "answers 0 CUDA_SUCCESS, as the rules say")
	assert.Contains(t, text.String(), "answers 1 CUDA_ERROR_INVALID_VALUE, as the rules say")
	flat := strings.Join(strings.Fields(text.String()), " ")
	assert.Contains(t, flat, "answers 1 CUDA_ERROR_INVALID_VALUE: THE VERDICTS DIFFER: the driver refuses what breaks no documented rule")
	assert.Contains(t, flat, "answers 0 CUDA_SUCCESS: THE VERDICTS DIFFER: the driver accepts what the documented rules refuse")
	assert.Contains(t, flat, "not asked: no memory")
	assert.Len(t, full.Findings, 3, "2 and 6 by the rules, 272 by the driver")
	assert.Empty(t, full.Summary.Incomplete)
}

func TestNoDriverIsNotWhole(t *testing.T) {
	r := New("x")
	r.Add(twoDims(256))
	r.AskDriver(func() (Encoder, error) { return nil, errors.New("no NVIDIA driver") })
	full := r.Audit(rules.Tool{})
	require.Len(t, full.Summary.Incomplete, 1)
	assert.Contains(t, full.Summary.Incomplete[0].Error, "no NVIDIA driver")
}

// The number of distinct descriptors that are kept is bounded, and the rest counts.
func TestManyDescriptors(t *testing.T) {
	r := New("x")
	for i := range uint64(maxDescriptors + 5) {
		r.Add(twoDims(16 * (i + 16)))
		r.Add(twoDims(16 * (i + 16)))
	}
	assert.Len(t, r.groups, maxDescriptors)
	assert.Equal(t, 2, r.groups[0].prints)
	full := r.Audit(rules.Tool{})
	require.Len(t, full.Summary.Incomplete, 1)
	assert.Contains(t, full.Summary.Incomplete[0].Error, "10 prints of further descriptors")
}

// measuredRow is a row of the table that was measured; its other reader is the test of
// package tensormap.
type measuredRow struct {
	Case                      string
	Type, Interleave, Swizzle int
	L2, Fill, Code            int
	Offset                    uint64 `json:"address_offset"`
	Dims, Strides, Box        []uint64
	ElementStrides            []uint64 `json:"element_strides"`
}

func (m *measuredRow) descriptor() tma.Descriptor {
	return tma.Descriptor{Known: tma.TiledFields, TensorMap: 64, DataType: tma.DataType(m.Type), Rank: len(m.Dims),
		Address: 4096 + m.Offset, Dims: m.Dims, Strides: m.Strides, Box: m.Box, ElementStrides: m.ElementStrides,
		Interleave: tma.Interleave(m.Interleave), Swizzle: tma.Swizzle(m.Swizzle),
		L2Promotion: tma.L2Promotion(m.L2), OOBFill: tma.OOBFill(m.Fill)}
}

// TestGPUTensormaps asks the driver of this machine about every row of the table again,
// and about every repair that the rules offer. It needs libcuda and a card; with
// ALIASCHECK_GPU=1 it fails where there is none.
func TestGPUTensormaps(t *testing.T) {
	e, err := OpenDriver()
	if err != nil {
		if os.Getenv("ALIASCHECK_GPU") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	defer e.Close()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "rules", "tensormap", "testdata", "measured.json"))
	require.NoError(t, err)
	var rows []measuredRow
	require.NoError(t, json.Unmarshal(text, &rows))
	require.NotEmpty(t, rows)
	for _, row := range rows { // no subtests: the driver's context belongs to this thread
		d := row.descriptor()
		code, err := e.Encode(&d)
		require.NoError(t, err)
		assert.Equal(t, row.Code, code, "%s: %s", row.Case, e.About())
		if j := tma.Judge(d); j.Fix != nil {
			code, err := e.Encode(&j.Fix.Corrected)
			require.NoError(t, err)
			assert.Zero(t, code, "%s: the repair: %+v", row.Case, j.Fix.Changes)
		}
	}
}

// What a descriptor's parameters become on the way to the driver.
func TestNarrowing(t *testing.T) {
	e := driverEncoder{&driver.TensorMapEncoder{}}
	d := twoDims(256).Descriptor
	d.Box[0] = 1 << 40
	_, err := e.Encode(&d)
	assert.ErrorContains(t, err, "boxDim[0] is 1099511627776")
	d = twoDims(256).Descriptor
	d.Known &^= tma.FieldSwizzle
	_, err = e.Encode(&d)
	assert.ErrorContains(t, err, "swizzle not known")
	d = twoDims(256).Descriptor
	d.Dims = d.Dims[:1]
	_, err = e.Encode(&d)
	assert.ErrorContains(t, err, "shorter than the rank")
}

// Text stays within its width, whatever the log holds, and nothing in it reaches the
// terminal raw.
func TestTextWidthAndEscapes(t *testing.T) {
	var log strings.Builder
	for _, l := range strings.Split("TMA Desc Addr:   0x40\nformat         9\ndim            5\ngmem_address   0x7f4c49e08801\n"+
		"globalDim      (128,18446744073709551615,18446744073709551615,18446744073709551615,1)\n"+
		"globalStrides  (2,18446744073709551615,18446744073709551615,18446744073709551615,18446744073709551615)\n"+
		"boxDim         (64,0,0,0,0)\nelementStrides (9,9,9,9,9)\ninterleave     0\nswizzle        3\nl2Promotion    2\noobFill        0\n"+
		"Error: Failed to initialize the TMA descriptor 1", "\n") {
		fmt.Fprintf(&log, "[rank\x07\u202e %d] %s\n", 7, l)
	}
	var out bytes.Buffer
	r := New("-")
	r.ReadLog(strings.NewReader(log.String()))
	full := r.Audit(rules.Tool{})
	assert.Equal(t, 1, full.Summary.Errors)
	require.NoError(t, r.WriteText(&out, full, report.Options{Width: 80}))
	for _, line := range strings.Split(out.String(), "\n") {
		if strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "    ") {
			assert.LessOrEqual(t, len([]rune(line)), 80, line)
		}
	}
	assert.NotContains(t, out.String(), "\x07")
	assert.NotContains(t, out.String(), "\u202e")
}

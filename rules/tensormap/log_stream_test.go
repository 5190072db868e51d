package tensormap

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Characters of three processes in one line, as in a real report.
func TestGarbledLines(t *testing.T) {
	got, stats := readAll(t, `dim            )(,31024,
globalStrides  256(2
gmem_address   ,2,0
globalDim      0,10241024,(,,0256)
boxDim         256128,(,00,64,,,00128)0,,1,
boxDim         1),4(
boxDim         1,64()641,,128
elementStrides ,1,1(128)
globalStrides  ,1,(11,,2,11,,1)11024,1
interleave     ,,1(00,1
oobFill        ,130128
,Error: Failed to initialize the TMA descriptor 12,11
1)0TMA Desc Addr:   0x7ffc46db4a00,
format         1Error: Failed to initialize the TMA descriptor )1
swizzle        9
gmem_address   10
`)
	require.NotEmpty(t, got)
	for _, e := range got {
		if e.Kind == Printed {
			assert.NotEmpty(t, e.Problems)
			assert.NotEqual(t, Accepted, e.Judgement().Verdict)
		}
	}
	assert.EqualValues(t, 1, stats.Unread)
}

// A log that begins or ends in the middle of a print.
func TestCutPrints(t *testing.T) {
	lines := append(good()[5:], good()...)
	got, _ := readAll(t, strings.Join(append(lines, good()[:6]...), "\n"))
	require.Len(t, got, 3)
	assert.NotEmpty(t, got[0].Problems)
	assert.Equal(t, Undecided, got[0].Judgement().Verdict)
	assert.Empty(t, got[1].Problems)
	assert.Equal(t, Accepted, got[1].Judgement().Verdict)
	assert.NotEmpty(t, got[2].Problems)
	assert.Equal(t, Undecided, got[2].Judgement().Verdict)
}

// A progress bar does not end its line.
func TestPrintsAfterProgressBars(t *testing.T) {
	text := strings.Join(good(), "\n")
	for _, before := range []string{"\r  5%|5         | 1/20 [00:01<00:19,  1.00s/it]", "\r 10%|1\r 15%|2\r", "loading..."} {
		got, stats := readAll(t, before+text)
		require.Len(t, got, 1)
		assert.Empty(t, got[0].Problems)
		assert.True(t, got[0].Descriptor.Has(FieldTensorMap))
		assert.Zero(t, stats.Unread)
	}
}

// logSource makes a log of a size without holding it: lines of noise, prints of
// ever new ranks, lines without an end.
type logSource struct {
	left  int64
	buf   []byte
	block int
}

func (s *logSource) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, io.EOF
	}
	for len(s.buf) < len(p) {
		s.block++
		switch {
		case s.block%4096 == 0:
			s.buf = append(s.buf, strings.Repeat("x", 1<<20)...)
		case s.block%16 == 0:
			prefix := fmt.Sprintf("[rank%d]: ", s.block)
			for _, l := range cutlassPrint("0x7f4c49e08800", "(128,1,32,1,1)", "(2,2,256,0,0)", "(64,128,1,1,1)") {
				s.buf = append(append(append(s.buf, prefix...), l...), '\n')
			}
		default:
			s.buf = append(s.buf, strings.Repeat("2025-11-22 22:22:32 INFO [rank3]: step 17 of 1000, loss 2.125, 3.2 TFLOP/s\n", 60)...)
		}
	}
	n := copy(p, s.buf)
	s.buf = append(s.buf[:0], s.buf[n:]...)
	s.left -= int64(n)
	return n, nil
}

func TestGigabyteLogInBoundedMemory(t *testing.T) {
	size := int64(1 << 30)
	if testing.Short() {
		size = 64 << 20
	}
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	prints, peak := 0, uint64(0)
	stats, err := ReadLog(&logSource{left: size}, func(e Entry) {
		prints++
		if prints%2000 == 0 {
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapInuse)
		}
		if e.Judgement().Cause.Kind != CauseSizeOneStride {
			t.Errorf("line %d: %+v", e.First, e)
		}
	})
	require.NoError(t, err)
	assert.Greater(t, prints, int(size>>22))
	assert.Positive(t, stats.LongLines)
	assert.Less(t, peak, before.HeapInuse+32<<20, "heap in use at its peak, in bytes")
}

func TestManyStreamsAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "[rank%d]: gmem_address   0x7f4c49e08800\n", i)
	}
	got, _ := readAll(t, text.String())
	assert.Len(t, got, 5000)
	for _, e := range got {
		assert.NotEmpty(t, e.Problems)
	}
}

//go:build linux

package cudarun

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"aliascheck/cudarun/driver"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
					for i, dev := range []driver.Device{d, fake} {
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

func compareOn(t *testing.T, dev driver.Device, buffers [4][]byte, references int, e element, limit tolerance) (Difference, float64) {
	t.Helper()
	bytes := int64(len(buffers[0]))
	memory, err := newArena(dev, roundUp(reportBytes)+4*roundUp(bytes))
	require.NoError(t, err)
	report, err := memory.take(reportBytes)
	require.NoError(t, err)
	c, err := newComparer(dev, report)
	require.NoError(t, err)
	var at [4]driver.Address
	for i := range at {
		at[i], err = memory.take(bytes)
		require.NoError(t, err)
		require.NoError(t, dev.Upload(at[i], buffers[i]))
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
	require.NoError(t, d.Fill(x, 1, bytes))
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
		if err := d.Copy(y, x, bytes); err != nil {
			return err
		}
		return d.Download(small, y)
	})
	compared := best(func() error { // 2 GiB of traffic
		_, err := c.bytes(x, reference{y}, bytes, elementOf("f32"), tolerance{})
		return err
	})
	require.NoError(t, d.Fill(y, 2, bytes/2))
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

package hlo

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkRead reads copies of the largest real dump, and in the same run the same
// bytes through one reused buffer: read() alone, which no reader can beat.
func BenchmarkRead(b *testing.B) {
	data, err := os.ReadFile(one(b, "transformer_step"))
	require.NoError(b, err)
	paths := make([]string, 40)
	for i := range paths {
		paths[i] = filepath.Join(b.TempDir(), "module.hlo.pb")
		require.NoError(b, os.WriteFile(paths[i], data, 0o600))
	}
	r := NewReader(Limits{})
	buf := make([]byte, 1<<20)
	var reader, floor time.Duration
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for i := 0; b.Loop(); i++ {
		path := paths[i%len(paths)]
		start := time.Now()
		_, err := r.Read(Source{Path: path})
		reader += time.Since(start)
		require.NoError(b, err)
		b.StopTimer()
		start = time.Now()
		readAll(b, path, buf)
		floor += time.Since(start)
		b.StartTimer()
	}
	b.ReportMetric(float64(floor)/float64(reader), "of-read()")
	b.ReportMetric(float64(len(data)*b.N)/floor.Seconds()/1e6, "floor-MB/s")
}

// readAll reads a file through one buffer.
func readAll(tb testing.TB, path string, buf []byte) {
	f, err := os.Open(path)
	require.NoError(tb, err)
	defer f.Close()
	for {
		if _, err := f.Read(buf); err == io.EOF {
			return
		}
		require.NoError(tb, err)
	}
}

// one is the proto of a real dump.
func one(tb testing.TB, name string) string {
	files, err := filepath.Glob(filepath.Join("../testdata/dumps", name, "*.hlo.pb"))
	require.NoError(tb, err)
	require.Len(tb, files, 1)
	return files[0]
}

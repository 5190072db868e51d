package hlo

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// treeVariable names a folder that internal/benchtree made.
const treeVariable = "ALIASCHECK_BENCH_TREE"

// BenchmarkTree finds and reads all modules of a tree, and in the same run, in turn,
// reads the same bytes through one reused buffer: the floor that no reader can beat.
func BenchmarkTree(b *testing.B) {
	tree := os.Getenv(treeVariable)
	if tree == "" {
		b.Skip(treeVariable + " is not set")
	}
	r := NewReader(Limits{})
	buf := make([]byte, 1<<20)
	var reader, floor time.Duration
	bytes := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		for src, err := range Find([]string{tree}, Limits{}) {
			require.NoError(b, err)
			_, err = r.Read(src)
			require.NoError(b, err)
		}
		reader += time.Since(start)
		b.StopTimer()
		start = time.Now()
		bytes += readTree(b, tree, buf)
		floor += time.Since(start)
		b.StartTimer()
	}
	b.ReportMetric(float64(bytes)/reader.Seconds()/1e6, "MB/s")
	b.ReportMetric(float64(bytes)/floor.Seconds()/1e6, "floor-MB/s")
	b.ReportMetric(float64(floor)/float64(reader), "of-floor")
}

// readTree reads all files of a folder and returns how many bytes they had.
func readTree(tb testing.TB, folder string, buf []byte) int64 {
	entries, err := os.ReadDir(folder)
	require.NoError(tb, err)
	total := int64(0)
	for _, entry := range entries {
		f, err := os.Open(filepath.Join(folder, entry.Name()))
		require.NoError(tb, err)
		for {
			n, err := f.Read(buf)
			total += int64(n)
			if err == io.EOF {
				break
			}
			require.NoError(tb, err)
		}
		require.NoError(tb, f.Close())
	}
	return total
}

// BenchmarkStep reads the largest real dump again and again: what decoding, linking
// and checking cost when the file comes from the nearest cache.
func BenchmarkStep(b *testing.B) {
	path := one(b, "transformer_step")
	info, err := os.Stat(path)
	require.NoError(b, err)
	r := NewReader(Limits{})
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		_, err := r.Read(Source{Path: path})
		require.NoError(b, err)
	}
}

// one is the proto of a real dump.
func one(tb testing.TB, name string) string {
	files, err := filepath.Glob(filepath.Join("../testdata/dumps", name, "*.hlo.pb"))
	require.NoError(tb, err)
	require.Len(tb, files, 1)
	return files[0]
}

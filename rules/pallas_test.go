package rules_test

import (
	"os"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// pallasDir are dumps of Pallas kernels, by XLA's Triton and by Mosaic GPU, with the
// files that their compilers wrote.
const pallasDir = "../testdata/pallas"

// TestPallasDumps holds each to its line of expect.txt, and to having been analysed.
func TestPallasDumps(t *testing.T) {
	dirs, err := os.ReadDir(pallasDir)
	require.NoError(t, err)
	want, seen := expectedIn(t, pallasDir, true), 0
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		seen++
		t.Run(d.Name(), func(t *testing.T) {
			require.Contains(t, want, d.Name(), "expect.txt does not know this dump")
			r := auditKernels(t, path.Join("../pallas", d.Name()))
			if diff := cmp.Diff(want[d.Name()], graver(r)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			require.Empty(t, r.Summary.Unanalysed)
			source := map[string]string{"pt": "pallas", "mg": "mosaic"}[d.Name()[:2]]
			require.Equal(t, source, r.Calls[0][0].KernelSource)
		})
	}
	require.Len(t, want, seen, "expect.txt names dumps that are not there")
}

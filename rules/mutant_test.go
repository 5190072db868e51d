package rules_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"aliascheck/hlo"
	"aliascheck/rules"

	"github.com/stretchr/testify/require"
)

// TestMutantsAreAudited flips bytes of real modules: what the reader still takes, the audit
// of all values gets through.
func TestMutantsAreAudited(t *testing.T) {
	var files []string
	for _, pattern := range []string{"cpu/*/*.hlo.pb", "assignment/*/*.hlo.pb", "sharded/*.hlo.pb", "sharded/*/*.hlo.pb"} {
		found, err := filepath.Glob(filepath.Join("../testdata", pattern))
		require.NoError(t, err)
		files = append(files, found...)
	}
	require.Greater(t, len(files), 20)
	rnd := rand.New(rand.NewPCG(1, 2))
	reader, auditor := hlo.NewReader(hlo.Limits{}), rules.NewAuditor(rules.Options{Maps: true})
	path := filepath.Join(t.TempDir(), "m_after_optimizations.hlo.pb")
	taken := 0
	for range 600 {
		data, err := os.ReadFile(files[rnd.IntN(len(files))])
		require.NoError(t, err)
		for range 1 + rnd.IntN(3) {
			at := rnd.IntN(len(data))
			switch rnd.IntN(3) {
			case 0:
				data[at] ^= 1 << rnd.IntN(8)
			case 1:
				data[at] = byte(rnd.IntN(256))
			default:
				data[at] = data[rnd.IntN(len(data))]
			}
		}
		require.NoError(t, os.WriteFile(path, data, 0o600))
		m, err := reader.Read(hlo.Source{Path: path})
		if err != nil {
			continue
		}
		taken++
		auditor.Module(context.Background(), m)
	}
	require.Greater(t, taken, 200)
}

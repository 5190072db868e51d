package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aliascheck/hlo"
	"aliascheck/rules"
	"aliascheck/rules/confirm"
	"aliascheck/rules/emulate"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The PTX machine and a real card agree on every case of the corpus: what an H200
// showed is on record (cudarun's tests renew it), what the machine says is asked here.
func TestMachineAgreesWithTheCard(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	record := filepath.Join("..", "..", "cudarun", "testdata", "h200_verdicts.json")
	b, err := os.ReadFile(record)
	require.NoError(t, err)
	var rows []struct {
		Call     string            `json:"call"`
		Verdicts map[string]string `json:"verdicts"`
	}
	require.NoError(t, json.Unmarshal(b, &rows))
	require.NotEmpty(t, rows)
	audited := map[string]*rules.ModuleReport{}
	for _, row := range rows {
		name, instruction, _ := strings.Cut(strings.TrimSuffix(row.Call, ", shared by force"), ": ")
		if audited[name] == nil {
			audited[name] = auditDump(t, name)
		}
		t.Run(row.Call, func(t *testing.T) {
			if strings.HasSuffix(row.Call, ", shared by force") {
				assert.Equal(t, row.Verdicts["AC201"] == "confirmed", pairIsUnsafe(t, audited[name], instruction))
				return
			}
			for code, shown := range row.Verdicts {
				agree(t, audited[name], instruction, code, shown)
			}
		})
	}
}

// agree holds the machine to what a card showed of one code on one call.
func agree(t *testing.T, r *rules.ModuleReport, instruction, code, shown string) {
	t.Helper()
	switch code {
	case "AC901": // of a run's bits the machine has no opinion
		return
	case "AC903": // it names the access instead
		code = "AC206"
	case "AC204": // only where somebody reads the bytes
		return
	case "AC206":
		if shown != "confirmed" { // a card shows no stray read that stays inside its memory
			return
		}
	}
	confirmed := false
	for _, f := range r.Findings {
		confirmed = confirmed || f.Code == code && f.Instruction == instruction && f.Confirmation == rules.Confirmed
	}
	assert.Equal(t, shown == "confirmed", confirmed, "%s: the card says %s", code, shown)
}

// pairIsUnsafe says whether the machine finds operand 0 and the first result unsafe.
func pairIsUnsafe(t *testing.T, r *rules.ModuleReport, instruction string) bool {
	t.Helper()
	for _, c := range r.Calls {
		for _, p := range c.Pairs {
			if c.Instruction == instruction && p.Operand == 0 {
				require.NotEqual(t, "unknown", p.Verdict)
				return p.Verdict == "unsafe"
			}
		}
	}
	require.Fail(t, "no such pair", instruction)
	return false
}

// auditDump judges a case's module, with kernels run and findings replayed.
func auditDump(t *testing.T, name string) *rules.ModuleReport {
	t.Helper()
	for src, err := range hlo.Find([]string{filepath.Join("..", "..", "testdata", "dumps", name)}, hlo.Limits{}) {
		require.NoError(t, err)
		m, err := hlo.NewReader(hlo.Limits{}).Read(src)
		require.NoError(t, err)
		runner := confirm.New(emulate.New(emulate.Options{}))
		return rules.NewAuditor(rules.Options{Runner: runner}).Module(context.Background(), m)
	}
	require.Fail(t, "no module", name)
	return nil
}

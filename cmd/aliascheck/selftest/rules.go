package selftest

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"aliascheck/hlo"
	"aliascheck/rules"
	"aliascheck/rules/confirm"
	"aliascheck/rules/emulate"
)

// modules are real dumps of testdata, and dumps that its fault injector bent
// (the prefix says to which rule). go:embed allows nothing but a package variable.
//
//go:embed modules
var modules embed.FS

// ruleControl is a rule with a module in which it must find something, and one in
// which it must not. AC204 and AC205 are shown to the engines themselves, AC901 and
// AC903 to a card alone.
type ruleControl struct{ code, found, clean string }

func ruleControlList() []ruleControl {
	return []ruleControl{
		{"AC101", "ac101_scale_apart", "scale_apart"},
		{"AC102", "ac102_scale_inplace", "scale_inplace"},
		{"AC103", "ac103_sort_probs_half_claimed", "sort_probs_half_claimed"},
		{"AC104", "ac104_sort_in_cond", "sort_in_cond"},
		{"AC105", "ac105_scale_inplace", "scale_inplace"},
		{"AC106", "ac106_axpby_inplace", "axpby_inplace"},
		{"AC107", "jax_39625", "optax_kept"},
		{"AC108", "jax_39100", "optax_kept"},
		{"AC201", "reverse_inplace", "softmax_inplace"},
		{"AC202", "sort_unclaimed_ffi", "scale_apart"},
		{"AC203", "operand_written", "scale_apart"},
		{"AC206", "stray_read", "scale_apart"},
		{"AC210", "sort_claimed_v2_auto", "scale_apart"},
		{"AC301", "scale_inplace_auto_untold", "scale_inplace_auto_told"},
		{"AC302", "sort_donated_ffi_auto", "sort_kept_ffi_auto"},
		{"AC303", "sort_computed_map_ffi_auto", "sort_computed_map_v2_auto"},
		{"AC304", "scale_inplace_auto_rawindex_ffi", "scale_inplace_auto_told"},
		{"AC401", "tma_stride8", "tma_copy"},
		{"AC402", "late_copy", "scale_apart"},
		{"AC902", "lost_phase", "scale_apart"},
	}
}

// ruleControls audits each control as the command would, without a card.
func ruleControls(ctx context.Context, _ []int) ([]row, error) {
	codes := map[string][]string{}
	audit := func(name string) ([]string, error) {
		if known, ok := codes[name]; ok {
			return known, nil
		}
		found, err := auditEmbedded(ctx, name)
		codes[name] = found
		return found, err
	}
	var rows []row
	for _, c := range ruleControlList() {
		for _, module := range []string{c.found, c.clean} {
			shown := row{engine: "rules", name: module, code: c.code, found: module == c.found}
			found, err := audit(module)
			if err != nil {
				shown.said = err.Error()
			} else {
				shown.ok, shown.said = slices.Contains(found, c.code) == shown.found, fmt.Sprintf("found %v", found)
			}
			rows = append(rows, shown)
		}
	}
	return rows, nil
}

// auditEmbedded returns the codes of what an audit of one module finds.
func auditEmbedded(ctx context.Context, name string) ([]string, error) {
	data, err := modules.ReadFile("modules/" + name + ".hlo.pb")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "aliascheck-selftest-") // the reader reads files
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, name+"_after_optimizations.hlo.pb")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return nil, err
	}
	m, err := hlo.NewReader(hlo.Limits{}).Read(hlo.Source{Path: path})
	if err != nil {
		return nil, err
	}
	runner := confirm.New(emulate.New(emulate.Options{Time: time.Minute, NoReplay: true}))
	var found []string
	for _, f := range rules.NewAuditor(rules.Options{Runner: runner}).Module(ctx, m).Findings {
		found = append(found, f.Code)
	}
	return found, nil
}

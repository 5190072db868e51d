package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aliascheck/rules"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGPUCompileAgrees compiles testdata/kernels on a card, and for the same card as if it
// were absent: both dumps must give the same findings and verdicts. It needs a card and a
// Python with JAX (ALIASCHECK_PYTHON, else python3), and no Go: a test binary will do.
func TestGPUCompileAgrees(t *testing.T) {
	if os.Getenv("ALIASCHECK_GPU") == "" {
		t.Skip("run by `make test-gpu`, on a machine with a GPU")
	}
	python := cmp.Or(os.Getenv("ALIASCHECK_PYTHON"), "python3")
	pkg, err := filepath.Abs(filepath.Join("..", "..", "testdata", "kernels"))
	require.NoError(t, err)
	real := filepath.Join(t.TempDir(), "real")
	cmd := exec.Command(python, filepath.Join(pkg, "compare.py"), real)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var names []string
	for _, line := range strings.Split(string(out), "\n") {
		if name, ok := strings.CutPrefix(line, "compiled "); ok {
			names = append(names, name)
		} else if strings.HasPrefix(line, "left out ") || strings.HasPrefix(line, "device ") {
			t.Log(line)
		}
	}
	require.GreaterOrEqual(t, len(names), 30, "programs that compile on the card")

	var what []string
	for _, module := range []string{"with_jax_triton", "with_pallas", "with_mosaic", "without_kernels"} {
		what = append(what, "kernels."+module+":programs")
	}
	t.Chdir(pkg)
	onCard := auditOf(t, real)
	absent := auditOf(t, append([]string{"compile", "--keep", "none", "--python", python, "--target-config", filepath.Join(real, "target.pbtxt")}, what...)...)

	withCard, conflicts := ownAssignment(findingsOf(onCard, names))
	without, others := ownAssignment(findingsOf(absent, names))
	assert.Equal(t, withCard, without, "findings")
	// Seen: the state of plain_returned_state, on the card alone. More is news.
	assert.LessOrEqual(t, len(conflicts), 1, "findings on XLA's own assignment on the card: %v", conflicts)
	assert.Subset(t, conflicts, others, "findings on XLA's own assignment without a card")
	if !slices.Equal(conflicts, others) { // one device's program is lowered for a mesh of one where there is no card
		t.Logf("XLA's own assignment differs: %v on the card, %v without it", conflicts, others)
	}
	card, none := callsOf(onCard), callsOf(absent)
	kernels := 0
	for _, name := range names {
		assert.Equal(t, card[name].kernels, none[name].kernels, name)
		kernels += len(card[name].kernels)
		if !slices.Equal(card[name].library, none[name].library) {
			t.Logf("%s: XLA's own calls differ: %v on the card, %v without it", name, card[name].library, none[name].library)
		}
	}
	assert.Greater(t, kernels, 20)
	t.Logf("%d programs, %d calls of kernels, %d findings", len(names), kernels, len(findingsOf(onCard, names)))
}

// ownAssignment parts findings on kernels from those on what XLA itself laid where: these
// may differ between two compilations of one program.
func ownAssignment(list []string) (kernels, assignment []string) {
	for _, f := range list {
		if strings.HasPrefix(f, "AC107 ") || strings.HasPrefix(f, "AC108 ") {
			assignment = append(assignment, f)
		} else {
			kernels = append(kernels, f)
		}
	}
	return kernels, assignment
}

// auditOf runs the command with these arguments, and reads its report.
func auditOf(t *testing.T, args ...string) *rules.Report {
	path := filepath.Join(t.TempDir(), "report.json")
	all := []string{"--quiet", "--no-cache", "--replay", "emulate", "--output", "json=" + path}
	if args[0] == "compile" {
		all, args = append([]string{"compile"}, all...), args[1:]
	}
	var stdout, stderr bytes.Buffer
	run(append(all, args...), nil, &stdout, &stderr)
	text, err := os.ReadFile(path)
	require.NoError(t, err, stderr.String())
	var r rules.Report
	require.NoError(t, json.Unmarshal(text, &r))
	for _, x := range r.Summary.Incomplete {
		t.Logf("not read: %s: %s", x.Path, x.Error)
	}
	return &r
}

// findingsOf are the findings without what a dump's numbers and places decide.
func findingsOf(r *rules.Report, names []string) []string {
	var out []string
	for _, f := range r.Findings {
		if !slices.Contains(names, strings.TrimPrefix(f.Module, "jit_")) {
			continue
		}
		operand := -1
		if f.Operand != nil {
			operand = *f.Operand
		}
		out = append(out, fmt.Sprintf("%s %s %s operand %d%v result %v %s in %d calls", f.Code, f.Severity, f.Kernel, operand, f.OperandIndex, f.ResultIndex, f.Confirmation, f.Calls))
	}
	slices.Sort(out)
	return out
}

// programCalls are a program's calls: of kernels with their verdicts, and of libraries.
type programCalls struct{ kernels, library []string }

func callsOf(r *rules.Report) map[string]programCalls {
	out := map[string]programCalls{}
	for c := range r.Calls.All() {
		name := strings.TrimPrefix(c.Module, "jit_")
		p := out[name]
		if c.Configurations == 0 && c.Unanalysed == "" {
			p.library = append(p.library, c.Target)
		} else {
			text := fmt.Sprintf("%s %s: %d configurations, %q", c.Target, c.Kernel, c.Configurations, c.Unanalysed)
			for _, pair := range c.Pairs {
				text += fmt.Sprintf("; %d%v %v declared %v shared %v: %s by %s", pair.Operand, pair.OperandIndex, pair.ResultIndex, pair.Declared, pair.Shared, pair.Verdict, pair.Basis)
			}
			p.kernels = append(p.kernels, text)
		}
		slices.Sort(p.kernels)
		slices.Sort(p.library)
		out[name] = p
	}
	return out
}

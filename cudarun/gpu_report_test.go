//go:build linux

package cudarun

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// corpusVerdicts records every verdict on every call (testdata/h200_verdicts.json),
// for tests that hold other engines to what a card showed.
func corpusVerdicts(t *testing.T, outcomes []Outcome) string {
	t.Helper()
	var rows []recordRow
	for _, o := range outcomes {
		r := recordRow{o.Plan, map[string]string{}}
		for _, code := range []string{"AC201", "AC203", "AC204", "AC205", "AC206", "AC301", "AC302", "AC303", "AC901", "AC902", "AC903"} {
			if v := o.Verdict(question(code), NoBuffer); v.Confirmation != "unchecked" {
				r.Verdicts[code] = v.Confirmation
			}
		}
		rows = append(rows, r)
	}
	lines := make([]string, len(rows))
	for i, r := range rows {
		b, err := json.Marshal(r)
		require.NoError(t, err)
		lines[i] = " " + string(b)
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]\n"
}

func stopped(o Outcome) bool {
	for _, c := range o.Configurations {
		if c.Stop != nil {
			return true
		}
	}
	return o.Trials != nil && o.Trials.AsWritten != nil && o.Trials.AsWritten.Stop != nil
}

// corpusTable is the measured table of docs/gpu-replay.md.
func corpusTable(outcomes []Outcome) string {
	var b strings.Builder
	about := outcomes[0].Device
	fmt.Fprintf(&b, "%s, compute capability %d.%d, %d multiprocessors, CUDA %s, driver %s\n\n", about.Name, about.Capability/10, about.Capability%10, about.SMs, about.Driver, about.Release)
	b.WriteString("| call | apart | shared, whole card | shared, confined | trials | kernel, compile, whole |\n| --- | --- | --- | --- | --- | --- |\n")
	seen := map[string]bool{}
	for _, o := range outcomes {
		if seen[o.Key] {
			continue
		}
		seen[o.Key] = true
		for n, c := range o.Configurations {
			trials := ""
			if n == 0 {
				trials = trialCell(o.Trials)
			}
			name := o.Plan
			if len(o.Configurations) > 1 {
				name += fmt.Sprintf(", configuration %d", n)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s, %s, %s |\n", name, apartCell(c), modeCell(c.Shared), modeCell(c.Confined), trials,
				c.KernelTime.Round(time.Microsecond), c.CompileTime.Round(time.Millisecond), o.Times.Total.Round(time.Millisecond))
		}
	}
	return b.String()
}

func apartCell(c ConfigOutcome) string {
	if c.Stop != nil {
		return fmt.Sprintf("%s (%s, run %d)", c.Stop.Kind, c.Stop.Mode, c.Stop.Run)
	}
	var words []string
	for _, l := range []struct {
		what string
		list []Difference
	}{{"unstable", c.Apart.Unstable}, {"poisoned", c.Apart.Poisoned}, {"not written", c.Apart.Unwritten}, {"operand changed", c.Apart.Changed}} {
		for _, d := range l.list {
			words = append(words, fmt.Sprintf("%s: %d of %d %s of %s", l.what, d.Count, d.Of, d.Unit, d.Label))
		}
	}
	if len(words) == 0 {
		return "equal"
	}
	return strings.Join(words, "; ")
}

func modeCell(m *ModeOutcome) string {
	switch {
	case m == nil:
		return "-"
	case m.Reason != "":
		return m.Reason
	case m.Differing == 0:
		return fmt.Sprintf("equal, %d of %d", m.Runs, m.Runs)
	}
	of := int64(0)
	for _, d := range m.Worst {
		of += d.Of
	}
	return fmt.Sprintf("%d of %d differ, %d to %d of %d elements (%.4f%%)", m.Differing, m.Runs, m.Least, m.Most, of, 100*float64(m.Most)/float64(max(of, 1)))
}

func trialCell(o *TrialOutcome) string {
	if o == nil {
		return "-"
	}
	if o.AsWritten == nil {
		return o.Reason
	}
	text := fmt.Sprintf("%s, %d launches: ", o.Phase, o.Launches)
	if s := o.AsWritten.Stop; s != nil {
		return text + fmt.Sprintf("%s at launch %d", s.Kind, s.Run)
	}
	words := []string{}
	for _, d := range o.AsWritten.Results {
		words = append(words, fmt.Sprintf("%d of %d wrong in %s", d.Count, d.Of, d.Label))
	}
	for _, d := range o.AsWritten.Overwritten {
		words = append(words, fmt.Sprintf("%s overwritten in %d of %d", d.Label, d.Count, d.Of))
	}
	if len(words) == 0 {
		words = append(words, "right")
	}
	return text + strings.Join(words, "; ")
}

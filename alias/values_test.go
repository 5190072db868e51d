package alias

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"aliascheck/hlo"
)

// usedValue is a value as XLA lists it: where it can be found, and who reads it.
type usedValue struct {
	id        int64
	positions []place
	uses      []place
}

// place is an instruction's result at a shape index, or that of its operand.
type place struct {
	instruction string
	operand     int // -1: the result
	index       hlo.ShapeIndex
}

// TestResolveAgainstUsedValues holds the forwarding to XLA's own list of each value's
// positions and uses, in both formats of every dump that has the list: a file of its
// own in newer releases, the end of the buffer assignment in older ones.
func TestResolveAgainstUsedValues(t *testing.T) {
	dumps, positions, uses := 0, 0, 0
	for _, path := range modulesOf(t, "dumps", "cpu", "old", "healthy") {
		values := usedValues(t, path)
		if len(values) == 0 {
			continue
		}
		dumps++
		m, err := hlo.NewReader(hlo.Limits{}).Read(hlo.Source{Path: path})
		require.NoError(t, err)
		p, u := againstValues(t, m, values, false)
		positions, uses = positions+p, uses+u

		base := strings.TrimSuffix(path, ".hlo.pb")
		m, err = hlo.NewReader(hlo.Limits{}).Read(hlo.Source{
			Path: base + ".txt", Text: true, Assignment: base + "-buffer-assignment.txt",
		})
		require.NoError(t, err)
		againstValues(t, m, values, true)
	}
	require.Greater(t, dumps, 50)
	require.Greater(t, positions, 1250)
	require.Greater(t, uses, 900)
}

// againstValues resolves every position and every use of the values, and counts them.
// Text lacks some get-tuple-elements, and what fusions call is not decoded: such
// positions are passed over.
func againstValues(t *testing.T, m *hlo.Module, values []usedValue, text bool) (positions, uses int) {
	named := map[string]int32{}
	for i := range m.Instructions {
		named[m.Instructions[i].Name] = int32(i)
	}
	var r resolver
	r.reset(m)
	for _, v := range values {
		for _, p := range append(v.positions, v.uses...) {
			at, ok := named[p.instruction]
			if !ok && (text || leavesOut(m)) {
				continue
			}
			require.True(t, ok, "%s: no instruction %q", m.Path, p.instruction)
			positions++
			if p.operand >= 0 {
				positions, uses = positions-1, uses+1
				at = m.Instructions[at].Operands[p.operand]
			}
			got, err := r.resolve(at, p.index)
			require.NoError(t, err, "%s: value %d at %v", m.Path, v.id, p)
			require.Equal(t, v.id, m.Values[got].ID, "%s: value at %v", m.Path, p)
		}
	}
	return positions, uses
}

// leavesOut reports whether computations that are no fusions were not decoded.
func leavesOut(m *hlo.Module) bool {
	return slices.ContainsFunc(m.Computations, func(c hlo.Computation) bool { return !c.Decoded && !c.Fusion })
}

// modulesOf are the optimized modules in folders of testdata.
func modulesOf(t *testing.T, folders ...string) []string {
	var list []string
	for _, folder := range folders {
		root := filepath.Join("..", "testdata", folder)
		require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(path, "after_optimizations.hlo.pb") {
				list = append(list, path)
			}
			return err
		}))
	}
	return list
}

// usedValues reads the list that belongs to a module; it is empty where there is none.
func usedValues(t *testing.T, path string) []usedValue {
	base := strings.TrimSuffix(path, ".hlo.pb") + "-buffer-assignment"
	text, err := os.ReadFile(base + "-values.txt")
	if err != nil {
		text, err = os.ReadFile(base + ".txt")
		require.NoError(t, err)
	}
	_, list, found := strings.Cut(string(text), "Used values:\n")
	if !found {
		return nil
	}
	list, _, _ = strings.Cut(list, "\n\n") // live ranges, in older releases
	// Some releases forget the line's end after an instruction.
	list = regexp.MustCompile(`<\d+ \S+( \(phi\))? @\d+>\n positions:`).ReplaceAllString(list, "\n$0")
	value := regexp.MustCompile(`^<(\d+) \S+( \(phi\))? @\d+>$`)
	located := regexp.MustCompile(`^  ([^ ,]+)(?:, operand (\d+))?(?: \{([\d,]*)\})?$`)
	var values []usedValue
	var section string
	for _, line := range strings.Split(list, "\n") {
		switch found := value.FindStringSubmatch(line); {
		case found != nil:
			id, err := strconv.ParseInt(found[1], 10, 64)
			require.NoError(t, err)
			values = append(values, usedValue{id: id})
		case line == " positions:" || line == " uses:":
			section = line
		case strings.HasPrefix(line, " from instruction:") || line == "" || line == "  (none)":
		default:
			found := located.FindStringSubmatch(line)
			require.NotNil(t, found, "%s: %q", path, line)
			v := &values[len(values)-1]
			if section == " uses:" {
				v.uses = append(v.uses, placeOf(t, found))
			} else {
				v.positions = append(v.positions, placeOf(t, found))
			}
		}
	}
	return values
}

// placeOf is what a line of the list names: instruction, operand, index.
func placeOf(t *testing.T, found []string) place {
	p := place{instruction: found[1], operand: -1}
	if found[2] != "" {
		_, err := fmt.Sscan(found[2], &p.operand)
		require.NoError(t, err)
	}
	for _, n := range strings.FieldsFunc(found[3], func(c rune) bool { return c == ',' }) {
		i, err := strconv.ParseInt(n, 10, 64)
		require.NoError(t, err)
		p.index = append(p.index, i)
	}
	return p
}

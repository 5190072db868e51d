package hlo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pairTexts are the files of a text pair; list is empty where there is none.
func pairTexts(t testing.TB, src Source) (text, assignment, list []byte) {
	text, err := os.ReadFile(src.Path)
	require.NoError(t, err)
	assignment, err = os.ReadFile(src.Assignment)
	require.NoError(t, err)
	list, _ = os.ReadFile(strings.TrimSuffix(src.Assignment, ".txt") + "-values.txt")
	return text, assignment, list
}

// readCut reads a text pair from memory, with its list of values where that has a name.
func readCut(r *Reader, text, assignment, list []byte, values string) error {
	_, err := r.Read(Source{
		Path: "m.txt", Text: true, Assignment: "a.txt", Values: values,
		member: &member{text: text, assignment: assignment, values: list},
	})
	return err
}

// TestTextCut cuts the files of every text pair of testdata behind every line, and
// small ones at every byte: always an error. Only what nothing is read from may be cut
// off without one: white space at the end, and the live ranges behind the assignment's
// list of values in older releases.
func TestTextCut(t *testing.T) {
	for _, src := range pairs(t) {
		t.Run(strings.TrimPrefix(filepath.ToSlash(filepath.Dir(src.Path)), "../testdata/"), func(t *testing.T) {
			t.Parallel()
			text, assignment, list := pairTexts(t, src)
			r := NewReader(Limits{})
			require.NoError(t, readCut(r, text, assignment, list, ""))
			for _, at := range cuts(text, bytes.LastIndexByte(text, '}')+1) {
				require.ErrorContains(t, readCut(r, text[:at], assignment, nil, ""), "m.txt", "module cut at %d", at)
			}
			allocations, _, _ := bytes.Cut(assignment, []byte("\n\n"))
			for _, at := range cuts(assignment, readEnd(assignment)) {
				if len(bytes.TrimSpace(assignment[:at])) == len(allocations) {
					continue
				}
				require.Error(t, readCut(r, text, assignment[:at], nil, ""), "assignment cut at %d", at)
			}
			if len(list) == 0 {
				return
			}
			require.NoError(t, readCut(r, text, assignment, list, "v.txt"))
			for _, at := range cuts(list, len(list)) {
				require.ErrorContains(t, readCut(r, text, assignment, list[:at], "v.txt"), "v.txt", "values cut at %d", at)
			}
			for _, at := range cuts(assignment, len(assignment)) {
				require.Error(t, readCut(r, text, assignment[:at], list, "v.txt"), "assignment beside values cut at %d", at)
			}
		})
	}
}

// cuts are the places before end at which a file is cut: the starts of its lines, and
// all of them where there are few. Of the few giant files it skips most lines that are
// far from the end.
func cuts(file []byte, end int) []int {
	const small, giant, sampled = 2 << 10, 64 << 10, 16
	var list []int
	line := 0
	for at := range end {
		start := at == 0 || file[at-1] == '\n'
		if start {
			line++
		}
		if start && (len(file) < giant || line%sampled == 0 || end-at < small) || len(file) < small {
			list = append(list, at)
		}
	}
	return list
}

// readEnd is where the part of an assignment ends that is read.
func readEnd(assignment []byte) int {
	list := bytes.Index(assignment, []byte("Used values:\n"))
	if list < 0 {
		return len(assignment)
	}
	if n := bytes.Index(assignment[list:], []byte("\n\n")); n >= 0 {
		return list + n
	}
	return len(assignment)
}

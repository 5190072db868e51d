package hlo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// used is a list of values as XLA prints it; bytes is the total.
func used(bytes string, values ...string) string {
	list := "\nTotal bytes used: " + bytes + " (16B)\n\nUsed values:\n"
	for _, v := range values {
		list += "<" + v + " @0>\n positions:\n  x\n uses:\n  (none)\n from instruction: %x = f32[2]{0} add()\n"
	}
	return list
}

// TestTextUsedValues holds the list of values and the assignment to each other.
func TestTextUsedValues(t *testing.T) {
	text, assignment := oneCall("  ROOT %c = f32[2]{0} add(%p, %p)\n"), oneAssignment("c")
	for _, test := range []struct{ list, want string }{
		{used("16", "0 p", "1 c"), ""},
		{used("16", "0 p", "1 c") + "\nHloLiveRange (max 2):\n", ""},
		{strings.Replace(used("16", "0 p", "1 c"), ")\n<1", ")<1", 1), ""},
		{used("16"), "value 0 is not listed: cut off?"},
		{used("16", "0 p"), "value 1 is not listed: cut off?"},
		{used("16", "0 p", "1 c", "2 d"), "value 2 lies in no allocation"},
		{used("16", "0 p", "2 d"), "value 2 lies in no allocation"},
		{used("16", "1 c", "0 p"), "out of order"},
		{used("17", "0 p", "1 c"), "total is not the allocations' 16 bytes"},
		{used("x"), "number of 64 bits expected"},
		{used("16", "0 p", "one c"), "number of 64 bits expected"},
		{strings.TrimSuffix(used("16", "0 p", "1 c"), "\n"), "does not end: cut off?"},
		{strings.TrimSuffix(used("16", "0 p", "1 c"), " from instruction: %x = f32[2]{0} add()\n"), "does not end: cut off?"},
		{"\nTotal bytes used: 16 (16B)\n", `"Used values" expected`},
		{"\nUsed values:\n", `"Total bytes used" expected`},
		{"\n", `"Total bytes used" expected`},
	} {
		beside := readCut(NewReader(Limits{}), []byte(text), []byte(assignment), []byte(test.list), "v.txt")
		behind := readCut(NewReader(Limits{}), []byte(text), []byte(assignment+test.list), nil, "")
		if test.want == "" {
			require.NoError(t, beside)
			require.NoError(t, behind)
			continue
		}
		require.ErrorContains(t, beside, test.want)
		require.ErrorContains(t, beside, "v.txt:")
		if len(test.list) > 1 { // else the assignment ends
			require.ErrorContains(t, behind, test.want)
			require.ErrorContains(t, behind, "a.txt:")
		}
	}
}

// TestFindUsedValues finds the list beside the pair, in folders, by one of the files and
// in archives, and reads it.
func TestFindUsedValues(t *testing.T) {
	dump := files{
		stepText: oneCall("  ROOT %c = f32[2]{0} add(%p, %p)\n"), stepAssignment: oneAssignment("c"),
		stepValues: used("16", "0 p", "1 c"),
	}
	read := func(path string) error {
		for src, err := range Find([]string{path}, Limits{}) {
			require.NoError(t, err)
			require.True(t, strings.HasSuffix(src.Values, stepValues), src.Values)
			_, err = NewReader(Limits{}).Read(src)
			return err
		}
		return errNothing
	}
	for _, cut := range []bool{false, true} {
		if cut {
			dump[stepValues] = used("16", "0 p")
		}
		folder := dump.write(t)
		archive := filepath.Join(t.TempDir(), "a.tar")
		require.NoError(t, os.WriteFile(archive, tarred(t,
			[2]string{stepValues, dump[stepValues]}, [2]string{stepText, dump[stepText]}, [2]string{stepAssignment, dump[stepAssignment]}), 0o600))
		for _, path := range []string{folder, filepath.Join(folder, stepText), filepath.Join(folder, stepAssignment), archive} {
			if err := read(path); cut {
				require.ErrorContains(t, err, stepValues+":11:1: value 1 is not listed", path)
			} else {
				require.NoError(t, err, path)
			}
		}
	}
}

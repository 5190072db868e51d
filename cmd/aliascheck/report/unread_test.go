package report

import (
	"bytes"
	"strings"
	"testing"

	"aliascheck/rules"

	"github.com/stretchr/testify/require"
)

// TestUnreadInEveryFormat: several errors of one input stand on one line where the
// format has one for them, without the path again, and nothing is escaped that the
// reader wrote itself.
func TestUnreadInEveryFormat(t *testing.T) {
	r := &rules.Report{Summary: rules.Summary{Incomplete: []rules.Incomplete{
		{Path: "d/m.txt", Error: "d/m.txt:3:5: no name\nd/m.txt:4:1: no type\nd/m-buffer-assignment.txt:7:1: cut off?"},
	}}}
	for _, format := range Formats() {
		var out bytes.Buffer
		write, _ := Lookup(format)
		require.NoError(t, write(&out, r, Options{}))
		text := strings.ReplaceAll(out.String(), `\`, "")
		require.NotContains(t, text, "x0a", format)
		switch format {
		case "json":
		case "text":
			require.Contains(t, text, "  unread   d/m.txt:3:5: no name\n           d/m.txt:4:1: no type\n           d/m-buffer-assignment.txt:7:1: cut off?\n")
		default:
			require.Contains(t, text, "3:5: no name; 4:1: no type; d/m-buffer-assignment.txt:7:1: cut off?", format)
		}
	}
}

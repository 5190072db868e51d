package report

import (
	"fmt"
	"strings"

	"aliascheck/rules"
)

// unread says which inputs could not be read, and why: together where they have all of
// the reason in common, and with one line for each error that was found.
func (t *textWriter) unread(all []rules.Incomplete) {
	alike := map[string][]string{}
	for _, x := range all {
		alike[x.Error] = append(alike[x.Error], x.Path)
	}
	listed := 0
	for _, x := range all {
		paths := alike[x.Error]
		if paths == nil {
			continue
		}
		delete(alike, x.Error)
		if listed++; listed > maxListed {
			continue
		}
		t.unreadFor(x)
		if len(paths) > 1 {
			t.prose("", fmt.Sprintf("and %d more like it: %s", len(paths)-1, list(paths[1:], maxAlike)))
		}
	}
	t.more("unread", listed)
}

// maxAlike is how many inputs are named that cannot be read for another's reason.
const maxAlike = 4

// unreadFor says why an input could not be read. Errors in a text pair name the file
// themselves.
func (t *textWriter) unreadFor(x rules.Incomplete) {
	word := "unread"
	for _, line := range strings.Split(x.Error, "\n") {
		if word != "" && !strings.HasPrefix(line, strings.TrimSuffix(x.Path, ".txt")) {
			line = x.Path + ": " + line
		}
		t.prose(word, line)
		word = ""
	}
}

// reason is why an input could not be read, on one line, for formats that name the
// input before it: errors in that file begin with the place in it.
func reason(x rules.Incomplete) string {
	lines := strings.Split(x.Error, "\n")
	for i, line := range lines {
		lines[i] = Clean(strings.TrimPrefix(line, x.Path+":"))
	}
	return strings.Join(lines, "; ")
}

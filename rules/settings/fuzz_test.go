package settings

import (
	"strings"
	"testing"
)

// FuzzConfig holds the readers of our YAML files to: no panic, and errors that name
// the file. What a baseline writes, it reads again.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "version: 1\n", "suppress: []\n", "suppress:\n- {code: AC101, kernel: k, reason: r}\n",
		"suppress:\n- code: AC201\n  target: '*'\n  operand: 3\n  result: '{1}'\n  expires: 2027-01-01\n  reason: r\n",
		"kernels:\n- name: k\n  unsafe: [{operand: 0, result: 1}]\n", "library-code: [a, b:c]\nlibrary-targets: ['x*']\n",
		"version: 1\nfindings:\n- fingerprint: abc\n  code: AC101\n", "a: &x [*x]\n", "a: &a [b]\nc: *a\n", "- - - - -\n", "\x00", "---\n---\n",
		"? {a: b}\n: c\n", "version: !!binary AAA=\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := ParseConfig("c.yaml", data); err != nil && !strings.HasPrefix(err.Error(), "c.yaml") {
			t.Errorf("an error without its file: %v", err)
		}
		b, err := ParseBaseline("b.yaml", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "b.yaml") {
				t.Errorf("an error without its file: %v", err)
			}
			return
		}
		again, err := ParseBaseline("b.yaml", b.Bytes())
		if err != nil {
			t.Fatalf("written and read again: %v", err)
		}
		if len(again.Entries) != len(b.Entries) {
			t.Errorf("written and read again: %d of %d entries", len(again.Entries), len(b.Entries))
		}
	})
}

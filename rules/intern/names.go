// Package intern keeps one copy of texts that come again and again.
package intern

import "strings"

// Names keeps one copy of each text that many calls have: targets, kernels,
// computations, reasons. A report of 20,000 modules names a dozen targets.
type Names struct {
	kept map[string]string
	text []byte
}

// MaxNames bounds what is kept: a hostile dump has a name of its own for each call.
const MaxNames = 1 << 12

// Keep returns a copy of s that does not depend on the module's memory.
func (n *Names) Keep(s string) string {
	if k, ok := n.kept[s]; ok {
		return k
	}
	return n.add(strings.Clone(s))
}

// KeepBytes is Keep of a text that is still in somebody's buffer.
func (n *Names) KeepBytes(s []byte) string {
	if k, ok := n.kept[string(s)]; ok {
		return k
	}
	return n.add(string(s))
}

// Join returns the parts as one text, which is mostly one that was there before.
func (n *Names) Join(parts ...string) string {
	n.text = n.text[:0]
	for _, s := range parts {
		n.text = append(n.text, s...)
	}
	return n.KeepBytes(n.text)
}

func (n *Names) add(k string) string {
	if n.kept == nil || len(n.kept) >= MaxNames {
		n.kept = map[string]string{}
	}
	n.kept[k] = k
	return k
}

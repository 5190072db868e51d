package rules

import "strings"

// names keeps one copy of each text that many calls have: targets, kernels,
// computations, reasons. A report of 20,000 modules names a dozen targets.
type names struct {
	kept map[string]string
	text []byte
}

// maxNames bounds what is kept: a hostile dump has a name of its own for each call.
const maxNames = 1 << 12

// keep returns a copy of s that does not depend on the module's memory.
func (n *names) keep(s string) string {
	if k, ok := n.kept[s]; ok {
		return k
	}
	return n.add(strings.Clone(s))
}

// keepBytes is keep of a text that is still in somebody's buffer.
func (n *names) keepBytes(s []byte) string {
	if k, ok := n.kept[string(s)]; ok {
		return k
	}
	return n.add(string(s))
}

// join returns the parts as one text, which is mostly one that was there before.
func (n *names) join(parts ...string) string {
	n.text = n.text[:0]
	for _, s := range parts {
		n.text = append(n.text, s...)
	}
	return n.keepBytes(n.text)
}

func (n *names) add(k string) string {
	if n.kept == nil || len(n.kept) >= maxNames {
		n.kept = map[string]string{}
	}
	n.kept[k] = k
	return k
}

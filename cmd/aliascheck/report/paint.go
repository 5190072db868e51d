package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"aliascheck/rules"
)

// painter colours text for a terminal, or leaves it.
type painter struct{ on bool }

func (p painter) wrap(code, s string) string {
	if !p.on {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p painter) bold(s string) string { return p.wrap("1", s) }
func (p painter) dim(s string) string  { return p.wrap("2", s) }
func (p painter) red(s string) string  { return p.wrap("31", s) }

func (p painter) severity(sev rules.Severity, s string) string {
	switch sev {
	case rules.Error:
		return p.wrap("1;31", s)
	case rules.Warning:
		return p.wrap("1;33", s)
	}
	return p.wrap("1;36", s)
}

// Clean makes a name from a dump safe to print: control characters, escape
// sequences, invisible and direction-changing characters and invalid UTF-8 are
// shown as escapes.
func Clean(s string) string {
	plain := true
	for _, r := range s {
		if r == unicode.ReplacementChar || !printable(r) {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == unicode.ReplacementChar && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case printable(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

func printable(r rune) bool {
	return unicode.IsPrint(r) && !unicode.Is(unicode.Cf, r)
}

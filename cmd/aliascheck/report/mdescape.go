package report

import "strings"

// prose makes text safe to stand between words of GitHub's Markdown: no markup, no
// HTML, nobody mentioned, no links. A zero-width space parts what GitHub would
// otherwise turn into a mention, a reference or a link.
func prose(text string) string {
	text = Clean(text)
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch c {
		case '\\', '`', '*', '_', '{', '}', '[', ']', '(', ')', '!', '|', '~', '$', '+', '-', '=', '^':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '@', '#':
			b.WriteByte(c)
			b.WriteString("\u200b")
		case ':':
			b.WriteByte(c)
			if strings.HasPrefix(text[i:], "://") {
				b.WriteString("\u200b")
			}
		case '.':
			b.WriteByte(c)
			if i >= 3 && strings.EqualFold(text[i-3:i], "www") {
				b.WriteString("\u200b")
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// code makes a name a code span, in which Markdown means nothing. Inside a table a
// bar must be escaped even there.
func code(name string) string {
	name = Clean(name)
	if name == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(name, '`')+1)
	name = strings.ReplaceAll(name, "|", `\|`)
	if strings.HasPrefix(name, "`") || strings.HasSuffix(name, "`") || strings.HasPrefix(name, " ") {
		name = " " + name + " "
	}
	return fence + name + fence
}

func longestRun(s string, c byte) int {
	most, run := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}

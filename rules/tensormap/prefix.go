package tensormap

import (
	"bytes"
	"strings"
)

// maxStream is the longest name of a stream that is told apart, in bytes.
const maxStream = 96

// textStart is where a line's own text starts after what launchers put before it:
// timestamps and levels, and the marks by which processes are told apart, such as
// "[rank3]:", "3: " (srun -l), "(pid=7120)" or "(RayWorker pid=7, ip=10.0.0.1)" (Ray),
// "[1,3]<stderr>:" (Open MPI), "node1: " (pdsh). It looks only at the start of a line,
// and gives up at the first word that is none of these.
func (v *vocabulary) textStart(line []byte) int {
	start := 0
	for start < len(line) && start < 512 {
		if n := skipped(line[start:]); n > 0 {
			start += n
			continue
		}
		if _, _, ok := v.at(line[start:]); ok {
			break
		}
		n, _ := token(line[start:])
		if n == 0 {
			break
		}
		start += n
	}
	return start
}

// streamName joins the marks of a prefix that tell processes apart.
func streamName(prefix []byte) string {
	var mark []byte
	for len(prefix) > 0 {
		if n := skipped(prefix); n > 0 {
			prefix = prefix[n:]
			continue
		}
		n, text := token(prefix)
		if n == 0 {
			break
		}
		prefix = prefix[n:]
		for _, w := range bytes.Fields(text) {
			if isTime(w) || isLevel(w) || len(mark)+len(w) > maxStream {
				continue
			}
			if len(mark) > 0 {
				mark = append(mark, ' ')
			}
			mark = append(mark, w...)
		}
	}
	return string(mark)
}

// skipped is the length of what stands between marks: blanks, separators, and escape
// sequences of a terminal.
func skipped(s []byte) int {
	switch s[0] {
	case ' ', '\t', ':', '|':
		return 1
	case 0x1b:
		return escapeLength(s)
	}
	return 0
}

// token reads one mark, timestamp or level: the bytes read, 0 where there is none, and
// the text that may tell processes apart, nil where it does not.
func token(s []byte) (int, []byte) {
	if end := group(s); end > 0 {
		return end, s[1 : end-1]
	}
	n := 0
	for n < len(s) && n < 64 && !isSpace(s[n]) {
		n++
	}
	word := s[:n]
	switch {
	case n == 0 || n == 64:
		return 0, nil
	case isTime(word) || isLevel(word):
		return n, nil
	case word[n-1] == ':' && isName(word[:n-1]):
		return n, word[:n-1]
	}
	// "3:" may be glued to the text, and "[1,3]<stderr>:" to its own group.
	d := 0
	for d < len(word) && d < 8 && word[d] >= '0' && word[d] <= '9' {
		d++
	}
	if d > 0 && d < n && word[d] == ':' {
		return d + 1, word[:d]
	}
	return 0, nil
}

// group is the length of a bracketed group at the start, 0 where there is none.
func group(s []byte) int {
	var end byte
	switch s[0] {
	case '[':
		end = ']'
	case '(':
		end = ')'
	case '<':
		end = '>'
	default:
		return 0
	}
	if i := bytes.IndexByte(s[:min(len(s), 128)], end); i > 1 {
		return i + 1
	}
	return 0
}

// isTime accepts dates, times and counters with a separator: 2025-11-22,
// 22:22:32.123, 11-22, W1122, 2025-11-22T22:22:32Z.
func isTime(w []byte) bool {
	digits, marks := 0, 0
	for i, c := range w {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '-' || c == ':' || c == '.' || c == ',' || c == '/' || c == '+':
			marks++
		case c == 'T' || c == 'Z':
		case i == 0 && len(w) == 5 && (c == 'I' || c == 'W' || c == 'E' || c == 'F'):
			marks++ // glog: W1122
		default:
			return false
		}
	}
	last := w[len(w)-1]
	return digits >= 3 && marks >= 1 && !(marks == 1 && (last == ':' || last == ','))
}

func isLevel(w []byte) bool {
	for len(w) > 0 && (w[0] == '[' || w[0] == '<') {
		w = w[1:]
	}
	for len(w) > 0 && (w[len(w)-1] == ']' || w[len(w)-1] == '>' || w[len(w)-1] == ':') {
		w = w[:len(w)-1]
	}
	if len(w) < 3 || len(w) > 8 {
		return false
	}
	for _, level := range [...]string{"info", "warn", "warning", "error", "debug", "fatal", "critical", "notice", "trace",
		"stderr", "stdout", "out", "err"} {
		if len(level) == len(w) && strings.EqualFold(level, string(w)) {
			return true
		}
	}
	return false
}

// isName accepts a host or a rank before a colon: letters, digits, '-', '_', '.'. A
// word that starts a message of its own is none.
func isName(w []byte) bool {
	if len(w) == 0 || len(w) > 48 {
		return false
	}
	for _, c := range w {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return !bytes.HasSuffix(w, []byte("Error"))
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// escapeLength is the length of a terminal escape sequence at the start of s.
func escapeLength(s []byte) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	for i := 2; i < len(s) && i < 32; i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return 2
}

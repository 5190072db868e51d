package tensormap

import "bytes"

// maxStream is the longest name of a stream that is told apart, in bytes.
const maxStream = 96

// splitPrefix takes off what launchers put before a line: timestamps and levels,
// and the marks by which processes are told apart, such as "[rank3]:", "3: " (srun
// -l), "(pid=7120)" or "(RayWorker pid=7, ip=10.0.0.1)" (Ray), "[1,3]<stderr>:" (Open
// MPI), "node1: " (pdsh). It gives the marks without the rest, and where the line's
// own text starts. It looks only at the start of a line, and gives up at the first
// word that is none of these.
func (v *vocabulary) splitPrefix(line []byte) (stream string, start int) {
	var mark []byte
loop:
	for start < len(line) && start < 512 {
		switch c := line[start]; {
		case c == ' ' || c == '\t' || c == ':' || c == '|':
			start++
			continue
		case c == 0x1b:
			start += escapeLength(line[start:])
			continue
		}
		if _, _, ok := v.at(line[start:]); ok {
			break loop
		}
		n, text := token(line[start:])
		if n == 0 {
			break loop
		}
		start += n
		if text != nil && len(mark)+len(text) < maxStream {
			if len(mark) > 0 {
				mark = append(mark, ' ')
			}
			mark = append(mark, text...)
		}
	}
	return string(mark), start
}

// token reads one mark, timestamp or level. It gives the bytes read, 0 where there
// is none, and the text that tells processes apart, nil where it does not.
func token(s []byte) (int, []byte) {
	if end := group(s); end > 0 {
		return end, processWords(s[1 : end-1])
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
	if d := leadingDigits(string(word[:min(n, 8)])); d > 0 && d < n && word[d] == ':' && !isTime(word) {
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

// processWords are the words of a group that tell processes apart: all but times and
// levels. Nothing is nil.
func processWords(s []byte) []byte {
	var out []byte
	for _, w := range bytes.Fields(s) {
		if isTime(w) || isLevel(w) {
			continue
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, w...)
	}
	return out
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
	switch string(bytes.ToLower(bytes.Trim(w, ":[]<>"))) {
	case "info", "warn", "warning", "error", "debug", "fatal", "critical", "notice", "trace", "stderr", "stdout", "out", "err":
		return true
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

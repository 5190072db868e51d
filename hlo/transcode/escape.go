package transcode

// unescape appends what absl::CUnescape makes of a string to dst.
func unescape(dst, s []byte) ([]byte, bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			continue
		}
		if i++; i == len(s) {
			return dst, false
		}
		switch c := s[i]; {
		case c >= '0' && c <= '7':
			v, n := digits(s[i:], 3, 8)
			if v > 0xff {
				return dst, false
			}
			dst = append(dst, byte(v))
			i += n - 1
		case c == 'x' || c == 'X':
			v, n := digits(s[i+1:], 2, 16)
			if n == 0 {
				return dst, false
			}
			dst = append(dst, byte(v))
			i += n
		default:
			plain, ok := simpleEscape(c)
			if !ok {
				return dst, false
			}
			dst = append(dst, plain)
		}
	}
	return dst, true
}

// simpleEscape is the byte that a backslash and c stand for.
func simpleEscape(c byte) (byte, bool) {
	switch c {
	case 'a':
		return '\a', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'v':
		return '\v', true
	case '\\', '?', '\'', '"':
		return c, true
	}
	return 0, false
}

// digits reads up to most digits of a base; n tells how many there are.
func digits(s []byte, most int, base uint64) (v uint64, n int) {
	for n < most && n < len(s) {
		d := uint64(99)
		switch c := s[n]; {
		case c >= '0' && c <= '9':
			d = uint64(c - '0')
		case c >= 'a' && c <= 'f':
			d = uint64(c-'a') + 10
		case c >= 'A' && c <= 'F':
			d = uint64(c-'A') + 10
		}
		if d >= base {
			break
		}
		v = v*base + d
		n++
	}
	return v, n
}

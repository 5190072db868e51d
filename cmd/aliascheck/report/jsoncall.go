package report

import (
	"strconv"
	"unicode/utf8"

	"aliascheck/rules"
)

// appendModule appends the beginning of what json.Marshal makes of a call: all that the
// calls of its module have in common.
func appendModule(b []byte, c *rules.Call) []byte {
	return appendField(appendField(b, `{"module":`, c.Module), `,"path":`, c.Path)
}

// appendCall appends the rest of what json.Marshal makes of a call. A report lists every
// call of every module: reflection would take longer than the audit.
func appendCall(b []byte, c *rules.Call) []byte {
	b = appendField(b, `,"computation":`, c.Computation)
	b = appendField(b, `,"instruction":`, c.Instruction)
	b = appendField(b, `,"target":`, c.Target)
	b = appendField(b, `,"kernel":`, c.Kernel)
	if c.KernelSource != "" {
		b = appendField(b, `,"kernel_source":`, c.KernelSource)
	}
	b = append(b, `,"configurations":`...)
	b = strconv.AppendInt(b, int64(c.Configurations), 10)
	b = append(b, `,"pairs":[`...)
	for i := range c.Pairs {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendPair(b, &c.Pairs[i])
	}
	b = append(b, ']')
	if c.Unanalysed != "" {
		b = appendField(b, `,"unanalysed":`, c.Unanalysed)
	}
	for i, f := range c.Findings {
		if i == 0 {
			b = append(b, `,"findings":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendString(b, f)
	}
	if len(c.Findings) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

func appendPair(b []byte, p *rules.Pair) []byte {
	b = append(b, `{"operand":`...)
	b = strconv.AppendInt(b, int64(p.Operand), 10)
	b = appendInts(append(b, `,"operand_index":`...), p.OperandIndex)
	b = appendInts(append(b, `,"result_index":`...), p.ResultIndex)
	b = strconv.AppendBool(append(b, `,"declared":`...), p.Declared)
	b = strconv.AppendBool(append(b, `,"shared":`...), p.Shared)
	b = appendField(b, `,"verdict":`, p.Verdict)
	b = appendField(b, `,"basis":`, p.Basis)
	b = appendField(b, `,"reason":`, p.Reason)
	if p.Engine != "" {
		b = appendField(b, `,"engine":`, p.Engine)
	}
	return append(b, '}')
}

func appendInts(b []byte, list []int) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, n := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, ']')
}

func appendField(b []byte, key, value string) []byte {
	return appendString(append(b, key...), value)
}

// appendString quotes a string as encoding/json does by default: <, >, & and the
// line separators are escaped, invalid UTF-8 becomes the replacement character.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := plain(s, 0); i < len(s); i = plain(s, i) {
		c := s[i]
		if c < utf8.RuneSelf {
			b = appendEscaped(append(b, s[from:i]...), c)
			i++
			from = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[from:i]...), `\ufffd`...)
			from = i + size
		case r == '\u2028' || r == '\u2029':
			b = append(append(b, s[from:i]...), `\u202`...)
			b = append(b, "0123456789abcdef"[r&0xF])
			from = i + size
		}
		i += size
	}
	return append(append(b, s[from:]...), '"')
}

// plain returns where the first byte from i on is that does not stand in JSON as it is,
// or begins what is no ASCII. It looks at eight at a time.
func plain(s string, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		w := s[i:][:8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		// The top bit of a byte: it has one, it is below a space, or it is one of the
		// characters, of which two pairs differ in one bit each. A borrow may set that of a
		// byte above one that is found.
		quote, angle, back := (x|4*ones)^'&'*ones, (x|2*ones)^'>'*ones, x^'\\'*ones
		if (x|(x-' '*ones)|(quote-ones)&^quote|(angle-ones)&^angle|(back-ones)&^back)&tops != 0 {
			break
		}
	}
	for i < len(s) && s[i] < utf8.RuneSelf && stands[s[i]] == 'y' {
		i++
	}
	return i
}

// stands has a y for each byte of ASCII that stands in JSON as it is.
const stands = "nnnnnnnnnnnnnnnn" + "nnnnnnnnnnnnnnnn" + // control characters
	"yynyyynyyyyyyyyy" + // not " and &
	"yyyyyyyyyyyynyny" + // not < and >
	"yyyyyyyyyyyyyyyy" +
	"yyyyyyyyyyyynyyy" + // not the backslash
	"yyyyyyyyyyyyyyyy" +
	"yyyyyyyyyyyyyyyy"

func appendEscaped(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&0xF])
}

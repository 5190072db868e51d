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
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if stands[c] == 'y' {
				i++
				continue
			}
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

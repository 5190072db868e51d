package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"aliascheck/rules/intern"
)

// fingerprint identifies a finding across recompilations and checkouts: code,
// target, kernel, leaves or values, source file and function. Nothing that a rebuild changes
// goes in: no module numbers, ids, offsets, lines or paths of the dump.
func fingerprint(n *intern.Names, f *Finding, srcRoot string) string {
	var leaf [64]byte
	b := make([]byte, 0, 512)
	b = appendPart(appendPart(appendPart(b, f.Code), f.Target), f.Kernel)
	if f.Operand != nil {
		b = appendPart(b, appendIndex(strconv.AppendInt(leaf[:0], int64(*f.Operand), 10), f.OperandIndex))
	} else {
		b = appendPart(b, "")
	}
	if f.ResultIndex != nil {
		b = appendPart(b, appendIndex(leaf[:0], f.ResultIndex))
	} else {
		b = appendPart(b, "")
	}
	for i := range f.Values {
		b = appendPart(b, f.Values[i].stable)
	}
	if f.Source != nil {
		b = appendPart(appendPart(b, stablePath(f.Source.File, srcRoot)), f.Source.Function)
	}
	sum := sha256.Sum256(b)
	return n.KeepBytes(hex.AppendEncode(b[:0], sum[:10]))
}

// appendPart appends a text with its length before it, so that no two lists of parts
// are the same bytes.
func appendPart[T string | []byte](b []byte, part T) []byte {
	b = append(strconv.AppendInt(b, int64(len(part)), 10), ':')
	return append(b, part...)
}

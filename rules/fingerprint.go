package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// fingerprint identifies a finding across recompilations and checkouts: code,
// target, kernel, leaves, source file and function. Nothing that a rebuild changes
// goes in: no module numbers, ids, offsets, lines or paths of the dump.
func fingerprint(f *Finding, srcRoot string) string {
	b := make([]byte, 0, 512)
	put := func(s string) {
		b = strconv.AppendInt(b, int64(len(s)), 10)
		b = append(append(b, ':'), s...)
	}
	put(f.Code)
	put(f.Target)
	put(f.Kernel)
	if f.Operand != nil {
		put(strconv.Itoa(*f.Operand) + IndexText(f.OperandIndex))
	} else {
		put("")
	}
	if f.ResultIndex != nil {
		put(IndexText(f.ResultIndex))
	} else {
		put("")
	}
	if f.Source != nil {
		put(stablePath(f.Source.File, srcRoot))
		put(f.Source.Function)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:10])
}

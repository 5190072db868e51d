package mosaic

import "bytes"

// Trim cuts a log of passes down to the text that tells how the kernel is launched: 10
// KB of a MB. It reports false where there is nothing to cut yet, because the log is not
// written so far, or was cut before.
func Trim(log []byte) ([]byte, bool) {
	start := bytes.LastIndex(log, []byte(launchPass))
	if start < 0 {
		return nil, false
	}
	end := bytes.Index(log[start+len(launchPass):], []byte(passMark))
	if end < 0 {
		return nil, false // or its last pass is this one: nobody reads what was cut
	}
	text := log[start : start+len(launchPass)+end]
	// What follows the function is the machine code.
	if code := bytes.Index(text, []byte("\n  gpu.binary ")); code >= 0 {
		text = text[:code+1]
	}
	return append([]byte("// -----// "), text...), true
}

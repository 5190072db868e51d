package tensormap

import (
	"fmt"
	"strings"
)

// Code is a CUresult, as a log gives it.
type Code int

// The codes that say something about a descriptor.
const (
	CodeSuccess            Code = 0
	CodeInvalidValue       Code = 1
	CodeOutOfMemory        Code = 2
	CodeNotInitialized     Code = 3
	CodeDeinitialized      Code = 4
	CodeInvalidContext     Code = 201
	CodeIllegalAddress     Code = 700
	CodeIllegalInstruction Code = 715
	CodeMisalignedAddress  Code = 716
	CodeLaunchFailed       Code = 719
	CodeNotSupported       Code = 801
	CodeUnknown            Code = 999
)

// codeText are names and texts of the codes, as cuGetErrorName and
// cuGetErrorString give them.
func codeText(c Code) (name, text string) {
	switch c {
	case CodeSuccess:
		return "CUDA_SUCCESS", "no error"
	case CodeInvalidValue:
		return "CUDA_ERROR_INVALID_VALUE", "invalid argument"
	case CodeOutOfMemory:
		return "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"
	case CodeNotInitialized:
		return "CUDA_ERROR_NOT_INITIALIZED", "initialization error"
	case CodeDeinitialized:
		return "CUDA_ERROR_DEINITIALIZED", "driver shutting down"
	case CodeInvalidContext:
		return "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"
	case CodeIllegalAddress:
		return "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"
	case CodeIllegalInstruction:
		return "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"
	case CodeMisalignedAddress:
		return "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"
	case CodeLaunchFailed:
		return "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"
	case CodeNotSupported:
		return "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"
	case CodeUnknown:
		return "CUDA_ERROR_UNKNOWN", "unknown error"
	}
	return "", ""
}

func knownCodes() []Code {
	return []Code{CodeInvalidValue, CodeOutOfMemory, CodeNotInitialized, CodeDeinitialized, CodeInvalidContext, CodeIllegalAddress,
		CodeIllegalInstruction, CodeMisalignedAddress, CodeLaunchFailed, CodeNotSupported, CodeUnknown, CodeSuccess}
}

// String gives the number and, where it is known, the name: "1 CUDA_ERROR_INVALID_VALUE".
func (c Code) String() string {
	if name, _ := codeText(c); name != "" {
		return fmt.Sprintf("%d %s", int(c), name)
	}
	return fmt.Sprint(int(c))
}

// parseCode finds a code in what follows an error message: a number, an enumerator
// or the driver's text for it.
func parseCode(s string) (Code, bool) {
	s = strings.TrimLeft(s, " :,(")
	if n := leadingDigits(s); n > 0 && n <= 6 && (n == len(s) || strings.ContainsRune(" \t(.[", rune(s[n]))) {
		v := 0
		for _, c := range s[:n] {
			v = v*10 + int(c-'0')
		}
		return Code(v), true
	}
	low := strings.ToLower(s)
	for _, c := range knownCodes() {
		name, text := codeText(c)
		if strings.Contains(s, name) || strings.Contains(low, text) {
			return c, true
		}
	}
	return 0, false
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// JudgeFailure judges a descriptor that is known to have failed with a code: some
// codes are no verdict on the descriptor at all.
func JudgeFailure(d Descriptor, code Code) Judgement {
	j := Judge(d)
	switch code {
	case CodeIllegalAddress, CodeIllegalInstruction, CodeMisalignedAddress, CodeLaunchFailed:
		name, text := codeText(code)
		said := "this descriptor breaks no rule"
		if j.Verdict == Refused {
			said = "this descriptor is illegal as well, but that is not what the code says"
		} else if j.Verdict == Undecided {
			said = "what is known of this descriptor breaks no rule"
		}
		j.Cause = Cause{CauseStaleError, fmt.Sprintf("code %d (%s, %s) is the error of a kernel that ran earlier and that this call was the "+
			"first to report; %s. Run with CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer to find that kernel", int(code), name, text, said)}
	case CodeNotInitialized, CodeDeinitialized, CodeInvalidContext:
		j.Cause = Cause{CauseNoContext, fmt.Sprintf("code %s: the calling thread has no CUDA context. The driver was asked before "+
			"the context was made, after it was destroyed, or from a thread where it is not current", code)}
	case CodeInvalidValue:
		if j.Verdict != Refused {
			j.Cause = Cause{CauseUnexplained, unexplained(&j)}
		}
	case CodeSuccess:
	default:
		if j.Verdict != Refused {
			j.Cause = Cause{CauseOtherFailure, fmt.Sprintf("code %s is not the driver's answer to a bad parameter, which is 1; the "+
				"descriptor is not what failed", code)}
		}
	}
	return j
}

// unexplained says what is left when the driver refused and no rule is broken.
func unexplained(j *Judgement) string {
	if len(j.Conditions) > 0 {
		return "the driver refused it and no rule is broken by what was printed; what is left: " + strings.Join(j.Conditions, ", and ")
	}
	if j.Verdict == Undecided {
		return "the driver refused it and no rule is broken by what is known; see what could not be checked"
	}
	return "the driver refused it and no documented rule is broken: the driver may not know the type or mode, or the GPU may have no TMA " +
		"(compute capability below 9.0)"
}

// Package triton reads the kernel calls inside the custom calls that jaxlib makes
// for Triton kernels.
//
// In: a custom call's target and its backend_config. Out: a kernel.Call, with every
// kernel that the call may launch, its grid and its parameters. Sizes are bytes.
//
// The bytes of a call come from an untrusted file: they are decoded within a limit
// and counted before they are kept. Numbers that no driver would take are the
// configuration's Problem; what else is off, its Bind finds.
//
// Formats: jaxlib/gpu/triton.proto and jaxlib/gpu/triton_kernels.cc.
package triton

import "aliascheck/hlo/kernel"

// Target names a custom call whose backend_config this package decodes.
type Target string

// The two conventions.
const (
	TargetRaw Target = "triton_kernel_call"     // API version 2: the compressed bytes as they are
	TargetFFI Target = "triton_kernel_call_ffi" // typed FFI: a dictionary that holds them as a string
)

// IsTarget reports whether a custom call of this target carries a Triton call.
func IsTarget(target string) bool {
	return target == string(TargetRaw) || target == string(TargetFFI)
}

// opaqueKey is the attribute that holds the compressed call.
const opaqueKey = "opaque"

const sourceName = "triton"

// Source is the registration.
func Source() kernel.Source {
	return kernel.Source{
		Name: sourceName, Handles: IsTarget,
		New: func(o kernel.Options) kernel.Decoder { return &Decoder{Limit: o.Limit, WithoutCode: o.WithoutCode} },
	}
}

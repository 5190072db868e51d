// Package pallas reads the kernel calls that JAX's Pallas hands to XLA as Triton code,
// which XLA compiles itself. The call's backend_config has MLIR, and no PTX.
package pallas

import (
	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/attribute"
)

// Target names a custom call of this source.
const Target = "__gpu$xla.gpu.triton"

// Source is the registration.
func Source() kernel.Source {
	return kernel.Source{
		Name:    "pallas",
		Handles: func(target string) bool { return target == Target },
		New:     func(kernel.Options) kernel.Decoder { return decoder{} },
	}
}

type decoder struct{}

// Peek implements kernel.Decoder: a call's name alone does not say that it can be run.
func (decoder) Peek(string, []byte) ([]byte, bool) { return nil, false }

// Decode implements kernel.Decoder.
func (decoder) Decode(r *kernel.Request) (*kernel.Call, error) {
	call := &kernel.Call{Source: "pallas", Problem: "XLA compiled it from Pallas: its PTX is not in the dump"}
	if name, err := attribute.String(r.Config, "name", nil); err == nil {
		call.Name = string(name)
	}
	return call, nil
}

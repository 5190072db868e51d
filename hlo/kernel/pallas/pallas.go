// Package pallas reads the kernel calls that JAX's Pallas hands to XLA as Triton code.
//
// XLA compiles such a kernel itself, together with its own: the call's backend_config
// has MLIR, and no PTX. XLA writes the PTX of each kernel of a module to a file of its
// own, PREFIX.K.ptx, where --xla_dump_emitter_re asks for it, and says of its own accord
// in PREFIX.thunk_metadata.txt which thunk came from which instruction and in
// PREFIX.thunk_sequence.txt which kernel a thunk launches, and how.
//
// In: a kernel.Request. Out: a kernel.Call of one configuration, whose parameters are a
// pointer to each operand and then to each result. What is missing is a Problem.
//
// Formats: xla/backends/gpu/runtime/thunk.cc (ThunkSequence::ToString), custom_kernel.cc
// and thunk.proto; jax/_src/pallas/triton/pallas_call_registration.py.
package pallas

import (
	"fmt"
	"reflect"

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
		New:     func(o kernel.Options) kernel.Decoder { return &decoder{options: o} },
	}
}

// decoder keeps what the files beside a module say from one of its calls to the next.
type decoder struct {
	options kernel.Options
	module  *module
}

// Peek implements kernel.Decoder: a call's name alone does not say that it can be run.
func (*decoder) Peek(string, []byte) ([]byte, bool) { return nil, false }

// howToDump is what reports tell who has no PTX.
const howToDump = "its PTX is not in the dump: add --xla_dump_emitter_re=ptx"

// notRead is why a call has no kernel for who runs none.
const notRead = "kernels are not analysed (--replay off)"

// Decode implements kernel.Decoder.
func (d *decoder) Decode(r *kernel.Request) (*kernel.Call, error) {
	name, err := attribute.String(r.Config, "name", nil)
	if err != nil {
		return nil, fmt.Errorf("kernel call of Pallas: %w", err)
	}
	call := &kernel.Call{Source: "pallas", Name: string(name), OnePointer: true}
	if d.options.WithoutCode {
		call.Problem = notRead
		return call, nil
	}
	if r.Files == nil || r.Prefix == "" {
		call.Problem = howToDump
		return call, nil
	}
	if d.module == nil || d.module.prefix != r.Prefix || !reflect.TypeOf(r.Files).Comparable() || d.module.files != r.Files {
		d.module = &module{prefix: r.Prefix, files: r.Files}
	}
	c, problem, err := d.module.configuration(r, call.Name)
	switch {
	case err != nil:
		return nil, err
	case problem != "":
		call.Problem = problem
	default:
		call.Configurations = []kernel.Configuration{c}
	}
	return call, nil
}

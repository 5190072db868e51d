// Package mosaic reads the kernel calls of JAX's Mosaic GPU: Pallas' kernels for Hopper
// and later, and what is built with jax.experimental.mosaic.gpu.
//
// The call's backend_config has MLIR, and no PTX. jaxlib compiles it while XLA compiles
// the program, and writes what it made where MOSAIC_GPU_DUMP_TO says: NAME_K.ptx, and
// NAME_K.mlir-passes.log with the program before each pass. NAME is the kernel's, K
// counts in the process. The log's text before the pass that lowers the launch has all
// of the launch in one straight-line function: see host.go.
//
// In: a kernel.Request. Out: a kernel.Call of one configuration. A call whose files are
// not beside it, and a launch whose numbers cannot be told exactly, are Problems and
// never guesses.
//
// Formats: jax/experimental/mosaic/gpu/core.py and launch_context.py,
// jaxlib/mosaic/gpu/custom_call.cc, dump.cc and runtime.cc.
package mosaic

import (
	"bytes"
	"fmt"
	"strings"

	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/attribute"
	"aliascheck/hlo/kernel/mlir"
)

// The targets: of today, and of JAX before 0.7.
const (
	Target       = "mosaic_gpu_v2"
	targetLegacy = "mosaic_gpu"
)

// Source is the registration.
func Source() kernel.Source {
	return kernel.Source{
		Name:    "mosaic",
		Handles: func(target string) bool { return target == Target || target == targetLegacy },
		New:     func(o kernel.Options) kernel.Decoder { return &decoder{options: o} },
	}
}

type decoder struct {
	options kernel.Options
	module  []byte // of a call, unescaped
}

// Peek implements kernel.Decoder: the kernel's name stands at the end of the MLIR.
func (d *decoder) Peek(string, []byte) ([]byte, bool) { return nil, false }

// hashSize is that of a kernel's hash, which legacy calls begin with.
const hashSize = 32

// Decode implements kernel.Decoder.
func (d *decoder) Decode(r *kernel.Request) (*kernel.Call, error) {
	code, err := d.bytecode(r)
	if err != nil {
		return nil, fmt.Errorf("kernel call of Mosaic GPU: %w", err)
	}
	if !mlir.IsBytecode(code) {
		if text := bytes.TrimSpace(code); bytes.HasPrefix(text, []byte("module")) || bytes.HasPrefix(text, []byte("#")) {
			return &kernel.Call{Source: "mosaic", Problem: "its module is not MLIR bytecode"}, nil
		}
		return nil, fmt.Errorf("kernel call of Mosaic GPU: its module is neither MLIR bytecode nor text")
	}
	m, err := mlir.Read(code)
	if err != nil {
		return nil, fmt.Errorf("kernel call of Mosaic GPU: %w", err)
	}
	if len(m.Ops) == 0 {
		return nil, fmt.Errorf("kernel call of Mosaic GPU: its module is empty")
	}
	call := &kernel.Call{Source: "mosaic", OnePointer: true}
	call.Name, _ = m.Attribute(0, "sym_name")
	base, _ := m.Attribute(0, "mosaic_gpu.dump_basename")
	if d.options.WithoutCode {
		call.Problem = "kernels are not analysed (--replay off)"
		return call, nil
	}
	if text := string(r.Config); strings.Contains(text, "uses_xla_collective_metadata = true") {
		call.Problem = "it talks to other devices: one device's launch does not say what they do"
		return call, nil
	}
	return d.files(r, call, base, m)
}

// bytecode gives the module of a call; it is valid until the next one.
func (d *decoder) bytecode(r *kernel.Request) ([]byte, error) {
	if r.Target == targetLegacy {
		if len(r.Config) < hashSize {
			return nil, fmt.Errorf("%d bytes of backend_config, fewer than a hash has", len(r.Config))
		}
		return bytes.Clone(r.Config[hashSize:]), nil
	}
	var err error
	d.module, err = attribute.String(r.Config, "module", d.module[:0])
	return d.module, err
}

package triton

import (
	"errors"
	"fmt"

	"aliascheck/hlo/triton/tritonpb"

	"google.golang.org/protobuf/proto"
)

// DefaultLimit bounds an inflated call: the largest seen, with 16 configurations
// and their intermediate code, is below one MiB.
const DefaultLimit = 64 << 20

// Decoder decodes calls one after another and keeps its buffers between them.
// The zero Decoder is ready. It is not for concurrent use.
type Decoder struct {
	Limit int // bytes that one call may inflate to; 0 means DefaultLimit

	// WithoutCode leaves PTX, TTIR and cubins out of calls: who does not run kernels
	// need not copy them.
	WithoutCode bool

	packed   []byte // the opaque, unescaped
	inflated []byte
	inflater inflater
	escaped  [4 * peekPacked]byte // the beginning of an opaque, unescaped
	head     [peekBytes]byte      // of a message
}

// keptBuffer bounds what a Decoder keeps after a call that was unusually big.
const keptBuffer = 1 << 20

// Decode reads the call that a custom call of this target carries in its
// backend_config. The Call owns its memory. Errors name the place in the
// backend_config, the compressed stream or the message.
func (d *Decoder) Decode(target string, config []byte) (*Call, error) {
	defer d.shrink()
	message, err := d.inflate(target, config)
	if err != nil {
		return nil, err
	}
	if message, err = checkMessage(message, d.WithoutCode); err != nil {
		return nil, err
	}
	var any tritonpb.AnyKernelCall
	if err := proto.Unmarshal(message, &any); err != nil {
		return nil, fmt.Errorf("kernel call: %w", err)
	}
	return newCall(&any)
}

// inflate gives the message that config holds; it is valid until the next call.
func (d *Decoder) inflate(target string, config []byte) ([]byte, error) {
	packed := config
	if Target(target) == TargetFFI {
		var err error
		if packed, err = attribute(config, opaqueKey, d.packed[:0]); err != nil {
			return nil, err
		}
		d.packed = packed
	}
	if len(packed) == 0 {
		return nil, errors.New("kernel call: the opaque is empty")
	}
	limit := d.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	var err error
	if d.inflated, err = d.inflater.whole(packed, d.inflated, limit); err != nil {
		return nil, fmt.Errorf("compressed kernel call of %d bytes, after %d: %w", len(packed), d.inflater.pos, err)
	}
	if n := len(packed) - d.inflater.pos; n != 0 {
		return nil, fmt.Errorf("compressed kernel call of %d bytes: the last %d follow its end", len(packed), n)
	}
	return d.inflated, nil
}

// shrink gives back what an unusually big call made the buffers grow to.
func (d *Decoder) shrink() {
	if cap(d.inflated) > keptBuffer {
		d.inflated, d.inflater.out = nil, nil
	}
	if cap(d.packed) > keptBuffer {
		d.packed = nil
	}
}

// newCall turns the message into the plain model.
func newCall(any *tritonpb.AnyKernelCall) (*Call, error) {
	call := &Call{Name: string(any.GetName())}
	switch c := any.GetCall().(type) {
	case *tritonpb.AnyKernelCall_KernelCall:
		call.Kernels = []Kernel{newKernel(c.KernelCall)}
	case *tritonpb.AnyKernelCall_AutotunedKernelCall:
		call.Autotuned = true
		if name := c.AutotunedKernelCall.GetName(); len(name) > 0 {
			call.Name = string(name)
		}
		call.Kernels = make([]Kernel, 0, len(c.AutotunedKernelCall.GetConfigs()))
		for _, config := range c.AutotunedKernelCall.GetConfigs() {
			kernel := newKernel(config.GetKernelCall())
			kernel.Description = string(config.GetDescription())
			call.Kernels = append(call.Kernels, kernel)
		}
		for _, alias := range c.AutotunedKernelCall.GetInputOutputAliases() {
			call.Aliases = append(call.Aliases, InOut{
				Input: alias.GetInputBufferIdx(), Output: alias.GetOutputBufferIdx(), Size: alias.GetBufferSizeBytes()})
		}
	default:
		return nil, errors.New("kernel call: neither a kernel nor an autotuned one")
	}
	if len(call.Kernels) == 0 {
		return nil, errors.New("kernel call: autotuned, but without configurations")
	}
	return call, nil
}

func newKernel(call *tritonpb.KernelCall) Kernel {
	k, image := call.GetKernel(), call.GetKernel().GetModuleImage()
	kernel := Kernel{
		Name: string(k.GetKernelName()), PTX: k.GetPtx(), TTIR: k.GetTtir(),
		Cubin: image.GetObjectFile(), CubinEntry: string(image.GetKernelName()), CubinShared: image.GetSharedMemBytes(),
		Capability: k.GetComputeCapability(), Warps: k.GetNumWarps(), SharedBytes: k.GetSharedMemBytes(),
		NumCTAs: k.GetNumCtas(), ClusterDims: [3]uint32{k.GetClusterDim_0(), k.GetClusterDim_1(), k.GetClusterDim_2()},
		ScratchSize: k.GetGlobalScratchSize(), ScratchAlign: k.GetGlobalScratchAlign(),
		Grid: [3]uint32{call.GetGrid_0(), call.GetGrid_1(), call.GetGrid_2()},
	}
	if params := call.GetParameters(); len(params) > 0 {
		kernel.Params = make([]Param, 0, len(params))
		for _, p := range params {
			kernel.Params = append(kernel.Params, newParam(p))
		}
	}
	return kernel
}

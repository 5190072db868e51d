package triton

import (
	"errors"
	"fmt"

	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/attribute"
	"aliascheck/hlo/kernel/triton/tritonpb"

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

// Decode reads the call that a custom call carries in its backend_config. The Call owns
// its memory. Errors name the place in the backend_config, the compressed stream or the
// message.
func (d *Decoder) Decode(r *kernel.Request) (*kernel.Call, error) {
	defer d.shrink()
	message, err := d.inflate(r.Target, r.Config)
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
	return newCall(r.Target, &any)
}

// inflate gives the message that config holds; it is valid until the next call.
func (d *Decoder) inflate(target string, config []byte) ([]byte, error) {
	packed := config
	if Target(target) == TargetFFI {
		var err error
		if packed, err = attribute.String(config, opaqueKey, d.packed[:0]); err != nil {
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
func newCall(target string, any *tritonpb.AnyKernelCall) (*kernel.Call, error) {
	call := &kernel.Call{Source: sourceName, Name: string(any.GetName())}
	switch c := any.GetCall().(type) {
	case *tritonpb.AnyKernelCall_KernelCall:
		call.Configurations = []kernel.Configuration{newConfiguration(c.KernelCall)}
	case *tritonpb.AnyKernelCall_AutotunedKernelCall:
		// jaxlib/gpu/triton_kernels.cc: the typed FFI tunes in its initialize phase.
		call.Autotuned, call.Early = true, Target(target) == TargetFFI
		if name := c.AutotunedKernelCall.GetName(); len(name) > 0 {
			call.Name = string(name)
		}
		call.Configurations = make([]kernel.Configuration, 0, len(c.AutotunedKernelCall.GetConfigs()))
		for _, config := range c.AutotunedKernelCall.GetConfigs() {
			configuration := newConfiguration(config.GetKernelCall())
			configuration.Description = string(config.GetDescription())
			call.Configurations = append(call.Configurations, configuration)
		}
		for _, alias := range c.AutotunedKernelCall.GetInputOutputAliases() {
			call.Saved = append(call.Saved, kernel.SaveEntry{
				Input: alias.GetInputBufferIdx(), Output: alias.GetOutputBufferIdx(), Size: alias.GetBufferSizeBytes()})
		}
	default:
		return nil, errors.New("kernel call: neither a kernel nor an autotuned one")
	}
	if len(call.Configurations) == 0 {
		return nil, errors.New("kernel call: autotuned, but without configurations")
	}
	return call, nil
}

// newConfiguration turns a kernel with its launch into the plain model.
func newConfiguration(call *tritonpb.KernelCall) kernel.Configuration {
	k, image := call.GetKernel(), call.GetKernel().GetModuleImage()
	c := kernel.Configuration{
		Entry: string(k.GetKernelName()), PTX: k.GetPtx(),
		Cubin: image.GetObjectFile(), CubinEntry: string(image.GetKernelName()), CubinShared: image.GetSharedMemBytes(),
		Capability: k.GetComputeCapability(), Shared: k.GetSharedMemBytes(),
	}
	l := launch{
		warps: k.GetNumWarps(), clusterBlocks: k.GetNumCtas(),
		cluster: [3]uint32{k.GetClusterDim_0(), k.GetClusterDim_1(), k.GetClusterDim_2()},
		grid:    [3]uint32{call.GetGrid_0(), call.GetGrid_1(), call.GetGrid_2()},
		scratch: k.GetGlobalScratchSize(),
	}
	blocks, err := l.shape(&c)
	if err != nil {
		c.Problem = fmt.Sprintf("kernel %s: %v", c.Entry, err)
	}
	c.Params = newParams(call.GetParameters(), l.scratch, k.GetGlobalScratchAlign(), blocks)
	return c
}

package triton

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"aliascheck/hlo/triton/tritonpb"

	"github.com/klauspost/compress/zlib"
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
	source   bytes.Reader
	inflater io.ReadCloser // nil before first use
	prefix   prefixInflater
	head     [peekBytes]byte
}

// keptBuffer bounds what a Decoder keeps after a call that was unusually big.
const keptBuffer = 1 << 20

// Decode reads the call that a custom call of this target carries in its
// backend_config. The Call owns its memory. Errors name the place in the
// backend_config, the compressed stream or the message.
func (d *Decoder) Decode(target string, config []byte) (*Call, error) {
	message, err := d.inflate(target, config)
	if err != nil {
		return nil, err
	}
	defer d.shrink()
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
	d.source.Reset(packed)
	if err := d.startInflating(); err != nil {
		return nil, fmt.Errorf("compressed kernel call of %d bytes: %w", len(packed), err)
	}
	limit := d.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	var err error
	d.inflated, err = readWithin(d.inflater, d.inflated[:0], limit)
	if err != nil {
		return nil, fmt.Errorf("compressed kernel call of %d bytes, after %d: %w", len(packed), len(packed)-d.source.Len(), err)
	}
	if n := d.source.Len(); n != 0 {
		return nil, fmt.Errorf("compressed kernel call of %d bytes: the last %d follow its end", len(packed), n)
	}
	return d.inflated, nil
}

func (d *Decoder) startInflating() error {
	if d.inflater == nil {
		var err error
		d.inflater, err = zlib.NewReader(&d.source)
		return err
	}
	return d.inflater.(zlib.Resetter).Reset(&d.source, nil)
}

// shrink gives back what an unusually big call made the buffers grow to.
func (d *Decoder) shrink() {
	if cap(d.inflated) > keptBuffer {
		d.inflated = nil
	}
	if cap(d.packed) > keptBuffer {
		d.packed = nil
	}
}

// readWithin appends what r holds to buf, which grows as bytes arrive, and fails
// where that is more than limit.
func readWithin(r io.Reader, buf []byte, limit int) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if len(buf) > limit {
			return buf, fmt.Errorf("inflates to more than %d bytes", limit)
		}
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
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
	for _, p := range call.GetParameters() {
		kernel.Params = append(kernel.Params, newParam(p))
	}
	return kernel
}

package cudarun

import (
	"bytes"
	"fmt"
	"math"

	"aliascheck/cudarun/driver"
)

// Limits of a plan: what CUDA and jaxlib allow, and what keeps sums of sizes far
// from overflowing.
const (
	maxBuffers   = 4096
	maxKernels   = 1024
	maxBytes     = int64(1) << 48
	maxBlockSize = 1024
	maxGridX     = math.MaxInt32
	maxGridYZ    = 65535
	maxShared    = 1 << 20
	maxCluster   = 16
)

// Check says what is wrong with a plan: every number in it is tested before
// memory is taken or a kernel launched by it.
func (p *Plan) Check() error {
	if len(p.Kernels) == 0 || len(p.Kernels) > maxKernels {
		return fmt.Errorf("plan %q: %d kernels, want 1 to %d", p.Name, len(p.Kernels), maxKernels)
	}
	if len(p.Buffers) > maxBuffers {
		return fmt.Errorf("plan %q: %d buffers, more than %d", p.Name, len(p.Buffers), maxBuffers)
	}
	for i := range p.Buffers {
		if err := p.checkBuffer(i); err != nil {
			return fmt.Errorf("plan %q: buffer %d: %w", p.Name, i, err)
		}
	}
	for i := range p.Kernels {
		if err := p.checkKernel(&p.Kernels[i]); err != nil {
			return fmt.Errorf("plan %q: configuration %d (%s): %w", p.Name, i, p.Kernels[i].Entry, err)
		}
	}
	if err := p.checkShared(); err != nil {
		return fmt.Errorf("plan %q: shared layout: %w", p.Name, err)
	}
	if err := p.checkTrials(); err != nil {
		return fmt.Errorf("plan %q: trials: %w", p.Name, err)
	}
	if !(p.Tolerance >= 0 && p.Tolerance < 1) {
		return fmt.Errorf("plan %q: tolerance %v is not in [0, 1)", p.Name, p.Tolerance)
	}
	return nil
}

func (p *Plan) checkBuffer(i int) error {
	b := p.Buffers[i]
	if b.Bytes < 0 || b.Bytes > maxBytes {
		return fmt.Errorf("%d bytes, want 0 to %d", b.Bytes, maxBytes)
	}
	switch b.Role {
	case Operand, Bystander:
		if b.Claims != NoBuffer {
			return fmt.Errorf("a %s claims buffer %d", b.Role, b.Claims)
		}
	case Result:
		if b.Contents != nil {
			return fmt.Errorf("a result with contents")
		}
		if b.Claims != NoBuffer {
			return p.checkClaim(i)
		}
	default:
		return fmt.Errorf("unknown role %q", b.Role)
	}
	if b.Contents != nil && int64(len(b.Contents)) != b.Bytes {
		return fmt.Errorf("%d bytes of contents for %d bytes", len(b.Contents), b.Bytes)
	}
	return nil
}

func (p *Plan) checkClaim(i int) error {
	n := p.Buffers[i].Claims
	if n < 0 || n >= len(p.Buffers) || p.Buffers[n].Role != Operand {
		return fmt.Errorf("claims buffer %d, which is no operand", n)
	}
	if p.Buffers[n].Bytes != p.Buffers[i].Bytes {
		return fmt.Errorf("%d bytes, claims operand %d of %d bytes", p.Buffers[i].Bytes, n, p.Buffers[n].Bytes)
	}
	for j := range i {
		if p.Buffers[j].Role == Result && p.Buffers[j].Claims == n {
			return fmt.Errorf("claims operand %d, which buffer %d claims too", n, j)
		}
	}
	return nil
}

func (p *Plan) checkKernel(k *Kernel) error {
	if k.Entry == "" {
		return fmt.Errorf("no entry name")
	}
	if len(k.PTX) == 0 && len(k.Cubin) == 0 {
		return fmt.Errorf("neither PTX nor cubin")
	}
	if err := k.checkShape(); err != nil {
		return err
	}
	if len(k.Params) > driver.MaxParams {
		return fmt.Errorf("%d parameters, more than %d", len(k.Params), driver.MaxParams)
	}
	for n, param := range k.Params {
		if err := p.checkParam(param); err != nil {
			return fmt.Errorf("parameter %d: %w", n, err)
		}
	}
	for _, z := range k.Zero {
		if z.Buffer < 0 || z.Buffer >= len(p.Buffers) || z.Bytes < 0 || z.Bytes > p.Buffers[z.Buffer].Bytes {
			return fmt.Errorf("zero fill of %d bytes in buffer %d is outside it", z.Bytes, z.Buffer)
		}
	}
	return nil
}

func (k *Kernel) checkShape() error {
	if k.Grid[0] == 0 || k.Grid[1] == 0 || k.Grid[2] == 0 ||
		k.Grid[0] > maxGridX || k.Grid[1] > maxGridYZ || k.Grid[2] > maxGridYZ {
		return fmt.Errorf("grid %v is not launchable", k.Grid)
	}
	for i, n := range k.Cluster {
		if n > maxCluster || n > 0 && k.Grid[i]%n != 0 {
			return fmt.Errorf("grid %v in clusters of %v is not launchable", k.Grid, k.Cluster)
		}
	}
	threads := uint64(1)
	for _, n := range k.Block {
		if n == 0 || n > maxBlockSize {
			return fmt.Errorf("block %v is not launchable", k.Block)
		}
		threads *= uint64(n)
	}
	if threads > maxBlockSize {
		return fmt.Errorf("block %v has %d threads, more than %d", k.Block, threads, maxBlockSize)
	}
	if k.Shared > maxShared {
		return fmt.Errorf("%d bytes of shared memory, more than %d", k.Shared, maxShared)
	}
	return nil
}

func (p *Plan) checkParam(param Param) error {
	switch param.Kind {
	case ParamBuffer:
		if param.Buffer < 0 || param.Buffer >= len(p.Buffers) {
			return fmt.Errorf("points to buffer %d of %d", param.Buffer, len(p.Buffers))
		}
		if param.Offset < 0 || param.Offset > p.Buffers[param.Buffer].Bytes {
			return fmt.Errorf("offset %d is outside buffer %d", param.Offset, param.Buffer)
		}
		if param.Divisibility < 0 {
			return fmt.Errorf("divisibility %d", param.Divisibility)
		}
	case ParamScalar:
		switch len(param.Scalar) {
		case 1, 2, 4, 8:
		default:
			return fmt.Errorf("a scalar of %d bytes", len(param.Scalar))
		}
	case ParamScratch:
		if param.Bytes < 0 || param.Bytes > maxBytes || param.Align < 0 || param.Align > 1<<20 || param.Align&(param.Align-1) != 0 {
			return fmt.Errorf("scratch of %d bytes aligned to %d", param.Bytes, param.Align)
		}
	case ParamTensor:
		if len(param.Tensors) == 0 || len(param.Tensors) > driver.MaxParams {
			return fmt.Errorf("%d TMA descriptors, want 1 to %d", len(param.Tensors), driver.MaxParams)
		}
		for _, t := range param.Tensors {
			if t.Buffer < 0 || t.Buffer >= len(p.Buffers) || t.Offset < 0 || t.Offset > p.Buffers[t.Buffer].Bytes {
				return fmt.Errorf("describes byte %d of buffer %d of %d", t.Offset, t.Buffer, len(p.Buffers))
			}
			if err := t.Map.Check(); err != nil {
				return err
			}
		}
	case ParamNull:
	default:
		return fmt.Errorf("unknown kind %q", param.Kind)
	}
	return nil
}

func (p *Plan) checkShared() error {
	if p.Shared == nil {
		return nil
	}
	if len(p.Shared) != len(p.Buffers) {
		return fmt.Errorf("%d places for %d buffers", len(p.Shared), len(p.Buffers))
	}
	for i, place := range p.Shared {
		if place.Group < 0 || place.Group >= len(p.Buffers) || place.Offset < 0 || place.Offset > maxBytes {
			return fmt.Errorf("buffer %d: group %d, offset %d", i, place.Group, place.Offset)
		}
	}
	for i := range p.Buffers {
		for j := range i {
			if err := p.checkAgree(i, j); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkAgree refuses overlapping values with different contents: no memory can
// hold both, and a run that starts from one of them would differ by our doing.
func (p *Plan) checkAgree(i, j int) error {
	a, b := p.Buffers[i], p.Buffers[j]
	if a.Contents == nil || b.Contents == nil || p.Shared[i].Group != p.Shared[j].Group {
		return nil
	}
	from := max(p.Shared[i].Offset, p.Shared[j].Offset)
	to := min(p.Shared[i].Offset+a.Bytes, p.Shared[j].Offset+b.Bytes)
	if from >= to || a.Role != b.Role {
		return nil // an operand may lie over a bystander that is dead by then
	}
	x := a.Contents[from-p.Shared[i].Offset : to-p.Shared[i].Offset]
	y := b.Contents[from-p.Shared[j].Offset : to-p.Shared[j].Offset]
	if !bytes.Equal(x, y) {
		return fmt.Errorf("buffers %d and %d share bytes and hold different contents", j, i)
	}
	return nil
}

func (p *Plan) checkTrials() error {
	if p.Trials == nil {
		return nil
	}
	if p.Trials.Phase != PhaseExecute && p.Trials.Phase != PhaseInitialize {
		return fmt.Errorf("unknown phase %q", p.Trials.Phase)
	}
	if p.Shared == nil {
		return fmt.Errorf("no layout: trials work on the memory that the assignment gives")
	}
	if p.Trials.Repeats < 0 || p.Trials.Repeats > 100 {
		return fmt.Errorf("%d repeats, want 0 to 100", p.Trials.Repeats)
	}
	if len(p.Trials.Entries) > driver.MaxParams {
		return fmt.Errorf("%d entries, more than %d", len(p.Trials.Entries), driver.MaxParams)
	}
	return nil
}

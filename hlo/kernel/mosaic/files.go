package mosaic

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/mlir"
)

// Limits of the files. The largest log seen has 9 MB.
const (
	maxPTX        = 64 << 20
	maxLog        = 256 << 20
	maxCandidates = 256
)

const (
	ptxSuffix = ".ptx"
	logSuffix = ".mlir-passes.log"
)

// howToDump is what reports tell who has no files.
const howToDump = "set MOSAIC_GPU_DUMP_TO to a folder inside the dump directory, one for each process"

// files finds the call's files, and reads its configuration from them. base is their
// name as the call has it: none in calls of JAX before 0.11.
func (d *decoder) files(r *kernel.Request, call *kernel.Call, base string, m *mlir.Module) (*kernel.Call, error) {
	if r.Files == nil {
		call.Problem = "its PTX is not in the dump: " + howToDump
		return call, nil
	}
	names, err := r.Files.Names("")
	if err != nil {
		call.Problem = fmt.Sprintf("the files beside the module cannot be listed: %v", err)
		return call, nil
	}
	candidates := withBase(names, base)
	if base == "" {
		candidates = withName(names, call.Name)
	}
	var own map[string]int // nil where the files have the call's own name
	if base == "" && len(candidates) > 1 {
		own = operations(m)
	}
	var found []kernel.Configuration
	var reasons []string
	for _, name := range candidates {
		c, reason, err := readPair(r, names, name, own)
		switch {
		case err != nil:
			return nil, err
		case reason != "":
			reasons = append(reasons, reason)
		case !slices.ContainsFunc(found, func(o kernel.Configuration) bool { return equal(&o, &c) }):
			found = append(found, c)
		}
	}
	switch {
	case len(found) == 1:
		found[0].Kernel = call.Name
		call.Configurations = found
	case len(found) > 1:
		call.Problem = fmt.Sprintf("%d kernels named %s in the dump fit this call, and it does not say which is its own (JAX 0.11 does)", len(found), call.Name)
	case len(reasons) > 0:
		call.Problem = reasons[0]
	default:
		call.Problem = "its PTX is not in the dump: " + howToDump
	}
	return call, nil
}

// withBase lists the files of this name that hold PTX.
func withBase(names []string, base string) []string {
	var out []string
	for _, name := range names {
		if len(out) < maxCandidates && path.Base(name) == base+ptxSuffix {
			out = append(out, name)
		}
	}
	return out
}

// withName lists the files that hold PTX of a kernel of this name: NAME_K.ptx.
func withName(names []string, kernelName string) []string {
	var out []string
	for _, name := range names {
		stem, ok := strings.CutSuffix(path.Base(name), ptxSuffix)
		number, own := strings.CutPrefix(stem, kernelName+"_")
		if ok && own && kernelName != "" && len(out) < maxCandidates && number != "" && strings.Trim(number, "0123456789") == "" {
			out = append(out, name)
		}
	}
	return out
}

// readPair reads a file of PTX and the log beside it. The reason says why they are not
// the call's or not enough for it.
func readPair(r *kernel.Request, names []string, ptx string, own map[string]int) (c kernel.Configuration, reason string, err error) {
	log := strings.TrimSuffix(ptx, ptxSuffix) + logSuffix
	if _, ok := slices.BinarySearch(names, log); !ok && !slices.Contains(names, log) {
		return c, fmt.Sprintf("%s is not in the dump: it says how the kernel is launched", path.Base(log)), nil
	}
	text, err := r.Files.Read(log, maxLog)
	if err != nil {
		return c, "", err
	}
	if own != nil && isAnother(text, own) {
		return c, path.Base(log) + " is of another kernel of this name", nil
	}
	host, err := hostFunction(text)
	if err != nil {
		return c, "", fmt.Errorf("%s: %w", log, err)
	}
	c, err = launch(r, host)
	var p problem
	if errors.As(err, &p) {
		return c, path.Base(log) + ": " + p.Error(), nil
	}
	if err != nil {
		return c, "", fmt.Errorf("%s: %w", log, err)
	}
	if c.PTX, err = r.Files.Read(ptx, maxPTX); err != nil {
		return c, "", err
	}
	c.File = ptx
	c.Capability = host.capability
	return c, "", nil
}

// equal reports whether two configurations are the same launch of the same code.
func equal(x, y *kernel.Configuration) bool {
	return x.Entry == y.Entry && x.Grid == y.Grid && x.Block == y.Block && x.Cluster == y.Cluster && x.Shared == y.Shared &&
		bytes.Equal(x.PTX, y.PTX) && slices.EqualFunc(x.Params, y.Params, equalParams)
}

func equalParams(x, y kernel.Param) bool {
	return x.Kind == y.Kind && x.Buffer == y.Buffer && x.Offset == y.Offset && x.Bits == y.Bits && x.Size == y.Size &&
		slices.EqualFunc(x.Maps, y.Maps, func(a, b kernel.TensorMap) bool {
			return a.Buffer == b.Buffer && a.Offset == b.Offset && a.ElemType == b.ElemType && a.Swizzle == b.Swizzle &&
				slices.Equal(a.Shape, b.Shape) && slices.Equal(a.Strides, b.Strides) && slices.Equal(a.BlockShape, b.BlockShape)
		})
}

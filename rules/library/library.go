// Package library knows the custom-call targets of XLA and jaxlib themselves, whose
// kernels are not in a dump.
package library

import (
	"encoding/json"
	"strings"

	"aliascheck/alias"
	"aliascheck/hlo/kernel/pallas"
	"aliascheck/rules/replay"
)

// IsLibrary reports whether a target is one of XLA's or jaxlib's own, whose kernel
// is not in the dump. extra holds the configuration's patterns.
func IsLibrary(target string, extra []string) bool {
	if target == "" {
		return false
	}
	for _, p := range extra {
		if replay.Matches(p, target) {
			return true
		}
	}
	if target == pallas.Target {
		return false // the user's kernel
	}
	switch target {
	case "AllocateBuffer", "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
		"CreateBuffer", "Pin", "Unpin", "MoveToHost", "MoveToDevice", "annotate_device_placement",
		"TopK", "SliceToDynamic", "PadToStatic", "X64Combine", "X64SplitLow", "X64SplitHigh",
		"LayoutConstraint", "RngBitGenerator",
		"xla_ffi_python_gpu_callback", "xla_ffi_partitioned_python_gpu_callback", "xla_python_gpu_callback",
		"xla_ffi_python_cpu_callback", "xla_ffi_partitioned_python_cpu_callback", "xla_python_cpu_callback":
		return true
	}
	prefixes := [...]string{
		"__cublas$", "__cudnn$", "__cusolver$", "__cufft$", "__cub$", "__gpu$", "__onednn$", "__nccl",
		"cusolver_", "cublas_", "cusparse_", "cudnn_", "hipsolver_", "hipblas_", "hipsparse_", "hipdnn_",
		"xla.gpu.ext.", "xla.gpu.", "lapack_", "blas_", "__xla",
	}
	for _, p := range prefixes {
		if strings.HasPrefix(target, p) {
			return true
		}
	}
	return isJaxlibKernel(target)
}

// isJaxlibKernel knows jaxlib's own kernels by their whole names: people call theirs
// cuda_something, too.
func isJaxlibKernel(target string) bool {
	platform, name, _ := strings.Cut(strings.TrimSuffix(target, "_ffi"), "_")
	switch platform {
	case "cu", "cuda", "hip":
		switch name {
		case "threefry2x32", "lu_pivots_to_permutation", "cholesky_update", "tridiagonal_solve_perturbed":
			return true
		}
	}
	return false
}

// SharesByHint reports whether XLA's backend lets a call share a pair that it does
// not declare (xla/hlo/analysis/alias_info.cc, and its older forms).
func SharesByHint(c *alias.Call, operand, result int) bool {
	x, r := &c.Operands[operand], &c.Results[result]
	first := len(r.Index) == 0 || len(r.Index) == 1 && r.Index[0] == 0
	if !first || len(x.Index) != 0 {
		return false
	}
	switch c.Target {
	case "__cublas$lt$matmul", "__cublas$gemm":
		return x.Operand == 2 && usedOnce(c, operand) && betaIsNotZero(c.Config)
	case "__cusolver$cholesky":
		return x.Operand == 0
	}
	return false
}

func usedOnce(c *alias.Call, operand int) bool {
	for n := range c.Operands {
		if n != operand && c.Operands[n].Value == c.Operands[operand].Value {
			return false
		}
	}
	return true
}

func betaIsNotZero(config []byte) bool {
	type gemm struct {
		Beta float64 `json:"beta"`
	}
	var c struct {
		gemm
		Gemm gemm `json:"gemm_backend_config"`
	}
	if json.Unmarshal(config, &c) != nil {
		return false
	}
	return c.Beta != 0 || c.Gemm.Beta != 0
}

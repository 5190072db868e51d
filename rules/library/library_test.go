package library

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLibraryIsWhatNobodyElseWrites: names of XLA's and jaxlib's own targets, and none
// that a user could have chosen or whose kernel is the user's.
func TestLibraryIsWhatNobodyElseWrites(t *testing.T) {
	for _, target := range []string{
		"__cublas$lt$matmul", "__cudnn$fmhaSoftmax", "cusolver_getrf_ffi", "cu_lu_pivots_to_permutation",
		"hip_lu_pivots_to_permutation", "cu_threefry2x32_ffi", "cu_threefry2x32", "cu_cholesky_update_ffi", "cudnn_rnn_bwd_ffi",
		"xla.gpu.ext.cub_sort_pairs", "AllocateBuffer", "TopK", "lapack_sgesdd_ffi", "xla_ffi_python_gpu_callback",
	} {
		assert.True(t, IsLibrary(target, nil), target)
	}
	for _, target := range []string{
		"", "cuda_flash_attention", "cu_seqlens_ffi", "hip_softmax", "cu_", "cu", "xla_ffi_my_kernel", "mosaic_gpu_v2",
		"__gpu$xla.gpu.triton", "triton_kernel_call_ffi", "te_norm_forward_ffi",
	} {
		assert.False(t, IsLibrary(target, nil), target)
	}
	assert.True(t, IsLibrary("__gpu$xla.gpu.triton", []string{"__gpu$*"}), "where the user says so")
}

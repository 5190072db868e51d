package runner

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTrim deletes what no audit needs of a process's kernels, and cuts the logs of passes
// that are whole and have been left alone.
func TestTrim(t *testing.T) {
	const whole = "// IR Dump Before CSEPass: cse\nmuch\n// -----// IR Dump Before GpuLaunchLoweringPass: x\nmodule\n  gpu.binary @a [code]\n// -----// IR Dump Before ConvertToLLVMPass: y\nmuch\n"
	dir := t.TempDir()
	old := time.Now().Add(-time.Minute)
	for name, text := range map[string]string{
		"module_1.jit_f.0.ir-no-opt.ll": "llvm", "module_1.jit_f.k.triton-to-llvm.txt": "llvm", "module_1.jit_f.0.ptx": "ptx", "module_1.jit_f.thunk_sequence.txt": "thunks",
		"mosaic/k_0.ptx": "ptx", "mosaic/k_0.ptxas": "words", "mosaic/k_0.resources.txt": "words", "mosaic/k_0.mlir-passes.log": whole,
		"mosaic/k_1.mlir-passes.log": "// -----// IR Dump Before GpuLaunchLoweringPass: x\nmod", "mosaic/k_2.mlir-passes.log": whole,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		if name != "mosaic/k_2.mlir-passes.log" {
			require.NoError(t, os.Chtimes(path, old, old))
		}
	}
	p := &process{dir: dir}
	require.NoError(t, p.list(newStages()))
	p.trim()
	left := map[string]string{}
	for _, pattern := range []string{"module*", "mosaic/*"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			name, err := filepath.Rel(dir, path)
			require.NoError(t, err)
			left[filepath.ToSlash(name)] = string(text)
		}
	}
	assert.Equal(t, map[string]string{
		"module_1.jit_f.0.ptx": "ptx", "module_1.jit_f.thunk_sequence.txt": "thunks", "mosaic/k_0.ptx": "ptx",
		"mosaic/k_0.mlir-passes.log": "// -----// IR Dump Before GpuLaunchLoweringPass: x\nmodule\n",
		"mosaic/k_1.mlir-passes.log": "// -----// IR Dump Before GpuLaunchLoweringPass: x\nmod", // not whole yet
		"mosaic/k_2.mlir-passes.log": whole,                                                     // written just now
	}, left)

	p.modules = []*module{{audited: true, findings: true}}
	w := watcher{keep: KeepFindings}
	p.dropMosaic(w.drop)
	assert.DirExists(t, filepath.Join(dir, mosaicDir), "a module that is kept may need them")
	p.modules[0].findings = false
	p.dropMosaic(w.drop)
	assert.NoDirExists(t, filepath.Join(dir, mosaicDir))
}

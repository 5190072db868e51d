package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aliascheck/rules"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mendTargets are a custom-call target for each way to make a call.
func mendTargets() []string {
	return []string{"triton_kernel_call_ffi", "__gpu$xla.gpu.triton", "my_handler"}
}

// mendSection is the guide's section of before and after, out of the rules' own patches.
func mendSection() string {
	var b strings.Builder
	for _, r := range rules.All() {
		for _, target := range mendTargets() {
			p := r.Patch(&rules.Finding{Kernel: "kernel", Target: target})
			if p == nil {
				continue
			}
			fmt.Fprintf(&b, "%s with %s:\n\n```diff\n", r.Code, p.Through)
			for _, part := range [...][2]string{{"-", p.Before}, {"+", p.After}} {
				for line := range strings.SplitSeq(part[1], "\n") {
					fmt.Fprintf(&b, "%s %s\n", part[0], line)
				}
			}
			b.WriteString("```\n\n")
		}
	}
	return b.String()
}

// TestGuideHasBeforeAndAfter holds the guide's examples to what the reports print.
func TestGuideHasBeforeAndAfter(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository(t), "docs", "guide.md"))
	require.NoError(t, err)
	assert.Contains(t, string(text), mendSection())
}

// mendRig stands for the libraries: it takes the calls that the patches make, and fails
// where one passes what the library's own signature does not have.
const mendRig = `
class Shape: shape, dtype = (8,), "float32"
class jnp:
    empty = staticmethod(lambda shape, dtype: "empty")
    zeros = staticmethod(lambda shape, dtype: "zeros")
class Config: num_warps, num_stages, kwargs = 4, 3, {"BLOCK": 8}
class Kernel:
    configs, fn = [Config()], "fn"
    def __call__(self, *refs): return len(refs)
class jt:
    @staticmethod
    def triton_call(*args, kernel, out_shape, grid, num_warps=4, num_stages=3, input_output_aliases=None, zeroed_outputs=(), **metaparams):
        for operand in (input_output_aliases or {}): assert operand < len(args), "an operand that is not passed"
        return "out"
class pl:
    @staticmethod
    def pallas_call(kernel, out_shape, *, grid=(), input_output_aliases=None):
        def call(*args):
            for operand in (input_output_aliases or {}): assert operand < len(args), "an operand that is not passed"
            assert kernel(*args, "out_ref") == 3, "the kernel is given other refs than it takes"
            return "out"
        return call
class jax:
    class ffi:
        @staticmethod
        def ffi_call(target, result, *, input_output_aliases=None):
            def call(*args):
                for operand in (input_output_aliases or {}): assert operand < len(args), "an operand that is not passed"
                return "out"
            return call
class plgpu:
    copy_gmem_to_smem = staticmethod(lambda source, tile, barrier: None)
    barrier_wait = staticmethod(lambda barrier: None)
source = tile = barrier = None
use = lambda tile: None
kernel, args, out_shape = Kernel(), ("x", "y"), Shape()
`

// TestPatchesRun runs the Python of every patch, before and after, against libraries that
// check how they are called.
func TestPatchesRun(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	var program strings.Builder
	program.WriteString(mendRig)
	n := 0
	for _, r := range rules.All() {
		for _, target := range mendTargets() {
			p := r.Patch(&rules.Finding{Kernel: "kernel", Target: target})
			if p == nil {
				continue
			}
			options := "dict(out_shape=out_shape, grid=(1,))"
			if p.Through != "jax-triton" {
				options = "dict(grid=(1,))"
			}
			for _, text := range [...]string{p.Before, p.After} {
				n++
				fmt.Fprintf(&program, "options = %s\n%s\n", options, text)
			}
		}
	}
	require.Greater(t, n, 20)
	cmd := exec.Command("python3", "-")
	cmd.Stdin = strings.NewReader(program.String())
	out, err := cmd.CombinedOutput()
	assert.NoError(t, err, "%s", out)
}

// A kernel's name, and a target, can be anything in a dump: they become Python only where
// they are names of it.
func TestPatchesOfHostileNames(t *testing.T) {
	for _, r := range rules.All() {
		for _, target := range []string{"triton_kernel_call_ffi", "x\")\nimport os  # `"} {
			if p := r.Patch(&rules.Finding{Kernel: "k)\nimport os", Target: target}); p != nil {
				assert.NotContains(t, p.Before+p.After, "import os")
			}
		}
	}
}

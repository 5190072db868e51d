"""Writes a program in every form that a file can have: files.py DIRECTORY."""

import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax import export
from jax._src.interpreters import mlir

from kernels.with_jax_triton import N, call, reverse_kernel

VECTOR = jax.ShapeDtypeStruct((N,), jnp.float32)


def reverse(x):
    return call(reverse_kernel, x, grid=(N // 256,), n=N, B=256, compute_capability=90)


def pair(state):
    return {"twice": state["x"] * 2, "sum": state["x"].sum()}


def main(out):
    unchecked = [export.DisabledSafetyCheck.custom_call("triton_kernel_call"), export.DisabledSafetyCheck.custom_call("triton_kernel_call_ffi")]
    exported = export.export(jax.jit(reverse, donate_argnums=0), platforms=["cuda"], disabled_checks=unchecked)(VECTOR)
    lowered = jax.jit(reverse, donate_argnums=0).trace(VECTOR).lower(lowering_platforms=("cuda",))
    size, = export.symbolic_shape("n")
    files = {
        "reverse.jaxexport": exported.serialize(),
        "portable.mlirbc": exported.mlir_module_serialized,
        "module.mlir": lowered.as_text().encode(),
        "bytecode.mlirbc": mlir.module_to_bytecode(lowered.compiler_ir()),
        "two_platforms.jaxexport": export.export(jax.jit(pair, donate_argnums=0), platforms=["cpu", "cuda"])({"x": VECTOR}).serialize(),
        "symbolic.jaxexport": export.export(jax.jit(lambda x: x * 2), platforms=["cuda"])(jax.ShapeDtypeStruct((size,), jnp.float32)).serialize(),
        "cpu.jaxexport": export.export(jax.jit(lambda x: x * 2), platforms=["cpu"])(VECTOR).serialize(),
        "noise.bin": b"\x00\x01 nothing of the kind",
    }
    for name, data in files.items():
        with open(os.path.join(out, name), "wb") as f:
            f.write(data)


main(sys.argv[1])

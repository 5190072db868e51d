"""Registers the handlers of handlers.cu, and says what each may do in place.

HANDLERS names the shared library: nvcc -O2 -shared -Xcompiler -fPIC -std=c++17
-arch=native -I$(python3 -c 'import jax; print(jax.ffi.include_dir())') handlers.cu -lcublas
"""
import ctypes
import os

import jax

# The verdict on (operand 0, result k) that the definition gives, by handler; what is
# owed besides as AC codes. A hang and a fault have no verdict.
TRUTH = {
    "Scale": ["safe"], "Reverse": ["unsafe"], "TileCopy": ["safe"], "Transpose": ["unsafe"],
    "FlipOrdered": ["safe"], "FlipBare": ["unsafe"], "CopyOnce": ["safe"], "CopyLate": ["unsafe"],
    "TwoLaunches": ["safe"], "TwoLaunchesBack": ["unsafe"], "ScratchFirst": ["safe"], "ScratchLate": ["unsafe"],
    "TwoResults": ["safe", "safe"], "TwoResultsTurned": ["unsafe", "unsafe"],
    "Attributes": ["unsafe"], "AttributesKept": ["safe"], "Count": ["unsafe"], "Exchange": ["safe"],
    "Together": ["safe"], "Scattered": ["unsafe"], "BlasCopy": ["safe"], "BlasProduct": ["unsafe"],
    "ClusterOwn": ["safe"], "ClusterPartner": ["unsafe"], "TensorCopy": ["safe"], "TensorTurned": ["unsafe"],
    "Clear": ["safe", "AC203"], "Half": ["safe", "AC204"], "Add": ["safe", "AC205"],
    "Forever": ["AC902"], "Stray": ["AC903"],
}

_library = ctypes.CDLL(os.environ["HANDLERS"])
for _name in TRUTH:
    if _name != "AttributesKept":
        jax.ffi.register_ffi_target(_name, jax.ffi.pycapsule(getattr(_library, _name)), platform="CUDA")

"""One custom call, as a JAX function: built from what the HLO instruction says."""
import ast
import base64
import re

import jax
import numpy as np
from jax.interpreters import mlir
from jax.extend.core import Primitive
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

# XLA's element types in MLIR's words and in numpy's, where both have one.
TYPES = {
    "pred": ("i1", "bool"), "s2": ("i2", "int2"), "s4": ("i4", "int4"), "s8": ("i8", "int8"), "s16": ("i16", "int16"),
    "s32": ("i32", "int32"), "s64": ("i64", "int64"), "u2": ("ui2", "uint2"), "u4": ("ui4", "uint4"),
    "u8": ("ui8", "uint8"), "u16": ("ui16", "uint16"), "u32": ("ui32", "uint32"), "u64": ("ui64", "uint64"),
    "f16": ("f16", "float16"), "bf16": ("bf16", "bfloat16"), "f32": ("f32", "float32"), "f64": ("f64", "float64"),
    "c64": ("complex<f32>", "complex64"), "c128": ("complex<f64>", "complex128"),
    "f8e4m3fn": ("f8E4M3FN", "float8_e4m3fn"), "f8e5m2": ("f8E5M2", "float8_e5m2"),
    "f8e4m3fnuz": ("f8E4M3FNUZ", "float8_e4m3fnuz"), "f8e5m2fnuz": ("f8E5M2FNUZ", "float8_e5m2fnuz"),
    "f8e4m3b11fnuz": ("f8E4M3B11FNUZ", "float8_e4m3b11fnuz"), "f8e4m3": ("f8E4M3", "float8_e4m3"),
    "f8e3m4": ("f8E3M4", "float8_e3m4"), "f8e8m0fnu": ("f8E8M0FNU", "float8_e8m0fnu"),
    "f4e2m1fn": ("f4E2M1FN", "float4_e2m1fn"),
}


class Refused(Exception):
    """The call cannot be made here; the text says why."""


def dtype(name):
    if name not in TYPES:
        raise Refused(f"arrays of {name} cannot be made in JAX")
    import ml_dtypes
    name = TYPES[name][1]
    try:
        return np.dtype(getattr(ml_dtypes, name, None) or name)
    except TypeError:
        raise Refused(f"arrays of {name} cannot be made in this JAX") from None


def row_major(rank):
    return list(range(rank - 1, -1, -1))


class Call:
    """A custom call: target, attributes, operands and results, each with a type,
    dimensions and a layout (minor to major, as HLO has it)."""

    def __init__(self, spec):
        self.spec = spec
        self.target = spec["target"]
        self.api = spec["api_version"]
        self.operands = spec["operands"]
        self.results = spec["results"]
        self.config = base64.b64decode(spec.get("config") or "")
        for a in self.operands + self.results:
            a["dims"] = a.get("dims") or []  # a scalar has none
            a["layout"] = a.get("layout") or row_major(len(a["dims"]))
        self.arrays = [n for n, a in enumerate(self.operands) if a["type"] != "token"]
        self.leaves = [n for n, a in enumerate(self.results) if a["type"] != "token"]

    def shape(self, a):
        return jax.ShapeDtypeStruct(tuple(a["dims"]), dtype(a["type"]))

    def function(self, pairs):
        """The call as a function of its array operands, with these (operand, result)
        pairs declared to share memory."""
        primitive = Primitive("aliascheck_call")
        primitive.multiple_results = True
        out = [jax.core.ShapedArray(tuple(self.results[n]["dims"]), dtype(self.results[n]["type"])) for n in self.leaves]
        primitive.def_abstract_eval(lambda *_: out)
        mlir.register_lowering(primitive, lambda ctx, *args: self.lower(args, pairs))
        return lambda *args: primitive.bind(*args)

    def lower(self, args, pairs):
        args = list(args)
        operands = [args.pop(0) if a["type"] != "token" else stablehlo.create_token() for a in self.operands]
        types = [self.ir_type(a) for a in self.results]
        many = len(self.results) != 1
        aliases = [
            stablehlo.OutputOperandAlias.get(output_tuple_indices=[r] if many else [], operand_index=o, operand_tuple_indices=[])
            for o, r in pairs
        ]
        i32 = ir.IntegerType.get_signless(32)
        attributes = {
            "call_target_name": ir.StringAttr.get(self.target),
            "has_side_effect": ir.BoolAttr.get(bool(self.spec.get("side_effect"))),
            "api_version": ir.IntegerAttr.get(i32, self.api),
            "operand_layouts": layouts(self.operands),
            "result_layouts": layouts(self.results),
            "output_operand_aliases": ir.ArrayAttr.get(aliases),
        }
        if self.api == 4:
            text = self.config.decode("utf-8", "surrogateescape") or "{}"
            attributes["backend_config"] = ir.Attribute.parse(text)
        else:
            attributes["backend_config"] = string_attribute(self.config)
        op = ir.Operation.create("stablehlo.custom_call", results=types, operands=operands, attributes=attributes)
        return [op.results[n] for n in self.leaves]

    def ir_type(self, a):
        if a["type"] == "token":
            return ir.Type.parse("!stablehlo.token")
        if a["type"] not in TYPES:
            raise Refused(f"arrays of {a['type']} cannot be made in JAX")
        dims = "".join(f"{d}x" for d in a["dims"])
        return ir.Type.parse(f"tensor<{dims}{TYPES[a['type']][0]}>")


def string_attribute(data):
    """Legacy opaque bytes are not always text."""
    try:
        return ir.StringAttr.get(data)
    except TypeError:
        escaped = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else f"\\{b:02X}" for b in data)
        return ir.Attribute.parse(f'"{escaped}"')


def layouts(arrays):
    index = ir.IndexType.get()
    out = []
    for a in arrays:
        minor = [] if a["type"] == "token" else a["layout"]
        out.append(ir.DenseIntElementsAttr.get(np.array(minor, np.int64), type=index, shape=[len(minor)]))
    return ir.ArrayAttr.get(out)


def form(a, device):
    """The layout of an array in JAX's words; None for row-major."""
    if a["layout"] == row_major(len(a["dims"])):
        return None
    outermost, sharding = tuple(reversed(a["layout"])), jax.sharding.SingleDeviceSharding(device)
    try:
        from jax.experimental.layout import Format, Layout
        return Format(Layout(outermost), sharding)
    except ImportError:
        pass
    try:
        from jax.experimental.layout import DeviceLocalLayout, Layout
        return Layout(DeviceLocalLayout(outermost), sharding)
    except ImportError:
        raise Refused("this JAX cannot be told the layout of an array (0.5 can)") from None


NOTHING_DONE = {"parameter", "bitcast", "custom-call", "tuple", "get-tuple-element", "after-all", "constant",
                "async-start", "async-done", "call"}


def untouched(compiled):
    """XLA may copy what a call takes: then the addresses are not those that were
    chosen. Raises where the module holds more than the call."""
    for m in re.finditer(r"^\s*(?:ROOT )?%?[\w.-]+ = (?:\(.*?\)|\S+) ([a-z-]+)\(", compiled.as_text(), re.M):
        if m[1] not in NOTHING_DONE:
            raise Refused(f"XLA puts a {m[1]} beside the call: what it takes does not lie where it was put")


def aliased(compiled):
    """Which parameter each result lies in: {result: parameter}, from the module."""
    head = re.search(r"input_output_alias=\{(.*?)\}, (?:entry|buffer|allow|num|is_|frontend|replica|$)", compiled.as_text()[:1 << 16], re.S)
    out = {}
    for m in re.finditer(r"\{(\d*)\}:\s*\((\d+)", head[1] if head else ""):
        out[int(m[1] or 0)] = int(m[2])
    return out

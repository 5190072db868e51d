"""Modules that JAX itself does not write, given to XLA as StableHLO: nested tuples.

    XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_proto --xla_dump_hlo_as_text" python cpu_nested.py

compiles them and runs nothing; for JAX 0.12. XLA looks for the calls' kernels,
and for what its CPU backend cannot run, only after it has written the dump.
"""
import sys

import jax
from jax._src.lib import xla_client

PAIR = "tuple<tensor<8xf32>, tensor<4xi32>>"
ALIAS = "#stablehlo.output_operand_alias<output_tuple_indices = [%s], operand_index = %d, operand_tuple_indices = [%s]>"

MODULES = {
    # a result inside a tuple inside a tuple, claimed by an operand's leaf
    "nested_results": f"""
      %p = stablehlo.tuple %x, %k : {PAIR}
      %r = stablehlo.custom_call @lab_nested(%p, %x) {{
        output_operand_aliases = [{ALIAS % ("1, 0", 0, "0")}, {ALIAS % ("0", 1, "")}]
      }} : ({PAIR}, tensor<8xf32>) -> tuple<tensor<8xf32>, {PAIR}>
      %q = stablehlo.get_tuple_element %r[1] : (tuple<tensor<8xf32>, {PAIR}>) -> {PAIR}
      %a = stablehlo.get_tuple_element %q[0] : ({PAIR}) -> tensor<8xf32>
      %b = stablehlo.get_tuple_element %r[0] : (tuple<tensor<8xf32>, {PAIR}>) -> tensor<8xf32>
      %o = stablehlo.add %a, %b : tensor<8xf32>
    """,
    # a tuple of one, a token, and a configuration that is JSON
    "tuple_of_one": f"""
      %t = stablehlo.create_token : !stablehlo.token
      %r:2 = stablehlo.custom_call @lab_token(%t, %x) {{
        has_side_effect = true, backend_config = "{{\\22key\\22: [1, 2]}}"
      }} : (!stablehlo.token, tensor<8xf32>) -> (tensor<8xf32>, !stablehlo.token)
      %s = stablehlo.custom_call @lab_one(%r#0) : (tensor<8xf32>) -> tuple<tensor<8xf32>>
      %o = stablehlo.get_tuple_element %s[0] : (tuple<tensor<8xf32>>) -> tensor<8xf32>
    """,
    # the typed FFI's dictionary with every kind of attribute
    "attributes": """
      %o = stablehlo.custom_call @lab_attributes(%x) {
        api_version = 4 : i32,
        backend_config = {flag = true, half = 0.5 : f32, list = array<i64: 1, -2>, names = ["a\\22b", "c"], text = "tab\\09 { } end", unit}
      } : (tensor<8xf32>) -> tensor<8xf32>
    """,
    # a call that calls a computation, in a computation that is called
    "called": """
      %o = func.call @inner(%x) : (tensor<8xf32>) -> tensor<8xf32>
    """,
    # a call in a computation that runs on a thread of its own
    "asynchronous": """
      %y = stablehlo.add %x, %x : tensor<8xf32>
      %s = "mhlo.async_start"(%y) {called_computation = @thread, execution_thread = "other"}
        : (tensor<8xf32>) -> !mhlo.async_bundle<tuple<tensor<8xf32>>, tuple<tensor<8xf32>, tensor<8xf32>>, tensor<i32>>
      %d:2 = "mhlo.async_done"(%s)
        : (!mhlo.async_bundle<tuple<tensor<8xf32>>, tuple<tensor<8xf32>, tensor<8xf32>>, tensor<i32>>) -> (tensor<8xf32>, tensor<8xf32>)
      %o = stablehlo.add %d#0, %d#1 : tensor<8xf32>
    """,
}


def module(name, body):
    return f"""module @{name} {{
      func.func private @reducer(%a: tensor<f32>) -> tensor<f32> {{ return %a : tensor<f32> }}
      func.func private @inner(%a: tensor<8xf32>) -> tensor<8xf32> {{
        %b = stablehlo.custom_call @lab_calls(%a) {{called_computations = [@reducer]}} : (tensor<8xf32>) -> tensor<8xf32>
        return %b : tensor<8xf32>
      }}
      func.func private @thread(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {{execution_thread = "other"}} {{
        %b:2 = stablehlo.custom_call @lab_async(%a) {{output_operand_aliases = [{ALIAS % ("0", 0, "")}]}}
          : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
        return %b#0, %b#1 : tensor<8xf32>, tensor<8xf32>
      }}
      func.func public @main(%x: tensor<8xf32>, %k: tensor<4xi32>) -> tensor<8xf32> {{
        {body}
        return %o : tensor<8xf32>
      }}
    }}"""


def main():
    client = jax.devices("cpu")[0].client
    for name, body in MODULES.items():
        try:
            devices = xla_client.DeviceList(tuple(jax.devices("cpu")[:1]))
            client.compile_and_load(module(name, body), devices, xla_client.CompileOptions())
        except Exception as e:
            print(f"{name}: {type(e).__name__}: {str(e)[:300]}", file=sys.stderr)


main()

"""Programs of Transformer Engine's token permutation, for `aliascheck compile`: dispatch, combine and sort of
4,096 tokens of 1,024 numbers for 8 experts, two a token, with and without probabilities and padding, forward and backward.

The wheel of transformer-engine on PyPI (pip install --no-deps) holds the Triton kernels and their JAX calls, and
not the compiled library that its __init__ files want: packages without them stand in front. With PERMUTATION_PROGRAMS,
names between commas, only those are given.
"""
import importlib.util, os, sys, types

import jax, jax.numpy as jnp

root = os.path.dirname(importlib.util.find_spec("transformer_engine").origin)


def stub(name, folder=None, **members):
    module = types.ModuleType(name)
    if folder is not None:
        module.__path__ = [os.path.join(root, folder)]
    module.__dict__.update(members)
    sys.modules[name] = module


stub("transformer_engine", "")
stub("transformer_engine.common", "common")
stub("transformer_engine.common.triton", "common/triton")
stub("transformer_engine.jax", "jax")
stub("transformer_engine.jax.cpp_extensions", "jax/cpp_extensions")
stub("transformer_engine.jax.triton_extensions", "jax/triton_extensions")
stub("transformer_engine_jax", registrations=dict)
stub("transformer_engine.jax.cpp_extensions.misc", get_padded_spec=lambda s: s.sharding.spec, NamedSharding=jax.sharding.NamedSharding)

from transformer_engine.jax.permutation import sort_chunks_by_index, token_combine, token_dispatch
from transformer_engine.jax.triton_extensions.permutation import make_chunk_sort_map, sort_chunks_by_map

TOKENS, HIDDEN, EXPERTS, TOPK, ALIGN = 4096, 1024, 8, 2, 128
ROWS = TOKENS * TOPK
f32, bf16, s32 = jnp.float32, jnp.bfloat16, jnp.int32
x, xb = ((TOKENS, HIDDEN), f32), ((TOKENS, HIDDEN), bf16)
routing, probs, chunks = ((TOKENS, EXPERTS), jnp.bool_), ((TOKENS, EXPERTS), f32), ((EXPERTS,), s32)


def dispatch(x, routing, probs=None, align=None):
    return token_dispatch(x, routing, ROWS, probs, align)


def layer(x, routing, probs, align, merge):
    rows, _, row_map, pads, _ = dispatch(x, routing, probs, align)
    return token_combine(rows * 2, row_map, probs if merge else None, pads)


def gradient(f, *numbers):
    return jax.grad(lambda *a: sum(jnp.sum(jnp.sin(r.astype(f32))) for r in jax.tree.leaves(f(*a)) if jnp.issubdtype(r.dtype, jnp.floating)), numbers)


def sort_with_probs(x, p, sizes, order):
    return sort_chunks_by_map(x, make_chunk_sort_map(sizes, order, TOKENS, EXPERTS), p, TOKENS, HIDDEN, True)


PROGRAMS = {
    "dispatch": (dispatch, x, routing),
    "dispatch_bf16": (dispatch, xb, routing),
    "dispatch_probs": (dispatch, x, routing, probs),
    "dispatch_pad": (lambda x, r: dispatch(x, r, None, ALIGN), x, routing),
    "dispatch_pad_probs": (lambda x, r, p: dispatch(x, r, p, ALIGN), x, routing, probs),
    "dispatch_grad": (gradient(dispatch, 0), x, routing),
    "dispatch_probs_grad": (gradient(dispatch, 0, 2), x, routing, probs),
    "dispatch_pad_grad": (gradient(lambda x, r: dispatch(x, r, None, ALIGN), 0), x, routing),
    "dispatch_pad_probs_grad": (gradient(lambda x, r, p: dispatch(x, r, p, ALIGN), 0, 2), x, routing, probs),
    "combine": (lambda x, r, p: layer(x, r, p, None, False), x, routing, probs),
    "combine_bf16": (lambda x, r, p: layer(x, r, p, None, False), xb, routing, probs),
    "combine_merge": (lambda x, r, p: layer(x, r, p, None, True), x, routing, probs),
    "combine_pad": (lambda x, r, p: layer(x, r, p, ALIGN, False), x, routing, probs),
    "combine_pad_merge": (lambda x, r, p: layer(x, r, p, ALIGN, True), x, routing, probs),
    "combine_grad": (gradient(lambda x, r, p: layer(x, r, p, None, False), 0), x, routing, probs),
    "combine_merge_grad": (gradient(lambda x, r, p: layer(x, r, p, None, True), 0, 2), x, routing, probs),
    "combine_pad_merge_grad": (gradient(lambda x, r, p: layer(x, r, p, ALIGN, True), 0, 2), x, routing, probs),
    "sort": (sort_chunks_by_index, x, chunks, chunks),
    "sort_grad": (gradient(sort_chunks_by_index, 0), x, chunks, chunks),
    "sort_probs": (sort_with_probs, x, ((TOKENS,), f32), chunks, chunks),
}


def programs():
    wanted = os.environ.get("PERMUTATION_PROGRAMS", "")
    for name in wanted.split(",") if wanted else PROGRAMS:
        f, *arguments = PROGRAMS[name]
        yield name, f, [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in arguments]
